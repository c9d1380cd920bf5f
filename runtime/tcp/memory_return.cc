#include "runtime/tcp/memory_return.h"

#include <malloc.h>

#include <algorithm>

#include "runtime/tcp/steady_now.h"

namespace phx::tcp {

MemoryReturn::MemoryReturn()
    : MemoryReturn({.free_bytes = [] { return ::mallinfo2().fordblks; },
                    .give_back = [] { ::malloc_trim(0); },
                    .now = &steady_now}) {}

Duration MemoryReturn::left() const {
  return std::max(next_ - memory_.now(), Duration{});
}

void MemoryReturn::consider() {
  const Instant begin = memory_.now();
  if (begin < next_) return;
  const std::size_t free_bytes = memory_.free_bytes();
  if (free_bytes >= kWorthBytes && free_bytes <= kMostBytes) memory_.give_back();
  const Instant end = memory_.now();
  next_ = end + kShare * (end - begin);
}

}  // namespace phx::tcp
