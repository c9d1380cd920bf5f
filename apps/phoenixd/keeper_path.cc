#include "apps/phoenixd/keeper_path.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "runtime/tcp/own_file.h"

namespace phx::phoenixd {
namespace fs = std::filesystem;
namespace {

constexpr const char* kKeeper = "libexec/phoenix/phoenix-keeper";

/// As phoenix-keeper sees it.
bool has_own_proc() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self", failure);
  return !failure && self == std::to_string(::getpid());
}

}  // namespace

std::string keeper_path() {
  const std::string self = tcp::own_file();
  if (self.empty()) return "";
  const std::string path = fs::path(self).parent_path().parent_path() / kKeeper;
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

std::string lack_for_keeping(const std::string& keeper) {
  if (!has_own_proc()) return "/proc is missing, or that of another PID namespace";
  if (keeper.empty())
    return std::string("there is no ") + kKeeper + " beside this program's folder";
  return "";
}

}  // namespace phx::phoenixd
