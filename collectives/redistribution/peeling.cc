#include <algorithm>
#include <limits>
#include <vector>

#include "collectives/redistribution/regular_graph.h"
#include "collectives/redistribution/schedulers.h"
#include "overlay/base/check.h"

namespace phx::redistribution {
namespace {

/// GGP and OGGP [Cohen06]: a regular graph loses one perfect matching after the other. The real
/// messages in it are a step; each takes as long as its lightest edge.
Schedule peel(const Order& order, bool is_heaviest_first) {
  const MessageGraph& graph = order.graph;
  if (graph.messages.empty()) return {};
  const std::uint64_t unit = std::max<std::uint64_t>(order.setup, 1);
  const std::size_t at_once = std::clamp<std::size_t>(order.at_once, 1, graph.processors);
  RegularGraph regular = regular_graph(graph, unit, at_once);
  std::vector<std::uint64_t> left;
  for (const Message& message : graph.messages) left.push_back(message.weight);
  Matching matching(regular.graph);
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  Schedule schedule;
  std::uint64_t rest = regular.weight;
  while (rest > 0) {
    if (is_heaviest_first) {
      most = matching.grow_heaviest(most);  // Weights only fall, so this does, too.
    } else {
      matching.grow(1);
    }
    const std::vector<std::size_t> edges = matching.edges();
    PHX_CHECK(edges.size() == regular.graph.lefts);  // Hall: it is regular.
    std::uint64_t lightest = rest;
    for (const std::size_t edge : edges) {
      lightest = std::min(lightest, regular.graph.edges[edge].weight);
    }
    Step step;
    for (const std::size_t edge : edges) {
      regular.graph.edges[edge].weight -= lightest;
      if (edge >= left.size()) continue;
      const std::uint64_t amount = std::min(left[edge], lightest * unit);
      left[edge] -= amount;
      step.push_back({edge, amount});
    }
    rest -= lightest;
    if (!step.empty()) schedule.steps.push_back(std::move(step));
  }
  return schedule;
}

}  // namespace

Schedule schedule_ggp(const Order& order) {
  return peel(order, false);
}

Schedule schedule_oggp(const Order& order) {
  return peel(order, true);
}

}  // namespace phx::redistribution
