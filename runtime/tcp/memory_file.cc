#include "runtime/tcp/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace phx::tcp {
namespace {

/// Without these, one side could take the memory away under the feet of the other.
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

bool is_allowed(std::size_t bytes) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes <= limit.rlim_cur;
}

}  // namespace

Descriptor make_memory_file(const char* name, std::size_t bytes) {
  if (!is_allowed(bytes)) return {};
  Descriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const bool is_made = file.is_open() && ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0 &&
                       ::fcntl(file.get(), F_ADD_SEALS, kSeals) == 0;
  return is_made ? std::move(file) : Descriptor();
}

bool is_memory_file(const Descriptor& file, std::size_t bytes) {
  struct stat status {};
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  return seals >= 0 && (seals & kSeals) == kSeals && ::fstat(file.get(), &status) == 0 &&
         static_cast<std::size_t>(status.st_size) == bytes;
}

}  // namespace phx::tcp
