#include "apps/phoenixd/state_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "runtime/tcp/kept_logs.h"
#include "runtime/tcp/mesh_folder.h"

namespace phx::phoenixd {

namespace {

constexpr const char* kUnfinished = "starting-";
constexpr std::size_t kRoom = 4096;  // Bytes; more than most daemons have to say.

bool write_whole(const tcp::Descriptor& file, const std::string& text) {
  return ::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

/// Those of daemons that were killed before they were members. One that is just being made is not
/// locked yet.
void remove_unfinished(const std::string& mesh_dir) {
  constexpr auto kMaking = std::chrono::minutes(1);
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(mesh_dir, failure)) {
    if (!entry.path().filename().string().starts_with(kUnfinished)) continue;
    const auto age = std::filesystem::file_time_type::clock::now() - entry.last_write_time(failure);
    if (failure || age < kMaking || tcp::holder_of(entry.path())) continue;
    std::filesystem::remove(entry.path(), failure);
  }
}

Error not_written(const std::string& path) {
  return {ErrorCode::kDenied, "state file " + path + " cannot be written: " + std::strerror(errno)};
}

}  // namespace

Result<StateFile> StateFile::reserve(const std::string& mesh_dir) {
  remove_unfinished(mesh_dir);
  std::string path = mesh_dir + "/" + kUnfinished + "XXXXXX";
  tcp::Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.is_open()) return not_written(mesh_dir + "/" + kUnfinished);
  StateFile state(mesh_dir, path, std::move(file));
  if (!write_whole(state.locked_, std::string(kRoom, ' '))) return not_written(path);
  if (const Status locked = tcp::lock_for_life(state.locked_); !locked.ok()) {
    return Error{locked.error().code, "state file " + path + " " + locked.error().what};
  }
  return state;
}

Status StateFile::fill(const Contents& contents) {
  const nlohmann::json json = {
      {"id", contents.id.value},
      {"pid", ::getpid()},
      {"boot", tcp::boot_id()},
      {"name", contents.name},
      {"endpoint", contents.endpoints.empty() ? "" : contents.endpoints.front()},
      {"endpoints", contents.endpoints}};
  const std::string text =
      json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  const std::string path = mesh_dir_ + "/" + to_string(contents.id) + ".json";
  const bool is_done = write_whole(locked_, text) &&
                       ::ftruncate(locked_.get(), static_cast<off_t>(text.size())) == 0 &&
                       std::rename(path_.c_str(), path.c_str()) == 0;
  if (!is_done) return not_written(path);
  path_ = path;
  return success();
}

namespace {

/// Files that daemons and tools make; nothing if a daemon has its state file there, or will.
std::vector<std::filesystem::path> leftovers(const std::string& mesh_dir) {
  std::error_code failure;
  std::vector<std::filesystem::path> left;
  for (const auto& entry : std::filesystem::directory_iterator(mesh_dir, failure)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("p") && name.ends_with(".json")) return {};
    // Of a daemon that is no member yet, or of a tool that starts some.
    const bool is_unfinished = name.starts_with(kUnfinished) || name.starts_with("starter-");
    if (is_unfinished && tcp::holder_of(entry.path())) return {};
    const bool is_ours = name == "key" || name.starts_with("key.") || name == "maker" ||
                         name.starts_with("mesh.json") || is_unfinished ||
                         name.ends_with(".sock") ||
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

void trim_logs(const std::string& mesh_dir) {
  constexpr std::size_t kMany = 64;  // Else there is nothing to do, which is the usual case.
  if (tcp::logs_in(mesh_dir).size() <= kMany) return;
  const auto log_of = [](int process) { return "phoenixd-" + std::to_string(process) + ".log"; };
  std::set<std::string> living{log_of(::getpid())};
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(mesh_dir, failure)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("p") || !name.ends_with(".json")) continue;
    const auto json = nlohmann::json::parse(std::ifstream(entry.path()), nullptr, false);
    if (json.is_object() && tcp::holder_of(entry.path())) {
      living.insert(log_of(json.value("pid", 0)));
    }
  }
  tcp::trim_logs(mesh_dir, living);
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

StateFile::StateFile(std::string mesh_dir, std::string path, tcp::Descriptor locked)
    : mesh_dir_(std::move(mesh_dir)), path_(std::move(path)), locked_(std::move(locked)) {}

StateFile::StateFile(StateFile&& other) noexcept
    : mesh_dir_(other.mesh_dir_),
      path_(std::exchange(other.path_, {})),
      locked_(std::move(other.locked_)) {}

StateFile::~StateFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

}  // namespace phx::phoenixd
