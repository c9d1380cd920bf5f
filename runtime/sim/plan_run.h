#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "overlay/network/placing.h"
#include "overlay/network/topology.h"
#include "overlay/planners/plan.h"

namespace phx::sim {

/// What came of a plan.
struct PlanOutcome {
  /// When each processor but the root had everything, after the root began. Of a reduction: when it
  /// had everything from those below it, the root included.
  std::map<ProcessorId, Duration> arrivals;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;      ///< Of these messages.
  std::uint64_t crossings = 0;  ///< Messages between sites.

  [[nodiscard]] Duration last() const;
  [[nodiscard]] Duration mean() const;
};

struct PlanRunOptions {
  std::uint64_t header_bytes = 0;  ///< Of each message, beside its part of the payload.
  /// Interfaces, in bytes per second, that are not as the topology says.
  std::map<ProcessorId, std::uint64_t> interfaces = {};
};

/// Lets a plan happen in the network model that the whole simulator has, without
/// daemons: a broadcast of `plan.bytes`. A segment is a message; a processor passes it on to its
/// children in their order as soon as it has it. REQUIRES a valid plan of the placed processors.
[[nodiscard]] PlanOutcome run_broadcast(const planners::Plan& plan,
                                        const overlay::Topology& topology,
                                        const overlay::Placing& placing,
                                        const PlanRunOptions& options = {});

/// A reduction of so many bytes the same ways backwards: a processor sends a segment to its parent
/// when it has heard of it from all its children. Schedules as trees_of() makes trees of them.
/// Combining takes no time.
[[nodiscard]] PlanOutcome run_reduction(const planners::Plan& plan,
                                        const overlay::Topology& topology,
                                        const overlay::Placing& placing,
                                        const PlanRunOptions& options = {});

}  // namespace phx::sim
