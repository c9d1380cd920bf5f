#pragma once

#include "overlay/base/time.h"

namespace phx::runtime {

/// How late the timers of a processor were at worst in the last minute: while they are late it
/// neither hears nor answers. Not thread-safe.
class Lateness {
 public:
  static constexpr Duration kMemory = 60s;

  void note(Instant now, Duration late) {
    if (late < worst(now)) return;
    worst_ = late;
    at_ = now;
  }
  /// Whether others must hear of it: it got worse, or what they know will soon be too old.
  [[nodiscard]] bool take_news(Instant now, Duration late) {
    if (now - told_at_ < kMemory / 4 && late < told_ * 3 / 2) return false;
    told_ = late;
    told_at_ = now;
    return true;
  }
  [[nodiscard]] Duration worst(Instant now) const {
    return now - at_ <= kMemory ? worst_ : Duration::zero();
  }

 private:
  Duration worst_{};
  Instant at_{};
  Duration told_{};
  Instant told_at_{};
};

}  // namespace phx::runtime
