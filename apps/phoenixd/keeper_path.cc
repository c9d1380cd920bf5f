#include "apps/phoenixd/keeper_path.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace phx::phoenixd {
namespace fs = std::filesystem;
namespace {

constexpr const char* kKeeper = "libexec/phoenix/phoenix-keeper";

/// This program's file. Without /proc: as it was called.
fs::path own_file() {
  std::error_code failure;
  const fs::path told = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) return told;
  const auto* const called = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return called == nullptr ? fs::path() : fs::canonical(called, failure);
}

/// As phoenix-keeper sees it.
bool has_own_proc() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self", failure);
  return !failure && self == std::to_string(::getpid());
}

}  // namespace

std::string keeper_path() {
  const std::string path = own_file().parent_path().parent_path() / kKeeper;
  return ::access(path.c_str(), X_OK) == 0 ? path : "";
}

std::string lack_for_keeping(const std::string& keeper) {
  if (!has_own_proc()) return "/proc is missing, or that of another PID namespace";
  if (keeper.empty())
    return std::string("there is no ") + kKeeper + " beside this program's folder";
  return "";
}

}  // namespace phx::phoenixd
