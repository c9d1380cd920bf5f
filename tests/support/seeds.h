#pragma once

#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PHX_IS_SANITIZED 1
#endif
#endif

namespace phx::support {

/// How many seeds a property test takes that asks for `count`: all of them, but a sixteenth
/// where sanitizers make each cost many times as much; what they look for is not rare.
constexpr std::uint64_t seeds(std::uint64_t count) {
#if defined(PHX_IS_SANITIZED)
  return (count + 15) / 16;
#else
  return count;
#endif
}

}  // namespace phx::support
