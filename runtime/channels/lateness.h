#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "overlay/base/time.h"

namespace phx::runtime {

/// How late the timers of a processor were at worst in the last minute: while they are late it
/// neither hears nor answers. The maximum of each half minute is kept by itself, so that one which
/// is forgotten, after 60 to 90 s, leaves those behind that came since. Not thread-safe.
class Lateness {
 public:
  static constexpr Duration kMemory = 60s;

  void note(Instant now, Duration late) {
    const std::int64_t span = now.time_since_epoch() / kSpan;
    Span& at = spans_[static_cast<std::size_t>(span) % spans_.size()];
    if (at.number != span) at = {span, Duration::zero()};
    at.worst = std::max(at.worst, late);
  }
  /// Whether others must hear of it: it got worse, or what they know will soon be too old.
  [[nodiscard]] bool take_news(Instant now, Duration late) {
    if (now - told_at_ < kMemory / 4 && late < told_ * 3 / 2) return false;
    told_ = late;
    told_at_ = now;
    return true;
  }
  [[nodiscard]] Duration worst(Instant now) const {
    const std::int64_t span = now.time_since_epoch() / kSpan;
    Duration worst{};
    for (const Span& at : spans_) {
      if (span - at.number < std::int64_t(spans_.size())) worst = std::max(worst, at.worst);
    }
    return worst;
  }

 private:
  static constexpr Duration kSpan = kMemory / 2;
  struct Span {
    std::int64_t number = 0;  ///< Spans since the epoch of the clock.
    Duration worst{};
  };

  std::array<Span, 3> spans_;
  Duration told_{};
  Instant told_at_{};
};

}  // namespace phx::runtime
