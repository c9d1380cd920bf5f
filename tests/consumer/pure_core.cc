// Uses one of the pure libraries on its own, by the path that the library's own sources use.
#include <cstdio>

#include "overlay/base/ids.h"

int main() {
  const phx::ProcessorId p{6};
  std::printf("p%llu\n", static_cast<unsigned long long>(p.value));
  return p == phx::ProcessorId{6} ? 0 : 1;
}
