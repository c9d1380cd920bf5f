#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "overlay/planners/pairs/pair_network.h"

namespace phx::planners {

/// From whom, to whom: positions.
using Hop = std::pair<std::size_t, std::size_t>;

/// One way of a message from a root to all others. A parent comes before its children, and serves
/// them in this order. Backwards it is the way of many messages to one: a parent hears its children
/// in the opposite order.
struct PairTree {
  std::size_t root = 0;
  std::vector<Hop> hops;
  friend bool operator==(const PairTree&, const PairTree&) = default;
};

/// kBadInput: what keeps the message from reaching each of `size` processors once, from somebody
/// who has it.
[[nodiscard]] Status validate(const PairTree& tree, std::size_t size);

/// How many are below each position, itself included. REQUIRES a valid tree.
[[nodiscard]] std::vector<std::size_t> family_sizes(const PairTree& tree);

/// Nobody can have the message earlier than along the shortest path from the root [Bhat03].
[[nodiscard]] Duration shortest_path_bound(const PairCosts& costs, std::size_t root);

}  // namespace phx::planners
