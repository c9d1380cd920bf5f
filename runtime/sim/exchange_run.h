#pragma once

#include "collectives/redistribution/message_graph.h"
#include "collectives/redistribution/pacer.h"
#include "collectives/redistribution/schedule.h"
#include "collectives/redistribution/ways.h"
#include "overlay/base/time.h"
#include "overlay/network/topology.h"
#include "runtime/sim/plan_run.h"

namespace phx::sim {

/// All that a topology says of the ways between processors placed so.
[[nodiscard]] redistribution::Ways ways_of(const overlay::Topology& topology,
                                           const overlay::Placing& placing);

struct ExchangeRun {
  const redistribution::MessageGraph& bytes;  ///< Position i is processor i + 1.
  const overlay::Topology& topology;
  const overlay::Placing& placing;
  redistribution::Pace pace = redistribution::Pace::kNoBarrier;
};

/// Lets the exchange happen in the network model that the whole simulator has, without
/// daemons: until the last part has arrived. If there are barriers, each part is confirmed by a
/// message that overtakes all others, as with daemons. REQUIRES a schedule that moves each message
/// once and wholly.
[[nodiscard]] Duration run_exchange(const redistribution::Schedule& schedule,
                                    const ExchangeRun& run);

}  // namespace phx::sim
