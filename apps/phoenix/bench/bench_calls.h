#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace phx::app {

/// The processes called `name` that descend from `ancestor`.
[[nodiscard]] std::vector<pid_t> descendants(pid_t ancestor, const char* name);

/// How many system calls these processes begin within `seconds`, all threads together. They are
/// stopped at each call, as strace does, so they are slow meanwhile. Nothing: the system does not
/// allow that.
[[nodiscard]] std::optional<std::uint64_t> count_calls(const std::vector<pid_t>& processes,
                                                       double seconds);

}  // namespace phx::app
