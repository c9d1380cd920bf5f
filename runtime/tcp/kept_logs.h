#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

// The logs of the daemons of one machine. They lie in the folder of their mesh; when that is
// removed, they go to "MESH" within the folder ".logs" beside it.
namespace phx::tcp {

/// Those in this folder, in the order of their beginning.
[[nodiscard]] std::vector<std::filesystem::path> logs_in(const std::filesystem::path& folder);

/// Where those of a mesh that has ended are. `mesh`: its folder.
[[nodiscard]] std::filesystem::path kept_logs_of(const std::filesystem::path& mesh);

/// Removes those of daemons that have ended from the folder of a mesh that runs, but for the latest
/// 64. `living`: the names of the others.
void trim_logs(const std::filesystem::path& mesh, const std::set<std::string>& living);

/// Takes the logs there. `is_whole`: in place of those of the mesh of that name before; else, since
/// others may do the same, beside them, the latest 64. What cannot be kept stays. Those of meshes
/// that a tool made for itself (run-PID, mpirun-PID, elastic-PID, bench-PID) are not kept, and of
/// any mesh for a week after its end.
void keep_logs(const std::filesystem::path& mesh, bool is_whole);

}  // namespace phx::tcp
