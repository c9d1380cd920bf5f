#include "overlay/planners/pairs/collective_times.h"

#include <algorithm>

#include "overlay/base/check.h"

namespace phx::planners {
namespace {

/// Down a tree, from a beginning.
std::vector<Duration> times_down(const PairTree& tree, const Charge& charge, bool is_scatter,
                                 Duration begin) {
  const std::vector<std::size_t> families = family_sizes(tree);
  std::vector<Duration> ready(families.size(), begin);
  std::vector<Duration> free(families.size(), begin);
  for (const auto& [from, to] : tree.hops) {
    const std::uint64_t bytes = is_scatter ? charge.bytes * families[to] : charge.bytes;
    const MessageCost cost = cost_of(charge.network, charge.model, from, to, bytes);
    ready[to] = free[to] = free[from] + cost.arrival;
    free[from] += cost.busy;
  }
  return ready;
}

/// Up a tree: the opposite of a scatter, hop by hop.
std::vector<Duration> times_up(const PairTree& tree, const Charge& charge) {
  const std::vector<std::size_t> families = family_sizes(tree);
  const PairNetwork& network = charge.network;
  std::vector<Duration> ready(families.size());
  for (auto hop = tree.hops.rbegin(); hop != tree.hops.rend(); ++hop) {
    const auto& [to, from] = *hop;  // Behind all hops that lead to `from`.
    const std::uint64_t bytes = charge.bytes * families[from];
    const MessageCost cost = cost_of(network, charge.model, from, to, bytes);
    // The same whole time; what the sender was busy for, the receiver is.
    const Duration heard = network.overhead(from) + network.latency(from, to);
    const Duration busy = cost.arrival - heard;
    if (charge.model == CostModel::kBlocking) {
      ready[to] = std::max(ready[to], ready[from]) + cost.arrival;
    } else {
      ready[to] = std::max(ready[to], ready[from] + heard) + busy;
    }
  }
  return ready;
}

}  // namespace

std::vector<Duration> times_of(Collective collective, const TreePair& trees, const Charge& charge) {
  PHX_CHECK(charge.model != CostModel::kLatencyOnly);
  switch (collective) {
    case Collective::kBroadcast:
      return times_down(trees.down, charge, false, Duration{});
    case Collective::kScatter:
      return times_down(trees.down, charge, true, Duration{});
    case Collective::kGather:
      return times_up(trees.up, charge);
    case Collective::kAllgather:
      break;
  }
  const Duration begin = times_up(trees.up, charge)[trees.up.root];
  const std::uint64_t all = charge.bytes * charge.network.size();
  return times_down(trees.down, {charge.network, charge.model, all}, false, begin);
}

Duration last_of(const std::vector<Duration>& times) {
  return times.empty() ? Duration{} : *std::max_element(times.begin(), times.end());
}

}  // namespace phx::planners
