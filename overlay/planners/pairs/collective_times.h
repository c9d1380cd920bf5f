#pragma once

#include <cstdint>
#include <vector>

#include "overlay/planners/pairs/pair_tree.h"

namespace phx::planners {

/// What is done along a tree. `bytes` is what each processor gets or gives for itself: a scatter
/// sends along an edge what all below it get, a gather what they all give.
enum class Collective : std::uint8_t { kBroadcast, kScatter, kGather, kAllgather };

/// What is charged.
struct Charge {
  const PairNetwork& network;
  CostModel model = CostModel::kOverlapped;
  std::uint64_t bytes = 0;
};

/// A tree for each direction: `up` of gathers, `down` of all others; an allgather takes both.
struct TreePair {
  const PairTree& up;
  const PairTree& down;
};

/// When each position is ready, from the beginning of all: it has what it is to get, or has what
/// all below it give. In a gather every processor begins at once; a parent that hears a child is as
/// busy as one that sends to it. An allgather is a gather to the root, then a broadcast of the
/// whole. REQUIRES a valid tree; kLatencyOnly is no charge.
[[nodiscard]] std::vector<Duration> times_of(Collective collective, const TreePair& trees,
                                             const Charge& charge);
/// The same tree in both directions.
[[nodiscard]] inline std::vector<Duration> times_of(Collective collective, const PairTree& tree,
                                                    const Charge& charge) {
  return times_of(collective, TreePair{tree, tree}, charge);
}

/// When the last one is ready; of a gather, the root.
[[nodiscard]] Duration last_of(const std::vector<Duration>& times);

}  // namespace phx::planners
