#pragma once

#include <chrono>
#include <cstdint>
#include <ratio>

namespace phx {

using namespace std::chrono_literals;

/// The clock of the protocol core: it has no `now()`, so the core cannot read the time. A driver
/// says what time it is with every input.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;  // NOLINT(readability-identifier-naming): the standard's
};

/// A moment on the driver's steady clock; its zero has no meaning.
using Instant = Clock::time_point;
/// Nanoseconds.
using Duration = Clock::duration;

/// "Never", "infinitely far".
inline constexpr Duration kForever = Duration::max();

/// Milliseconds with their fraction, for messages and tables.
[[nodiscard]] constexpr double to_ms(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace phx
