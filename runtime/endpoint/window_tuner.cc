#include "runtime/endpoint/window_tuner.h"

#include <algorithm>

namespace phx::runtime {
namespace {

/// A wider window is worth its bytes only if the flow became so much faster by it.
constexpr double kFaster = 1.25;
/// Windows that pass between two trials in vain: perhaps the flow had paused in the first one.
constexpr std::uint64_t kBetweenTrials = 16;

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
    since_ = now;
    is_measuring_ = true;
    return window;
  }
  if (offset < from_ + window) return window;
  const bool is_worth_it = is_faster(now, offset);
  if (!is_worth_it && narrower_ != 0) {
    window = narrower_;
    again_ = offset + kBetweenTrials * window;
  }
  const bool is_time = is_worth_it || (narrower_ == 0 && offset >= again_);
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

/// Since the measurement began, than ever before.
bool WindowTuner::is_faster(Instant now, std::uint64_t offset) {
  const auto elapsed = static_cast<double>((now - since_).count());
  if (elapsed <= 0) return true;
  const double rate = static_cast<double>(offset - from_) / elapsed;
  const bool result = rate >= kFaster * rate_;
  rate_ = std::max(rate_, rate);
  return result;
}

}  // namespace phx::runtime
