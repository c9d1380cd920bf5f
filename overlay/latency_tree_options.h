#pragma once

#include <cstdint>

#include "overlay/base/time.h"

namespace phx::overlay {

struct LatencyTreeOptions {
  /// Children above which first attachments are redirected and children begin to move below
  /// siblings [Saito08 G6].
  std::uint32_t fanout = 16;
  /// Changes of the own place reach the children this much later, all in one [Saito08 G4].
  Duration update_delay = 20ms;
  /// Changes of who is below reach the parent this much later, all in one [Saito08 G8].
  Duration set_delay = 20ms;
  /// An Attach that is not answered within this time (or four round trips) is withdrawn.
  Duration attach_timeout = 1s;
  /// Pause after even the root has refused; doubles each time up to 16-fold.
  Duration retry_delay = 50ms;
  /// Requests for a new sequence number, and grants of one, are at least this far apart [G5 R5].
  Duration relabel_period = 1s;
  /// What serving one more child costs: the price of a wide fan-out [Saito08 s.6 (b)].
  Duration send_overhead = 5us;
};

}  // namespace phx::overlay
