#pragma once

#include <cstdint>

namespace phx::support {

/// How often this thread has asked for memory of the heap so far. Only in tests that compile
/// allocations.cc along.
[[nodiscard]] std::uint64_t allocations();
/// Whether they are counted: not with the thread sanitizer, which has operators of its own.
[[nodiscard]] bool counts_allocations();

}  // namespace phx::support
