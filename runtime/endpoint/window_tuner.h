#pragma once

#include <cstdint>

#include "overlay/base/time.h"
#include "runtime/endpoint/endpoint_config.h"

namespace phx::runtime {

/// Finds how wide the window of one flow has to be: near rate x round trip, by trial. A window
/// wider than `window_free` is kept only if it made the flow faster. Not thread-safe.
///
/// Nobody measures a round trip for it: a window that is too narrow passes once per round trip, so
/// twice the window is twice the rate; one that is wide enough gains nothing by being wider.
class WindowTuner {
 public:
  /// The program has taken all that came, up to `offset`. What the window has to be from now on.
  [[nodiscard]] std::uint64_t on_taken(Instant now, std::uint64_t offset, std::uint64_t window,
                                       const InflowOptions& options);

 private:
  void time_window(Instant now, std::uint64_t offset);
  void measure_from(std::uint64_t offset) {
    from_ = offset;
    is_measuring_ = false;
  }

  std::uint64_t from_ = 0;     ///< Measured from this offset on.
  bool is_measuring_ = false;  ///< It was reached, at `since_`.
  Instant since_;
  Instant begun_;               ///< The first of these windows.
  double fastest_ = 0;          ///< Of them, in weight per nanosecond.
  double rate_ = 0;             ///< The same of all windows so far.
  std::uint64_t narrower_ = 0;  ///< The window before the trial; 0: none is under way.
  std::uint64_t again_ = 0;     ///< After a trial in vain: not before this offset.
};

}  // namespace phx::runtime
