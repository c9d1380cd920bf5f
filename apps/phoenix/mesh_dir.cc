#include "apps/phoenix/mesh_dir.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace phx::app {
namespace fs = std::filesystem;
namespace {

fs::path base() {
  if (const char* chosen = std::getenv("PHOENIX_DIR"); chosen != nullptr && *chosen != '\0') {
    return chosen;
  }
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && fs::is_directory(runtime)) return fs::path(runtime) / "phoenix";
  return "/tmp/phoenix-" + std::to_string(::geteuid());
}

Status make_folder(const fs::path& path) {
  std::error_code failure;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failure);
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return success();
  return Error{ErrorCode::kDenied, "cannot make " + path.string() + ": " +
                                       std::generic_category().message(errno) +
                                       "; set PHOENIX_DIR to a folder of yours"};
}

/// That `path` is a folder of mode 0700 that belongs to this user, or nothing.
Status check_private(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0 && errno == ENOENT) return success();
  std::string wrong;
  if (!S_ISDIR(found.st_mode)) {
    wrong = " is no folder: remove it";
  } else if (found.st_uid != ::geteuid()) {
    wrong = " belongs to somebody else: remove it";
  } else if ((found.st_mode & 077U) != 0) {
    wrong = " can be opened by others: chmod 700 " + path.string();
  }
  if (!wrong.empty()) {
    return Error{ErrorCode::kDenied, path.string() + wrong + ", or set PHOENIX_DIR to another one"};
  }
  return success();
}

nlohmann::json read_json(const fs::path& file) {
  std::ifstream stream(file);
  return nlohmann::json::parse(stream, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

Result<MeshDir> MeshDir::open(const std::string& name) {
  const bool legal = !name.empty() && name.size() <= 64 && name.front() != '.' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
                     });
  if (!legal) {
    return Error{ErrorCode::kBadInput,
                 "'" + name + "' is no name for a mesh: up to 64 letters, digits, - _ ."};
  }
  for (const fs::path& path : {base(), base() / name}) {
    if (const Status checked = check_private(path); !checked.ok()) return checked.error();
  }
  return MeshDir(name, base() / name);
}

Result<MeshDir> MeshDir::make(const std::string& name) {
  if (auto before = open(name); !before.ok()) return before;
  for (const fs::path& path : {base(), base() / name}) {
    if (const Status made = make_folder(path); !made.ok()) return made.error();
  }
  return open(name);
}

std::vector<std::string> MeshDir::names() {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(base(), failure)) {
    if (fs::exists(entry.path() / "key", failure)) result.push_back(entry.path().filename());
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool MeshDir::has_key() const {
  std::error_code failure;
  return fs::exists(path_ / "key", failure);
}

std::vector<MeshDir::Daemon> MeshDir::daemons() const {
  std::vector<Daemon> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(path_, failure)) {
    if (entry.path().extension() != ".json" || entry.path().filename() == "mesh.json") continue;
    const nlohmann::json state = read_json(entry.path());
    if (!state.is_object()) continue;
    Daemon daemon;
    daemon.id = state.value("id", 0U);
    daemon.endpoint = state.value("endpoint", "");
    daemon.process = state.value("pid", 0L);
    const bool lives = daemon.process > 0 && ::kill(static_cast<pid_t>(daemon.process), 0) == 0;
    if (lives && !daemon.endpoint.empty()) result.push_back(std::move(daemon));
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return result;
}

std::vector<std::string> MeshDir::known_endpoints() const {
  const nlohmann::json known = read_json(path_ / "mesh.json");
  if (!known.is_object()) return {};
  return known.value("endpoints", std::vector<std::string>{});
}

void MeshDir::remember_endpoints(const std::vector<std::string>& endpoints) const {
  const fs::path fresh = path_ / "mesh.json.new";
  {
    std::ofstream stream(fresh);
    stream << nlohmann::json{{"endpoints", endpoints}}.dump() << '\n';
    if (!stream) return;  // A hint only: the daemons' own files are enough on this machine.
  }
  std::error_code failure;
  fs::rename(fresh, path_ / "mesh.json", failure);
}

void MeshDir::remove() const {
  std::error_code failure;
  fs::remove_all(path_, failure);
}

}  // namespace phx::app
