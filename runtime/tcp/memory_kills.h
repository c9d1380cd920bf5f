#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace phx::tcp {

/// How many processes the kernel has ended since the machine began because memory ran out, those of
/// groups with limits of their own (containers) among them. 0 as well where it does not say.
[[nodiscard]] std::uint64_t memory_kills();
/// The same, of what /proc/vmstat contains.
[[nodiscard]] std::uint64_t memory_kills_in(std::string_view vmstat);

/// For the report of a process that SIGKILL has ended, and that began when memory_kills() was
/// `before`: why that may be. Empty: not because of this.
[[nodiscard]] std::string memory_kill_hint(std::uint64_t before);

}  // namespace phx::tcp
