#pragma once

#include <cstdint>

#include "overlay/base/time.h"

namespace phx::overlay {

struct AdaptiveTreeOptions {
  /// Children above which first attachments are redirected and children begin to move below
  /// siblings [Saito08 G6].
  std::uint32_t fanout = 16;
  /// Changes of the own place reach the children this much later, all in one [Saito08 G4].
  Duration update_delay = 20ms;
  /// Changes of who is below reach the parent this much later, all in one [Saito08 G8].
  Duration set_delay = 20ms;
  /// An Attach that is not answered within this time (or four round trips) is withdrawn.
  Duration attach_timeout = 1s;
  /// One that is expected to find a place by join() looks for itself after this time.
  Duration expect_timeout = 1s;
  /// Pause after even the root has refused; doubles each time up to 16-fold.
  Duration retry_delay = 50ms;
  /// Requests for a new sequence number, and grants of one, are at least this far apart [G5 R5].
  Duration relabel_period = 1s;
  /// What serving one more child costs: the price of a wide fan-out [Saito08 s.6 (b)].
  Duration send_overhead = 5us;

  // Of bandwidth trees only.
  /// A parent that was not measured yet counts for so many bytes per second: less than any.
  std::uint64_t unmeasured = 1'000;
  /// First attachments to one processor within this time form a line behind it.
  Duration line_time = 1s;
  /// Who shares its parent tries to line up elsewhere after up to this time, then after twice as
  /// long, and so on; so often at most [limit].
  Duration line_up_delay = 200ms;
  std::uint32_t line_ups = 16;
  /// Redirections followed in one try [limit].
  std::uint32_t line_steps = 24;
  /// A child that has left is passed on for twice this time what is for it.
  Duration linger{};
  /// A new sequence number is held back for so long, to let it reach the wanted parent.
  Duration hold = 50ms;
};

/// A line, and news that have far to go along it.
inline AdaptiveTreeOptions bandwidth_tree_options() {
  AdaptiveTreeOptions options;
  options.fanout = 2;
  options.update_delay = 2ms;
  options.set_delay = 5ms;
  options.linger = 500ms;
  options.attach_timeout = 2s;
  options.expect_timeout = 3s;
  options.relabel_period = 250ms;
  return options;
}

}  // namespace phx::overlay
