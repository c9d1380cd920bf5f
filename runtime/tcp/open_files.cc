#include "runtime/tcp/open_files.h"

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

}  // namespace phx::tcp
