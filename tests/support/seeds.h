#pragma once

#include <doctest/doctest.h>

#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PHX_IS_SANITIZED 1
#endif
#endif

namespace phx::support {

#if defined(PHX_IS_SANITIZED)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

/// How many seeds a property test takes that asks for `count`: all of them, but one in 32
/// where sanitizers make each cost many times as much; what they look for is not rare.
constexpr std::uint64_t seeds(std::uint64_t count) {
  return kIsSanitized ? (count + 31) / 32 : count;
}

/// Decorates a test that takes many seconds without sanitizers: `TEST_CASE("..." * long_search())`.
/// They leave it out; what it runs, shorter tests of the same folder run under them, too.
inline doctest::skip long_search() {
  return doctest::skip(kIsSanitized);
}

}  // namespace phx::support
