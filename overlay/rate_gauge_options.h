#pragma once

#include <cstddef>
#include <cstdint>

#include "overlay/base/time.h"

namespace phx::overlay {

struct RateGaugeOptions {
  /// Bytes of the first request, and of the last one. Each is twice the one before, until two in a
  /// row agree within a factor, and the second half of them took long enough to be timed.
  std::uint64_t first = std::uint64_t{64} << 10U;
  std::uint64_t most = std::uint64_t{4} << 20U;
  double agree = 1.15;
  Duration timed_least = 200us;
  /// What is faster is not told apart: the processor is the narrow place then. Halves that come in
  /// less than `instant` are as fast.
  std::uint64_t fastest = 1'250'000'000;
  Duration instant = 50us;
  /// A second half that comes so many times faster than all of it has waited here, for this
  /// processor's turn. More is asked for then, up to so much, of which the whole time counts.
  std::uint64_t burst = 4;
  std::uint64_t burst_most = std::uint64_t{1} << 20U;
  /// Between sites each request is `far_growth` times the one before, until the second half took
  /// two round trips; `far_most` is the last one then.
  std::uint64_t far_growth = 4;
  std::uint64_t far_most = std::uint64_t{1} << 20U;
  /// If it did not, but `far_limit` would at that rate, and that is slower than the interface by
  /// more than this factor, twice as much is asked for, and so on.
  double far_wide = 2;
  std::uint64_t far_limit = std::uint64_t{4} << 20U;
  /// Who takes longer than this for the second half is slow enough to be known, if it came bit by
  /// bit. If nothing came for most of the time, somebody may have been busy: then two have to
  /// agree.
  Duration timed_most = 50ms;
  Duration patience = 2s;  ///< Then it is the next one's turn.
  /// Nothing is warmed until no long message came for so long, or it has waited so long for that
  /// and this processor took less than that part of what its interface carries meanwhile.
  Duration quiet = 200ms;
  Duration quiet_most = 2s;
  double full_part = 0.5;
  std::size_t downloads_max = 16;  ///< Of a task [limit].
  /// What is sent to others on request in so much time [limit].
  std::uint64_t served_max = std::uint64_t{64} << 20U;
  Duration served_in = 5s;
};

}  // namespace phx::overlay
