#pragma once

#include "collectives/redistribution/pacer.h"
#include "collectives/redistribution/schedule.h"
#include "collectives/redistribution/ways.h"
#include "overlay/base/time.h"

namespace phx::redistribution {

/// What is exchanged, over what, and how.
struct Exchange {
  const MessageGraph& bytes;
  const Ways& ways;
  Pace pace = Pace::kNoBarrier;
  Duration setup{};  ///< What the beginning of a part costs its sender.
};

/// How long the exchange takes, as it is predicted: until the last part has arrived. A part leaves
/// in pieces, one after the other, through the sender's interface, the way between the sites, and
/// the receiver's interface, each of which serves whoever comes first; then it has arrived. Who
/// waits for a receiver hears of it after the way back. [README.md, "What is predicted"]
/// REQUIRES a schedule that moves each message once and wholly; steps may have conflicts.
[[nodiscard]] Duration exchange_time(const Schedule& schedule, const Exchange& exchange);

}  // namespace phx::redistribution
