#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace phx::app {

/// The processes called `name` that descend from `ancestor`.
[[nodiscard]] std::vector<pid_t> descendants(pid_t ancestor, const char* name);

/// What was seen between two times [bench_clock_s()].
struct CallCount {
  std::uint64_t calls = 0;
  double begin = 0;
  double end = 0;
};

/// How many system calls these processes begin within `seconds`, all threads together. They are
/// stopped at each call, as strace does, so they are slow meanwhile. The time in which threads are
/// caught and let go is no part of it. Nothing: the system does not allow that.
[[nodiscard]] std::optional<CallCount> count_calls(const std::vector<pid_t>& processes,
                                                   double seconds);

}  // namespace phx::app
