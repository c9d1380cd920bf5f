#include "apps/phoenix/daemon_logs.h"

#include <algorithm>
#include <system_error>

#include "runtime/tcp/mesh_folder.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

fs::path kept(const MeshDir& dir) {
  return fs::path(tcp::meshes_folder()) / ".logs" / dir.name();
}

std::vector<fs::path> logs_in(const fs::path& folder) {
  std::vector<fs::path> logs;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::ranges::sort(logs);
  return logs;
}

}  // namespace

void DaemonLogs::keep(const MeshDir& dir) {
  const auto logs = logs_in(dir.path());
  if (logs.empty() || dir.name().starts_with("run-")) return;
  std::error_code failure;
  fs::remove_all(kept(dir), failure);
  const bool is_made =
      tcp::make_private(kept(dir).parent_path()).ok() && tcp::make_private(kept(dir)).ok();
  if (!is_made) return;
  for (const fs::path& log : logs) fs::rename(log, kept(dir) / log.filename(), failure);
}

std::vector<fs::path> DaemonLogs::find(const MeshDir& dir) {
  auto logs = logs_in(dir.path());
  return logs.empty() ? logs_in(kept(dir)) : logs;
}

}  // namespace phx::app
