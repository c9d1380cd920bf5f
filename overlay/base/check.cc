#include "overlay/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace phx {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: invariant broken: %s\n", file, line, condition);
  std::abort();
}

}  // namespace phx
