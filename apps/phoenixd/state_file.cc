#include "apps/phoenixd/state_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace phx::phoenixd {

Result<StateFile> StateFile::write(const std::string& mesh_dir, const Contents& contents) {
  const std::string path = mesh_dir + "/" + to_string(contents.id) + ".json";
  const std::string unfinished = path + "." + std::to_string(::getpid());
  const nlohmann::json json = {
      {"id", contents.id.value},
      {"pid", ::getpid()},
      {"name", contents.name},
      {"endpoint", contents.endpoints.empty() ? "" : contents.endpoints.front()},
      {"endpoints", contents.endpoints}};
  std::ofstream file(unfinished, std::ios::trunc);
  file << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(unfinished.c_str());
    return Error{ErrorCode::kDenied, "state file " + path + " cannot be written: " + why};
  }
  return StateFile(path);
}

void remove_if_last(const std::string& mesh_dir) {
  namespace fs = std::filesystem;
  std::error_code failure;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(mesh_dir, failure)) {
    const std::string name = entry.path().filename();
    const bool is_state = name.starts_with("p") && name.ends_with(".json");
    if (is_state) return;
    const bool is_ours = name == "key" || name == "mesh.json" || name.ends_with(".sock") ||
                         (name.starts_with("phoenixd-") && name.ends_with(".log"));
    if (is_ours) left.push_back(entry.path());
  }
  for (const fs::path& file : left) fs::remove(file, failure);
  fs::remove(mesh_dir, failure);
}

StateFile::StateFile(std::string path) : path_(std::move(path)) {}

StateFile::StateFile(StateFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}

StateFile::~StateFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace phx::phoenixd
