#pragma once

#include "overlay/network/known_network.h"
#include "overlay/planners/pairs/pair_network.h"
#include "overlay/planners/planners.h"

namespace phx::planners {

/// The network as planners of pairs see it. Clusters: all, and below it each site.
[[nodiscard]] PairNetwork pair_network(const Costs& costs);

/// All that is known of the pairs, as one site without clusters. Position i is processor i + 1.
[[nodiscard]] overlay::KnownNetwork known_network(const PairNetwork& network);

/// One whole message along the tree of a planner with `from_pairs`.
[[nodiscard]] Plan plan_from_pairs(const Planner& planner, const Task& task);

}  // namespace phx::planners
