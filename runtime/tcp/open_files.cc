#include "runtime/tcp/open_files.h"

#include <unistd.h>

#include <algorithm>

namespace phx::tcp {
namespace {

rlim_t soft_limit = 0;  ///< That it had; 0: it was not raised.

}  // namespace

rlim_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (soft_limit == 0) soft_limit = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_max;
}

void restore_open_files() {
  rlimit limit{};
  if (soft_limit == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = soft_limit;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void close_inherited(std::vector<int> kept) {
  std::ranges::sort(kept);
  int first = STDERR_FILENO + 1;
  for (const int one : kept) {
    if (one > first) ::close_range(static_cast<unsigned>(first), static_cast<unsigned>(one - 1), 0);
    first = std::max(first, one + 1);
  }
  ::close_range(static_cast<unsigned>(first), ~0U, 0);
}

}  // namespace phx::tcp
