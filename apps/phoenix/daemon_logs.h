#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/phoenix/mesh_dir.h"

namespace phx::app {

/// The logs of the daemons of this machine. They lie in the folder of their mesh; when that is
/// removed, they go to "MESH" within the folder ".logs" beside it, in place of those of the mesh of
/// that name before. Those of private meshes are not kept.
class DaemonLogs {
 public:
  /// What cannot be kept goes with the mesh.
  static void keep(const MeshDir& dir);
  /// Of the mesh that runs, else of the last one that has ended, in the order of their beginning.
  [[nodiscard]] static std::vector<std::filesystem::path> find(const MeshDir& dir);
};

}  // namespace phx::app
