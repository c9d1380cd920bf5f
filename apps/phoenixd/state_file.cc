#include "apps/phoenixd/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/tcp/kept_logs.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::phoenixd {

Result<StateFile> StateFile::write(const std::string& mesh_dir, const Contents& contents) {
  const std::string path = mesh_dir + "/" + to_string(contents.id) + ".json";
  const std::string unfinished = path + "." + std::to_string(::getpid());
  const nlohmann::json json = {
      {"id", contents.id.value},
      {"pid", ::getpid()},
      {"boot", tcp::boot_id()},
      {"name", contents.name},
      {"endpoint", contents.endpoints.empty() ? "" : contents.endpoints.front()},
      {"endpoints", contents.endpoints}};
  const std::string text =
      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  tcp::Descriptor file(
      ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const auto failed = [&](const std::string& why) {
    ::unlink(unfinished.c_str());
    return Error{ErrorCode::kDenied, "state file " + path + " " + why};
  };
  const bool is_written = file.is_open() && ::write(file.get(), text.data(), text.size()) ==
                                                static_cast<ssize_t>(text.size());
  if (!is_written) return failed(std::string("cannot be written: ") + std::strerror(errno));
  if (const Status locked = tcp::lock_for_life(file); !locked.ok()) {
    return failed(locked.error().what);
  }
  if (std::rename(unfinished.c_str(), path.c_str()) != 0) {
    return failed(std::string("cannot be written: ") + std::strerror(errno));
  }
  return StateFile(path, std::move(file));
}

namespace {

/// Files that daemons and tools make; nothing if a daemon has its state file there.
std::vector<std::filesystem::path> leftovers(const std::string& mesh_dir) {
  std::error_code failure;
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(mesh_dir, failure)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("p") && name.ends_with(".json")) return {};
    const bool is_ours = name == "key" || name == "key.made" || name == "mesh.json" ||
                         name == "maker" || name.ends_with(".sock") ||
                         (name.starts_with("phoenixd-") && name.ends_with(".log"));
    if (is_ours) left.push_back(entry.path());
  }
  return left;
}

}  // namespace

std::string running_at(const std::string& mesh_dir, std::uint16_t port) {
  const std::string end = ":" + std::to_string(port);
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(mesh_dir, failure)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("p") || !name.ends_with(".json")) continue;
    const auto process = tcp::holder_of(entry.path());
    if (!process) continue;
    const auto json = nlohmann::json::parse(std::ifstream(entry.path()), nullptr, false);
    if (!json.is_object()) continue;
    const auto endpoints = json.value("endpoints", nlohmann::json::array());
    for (const auto& one : endpoints) {
      if (!one.is_string() || !one.get<std::string>().ends_with(end)) continue;
      return entry.path().stem().string() + " (" + tcp::in_words(*process) + ")";
    }
  }
  return {};
}

/// Others may do the same at the same time, and who reads a folder that changes may miss a file.
void remove_if_last(const std::string& mesh_dir) {
  std::error_code failure;
  if (!leftovers(mesh_dir).empty()) tcp::keep_logs(mesh_dir, /*is_whole=*/false);
  for (auto left = leftovers(mesh_dir); !left.empty(); left = leftovers(mesh_dir)) {
    bool any = false;
    for (const auto& file : left) any = std::filesystem::remove(file, failure) || any;
    if (!any) break;
  }
  std::filesystem::remove(mesh_dir, failure);
}

StateFile::StateFile(std::string path, tcp::Descriptor locked)
    : path_(std::move(path)), locked_(std::move(locked)) {}

StateFile::StateFile(StateFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), locked_(std::move(other.locked_)) {}

StateFile::~StateFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace phx::phoenixd
