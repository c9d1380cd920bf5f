#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "overlay/network/topology.h"
#include "overlay/planners/pairs/pair_tree.h"

namespace phx::app {

/// A name, and a tree over the processes of the paper, or the time that something took along it.
using NamedTree = std::pair<std::string, planners::PairTree>;
using NamedTime = std::pair<std::string, Duration>;

/// AGM's network for the simulator: its sites one after the other.
[[nodiscard]] overlay::Topology agm_topology();

/// One short broadcast from the root of AGM's network, by real daemons in the
/// simulator, until the last processor has it: along each of these trees, and along the one that
/// they have learned. kAborted: the mesh does not form, a broadcast does not end, or a checker
/// found something.
[[nodiscard]] Result<std::vector<NamedTime>> agm_trial(const std::vector<NamedTree>& trees,
                                                       std::uint64_t seed);

}  // namespace phx::app
