#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/network/known_network.h"
#include "runtime/messages/config.h"
#include "runtime/vnodes/vnode_map.h"

// To whom leavers give [README, "Who gets a leaver's vnodes"]. Pure functions of what all know, so
// that leavers who ask nobody choose different receivers.
namespace phx::runtime {

using Shares = std::map<ProcessorId, VnodeSet>;  ///< By receiver.

/// What one who leaves knows.
struct Leaving {
  ProcessorId self;
  const VnodeSet& vnodes;  ///< What it gives.
  const ProcessorSet& staying;
  const VnodeMap& map;
  const overlay::KnownNetwork* network = nullptr;  ///< None: nothing is known.
};

/// What all leavers give, by one rule.
struct SharePlan {
  ShareRule rule = ShareRule::kNeighbours;
  std::map<ProcessorId, Shares> shares;  ///< By leaver.
  Duration predicted{};                  ///< If each vnode carries 1 MiB; without a network none.
};

/// By one of the rules. REQUIRES that somebody stays; the second one also a network.
[[nodiscard]] SharePlan plan_by_neighbours(const Leaving& leaving);
[[nodiscard]] SharePlan plan_by_sites(const Leaving& leaving);
/// What making both plans, for so many leavers and receivers, is taken to cost.
[[nodiscard]] Duration planning_time(std::size_t processors);
/// The better one. The second is only made if it may gain ten times what that takes, and must gain
/// a tenth, that included, because it leaves more runs behind. REQUIRES that somebody stays.
[[nodiscard]] SharePlan choose_plan(const Leaving& leaving, ShareRule rule = ShareRule::kPredicted);

}  // namespace phx::runtime
