#include "runtime/tcp/kept_logs.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/tcp/mesh_folder.h"

namespace phx::tcp {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLogsMax = 64;

void remove_oldest(std::vector<fs::path> logs) {
  const auto age = [](const fs::path& log) {
    std::error_code failure;
    return fs::last_write_time(log, failure);
  };
  std::ranges::sort(logs, {}, age);
  std::error_code failure;
  for (std::size_t i = kLogsMax; i < logs.size(); ++i) fs::remove(logs[i - kLogsMax], failure);
}

/// That of a word and the number of a process does not come again.
bool is_of_one_tool(const std::string& name) {
  constexpr std::array<std::string_view, 4> kWords = {"run-", "mpirun-", "elastic-", "bench-"};
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    return name.starts_with(word) && name.size() > word.size() &&
           name.find_first_not_of("0123456789-", word.size()) == std::string::npos;
  });
}

/// Folders of meshes that have ended more than a week ago.
void remove_old(const fs::path& folder) {
  constexpr auto kKept = std::chrono::hours(24 * 7);
  std::error_code failure;
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const auto last = fs::last_write_time(entry.path(), failure);
    if (!failure && fs::file_time_type::clock::now() - last > kKept) old.push_back(entry.path());
  }
  for (const fs::path& one : old) remove_folder(one);
}

}  // namespace

std::vector<fs::path> logs_in(const fs::path& folder) {
  std::vector<fs::path> logs;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::ranges::sort(logs);
  return logs;
}

fs::path kept_logs_of(const fs::path& mesh) {
  return mesh.parent_path() / ".logs" / mesh.filename();
}

void trim_logs(const fs::path& mesh, const std::set<std::string>& living) {
  std::vector<fs::path> logs = logs_in(mesh);
  std::erase_if(logs, [&](const fs::path& log) { return living.contains(log.filename()); });
  remove_oldest(std::move(logs));
}

void keep_logs(const fs::path& mesh, bool is_whole) {
  const auto logs = logs_in(mesh);
  const fs::path kept = kept_logs_of(mesh);
  remove_old(kept.parent_path());
  if (logs.empty() || is_of_one_tool(mesh.filename())) return;
  if (is_whole) remove_folder(kept);
  if (!make_private(kept.parent_path()).ok() || !make_private(kept).ok()) return;
  std::error_code failure;
  for (const fs::path& log : logs) fs::rename(log, kept / log.filename(), failure);
  remove_oldest(logs_in(kept));
}

}  // namespace phx::tcp
