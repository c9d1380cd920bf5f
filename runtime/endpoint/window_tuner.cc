#include "runtime/endpoint/window_tuner.h"

#include <algorithm>

namespace phx::runtime {
namespace {

/// A wider window is worth its bytes only if the flow became so much faster by it.
constexpr double kFaster = 1.25;
/// Windows that pass between two trials in vain: perhaps the flow had paused in the first one.
constexpr std::uint64_t kBetweenTrials = 16;
/// So long at least windows are timed one after the other, and the fastest counts. On a busy
/// machine whoever passes messages on waits for some milliseconds now and then: of a single window
/// chance would decide how fast it is, and a window that chance has widened delays all that shares
/// its way.
constexpr Duration kMeasured = 10ms;
/// A window that passes in less than this is wide enough for any way within a machine room. What a
/// wider one might gain is not its round trip, but a longer queue before some processor.
constexpr Duration kPassesAtOnce = 1ms;

}  // namespace

std::uint64_t WindowTuner::on_taken(Instant now, std::uint64_t offset, std::uint64_t window,
                                    const InflowOptions& options) {
  // Up to there a window costs nothing, as all of it is taken.
  const std::uint64_t least = std::min(options.window_free, options.window_max);
  if (window < least) {
    measure_from(offset);
    return least;
  }
  if (!is_measuring_) {
    if (offset < from_) return window;
    from_ = offset;
    since_ = begun_ = now;
    fastest_ = 0;
    is_measuring_ = true;
    return window;
  }
  if (offset < from_ + window) return window;
  time_window(now, offset);
  if (now > begun_ && now - begun_ < kMeasured) return window;
  const bool is_worth_it = fastest_ >= kFaster * rate_;
  rate_ = std::max(rate_, fastest_);
  if (!is_worth_it && narrower_ != 0) {
    window = narrower_;
    again_ = offset + kBetweenTrials * window;
  }
  const bool passes_at_once =
      static_cast<double>(window) < fastest_ * static_cast<double>(kPassesAtOnce.count());
  const bool is_time = !passes_at_once && (is_worth_it || (narrower_ == 0 && offset >= again_));
  narrower_ = 0;
  if (is_time && window < options.window_max) {
    narrower_ = window;
    // What is on its way left in the narrower window.
    measure_from(offset + window);
    return std::min(2 * window, options.window_max);
  }
  measure_from(offset);
  return window;
}

void WindowTuner::time_window(Instant now, std::uint64_t offset) {
  // Whoever is told no time finds each window faster than the one before.
  const auto elapsed = static_cast<double>((now - since_).count());
  const auto bytes = static_cast<double>(offset - from_);
  fastest_ = std::max(fastest_, elapsed > 0 ? bytes / elapsed : kFaster * rate_);
  from_ = offset;
  since_ = now;
}

}  // namespace phx::runtime
