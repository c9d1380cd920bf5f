#include "runtime/tcp/own_file.h"

#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

namespace phx::tcp {
namespace fs = std::filesystem;

std::string own_file() {
  std::error_code failure;
  const fs::path told = fs::read_symlink("/proc/self/exe", failure);
  if (!failure) return told;
  const auto* const called = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return called == nullptr ? fs::path() : fs::canonical(called, failure);
}

}  // namespace phx::tcp
