#include "apps/phoenix/mesh/starters.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "apps/phoenix/mesh/waiting.h"
#include "runtime/tcp/mesh_folder.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace fs = std::filesystem;
namespace {

constexpr Duration kEndTimeout = 10s;
constexpr auto kLookEvery = std::chrono::milliseconds(20);
constexpr const char* kPrefix = "starter-";
constexpr const char* kDaemonPrefix = "starting-";  // Of a daemon's state file [state_file.h].

std::string own_file(const MeshDir& dir) {
  return dir.path() / (kPrefix + std::to_string(::getpid()));
}

/// The files with this prefix of those that live, but for this process: looking at its own file
/// would unlock it.
std::vector<std::string> held_in(const MeshDir& dir, const std::string& prefix) {
  std::vector<std::string> result;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(dir.path(), failure)) {
    const bool is_meant = entry.path().filename().string().starts_with(prefix);
    if (!is_meant || entry.path() == own_file(dir)) continue;
    if (tcp::holder_of(entry.path())) result.push_back(entry.path());
  }
  return result;
}

}  // namespace

Starter::Starter(const MeshDir& dir)
    : path_(own_file(dir)),
      file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
  if (file_.is_open() && !tcp::lock_for_life(file_).ok()) file_.reset();
}

Starter::~Starter() {
  std::error_code failure;
  if (file_.is_open()) fs::remove(path_, failure);
}

bool end_starters(const MeshDir& dir) {
  const std::vector<std::string> found = held_in(dir, kPrefix);
  for (const std::string& file : found) tcp::signal_holder_of(file, SIGTERM);
  Waiting waiting(kEndTimeout, "goes on");
  const Instant deadline = tcp::steady_now() + kEndTimeout;
  for (auto left = found; !left.empty() && tcp::steady_now() < deadline;
       left = held_in(dir, kPrefix)) {
    const pid_t process = tcp::holder_of(left.front()).value_or(tcp::kUnnamed);
    waiting.look("a tool (" + tcp::in_words(process) +
                 "), which starts daemons of this mesh, to end");
    std::this_thread::sleep_for(kLookEvery);
  }
  return !found.empty();
}

bool is_being_started(const MeshDir& dir) {
  return !held_in(dir, kPrefix).empty() || !held_in(dir, kDaemonPrefix).empty();
}

}  // namespace phx::app
