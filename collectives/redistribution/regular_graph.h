#pragma once

#include <cstddef>
#include <cstdint>

#include "collectives/redistribution/matching.h"
#include "collectives/redistribution/message_graph.h"

namespace phx::redistribution {

/// A message graph that is filled up until everybody on both sides has the same weight. So it has a
/// perfect matching, whatever equal weights are taken off it [Cohen06, Hall].
struct RegularGraph {
  BipartiteGraph graph;      ///< Edge i is message i, as far as there are messages.
  std::uint64_t weight = 0;  ///< Of each place: the whole time, in units.
};

/// Weights count in `unit`s, rounded up. Each perfect matching has at most `at_once` messages.
/// REQUIRES a graph whose check() succeeds, messages, a unit above 0, and 1..processors at once.
[[nodiscard]] RegularGraph regular_graph(const MessageGraph& graph, std::uint64_t unit,
                                         std::size_t at_once);

}  // namespace phx::redistribution
