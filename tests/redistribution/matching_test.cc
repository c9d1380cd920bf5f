#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "collectives/redistribution/matching.h"
#include "collectives/redistribution/random_graph.h"
#include "collectives/redistribution/regular_graph.h"
#include "overlay/base/rng.h"

namespace matching_test {

using namespace phx;
using namespace phx::redistribution;

namespace {

BipartiteGraph drawn(std::size_t size, std::size_t edges, Rng& rng) {
  BipartiteGraph graph{size, size, {}};
  for (std::size_t i = 0; i < edges; ++i) {
    graph.edges.push_back({static_cast<std::size_t>(rng.below(size)),
                           static_cast<std::size_t>(rng.below(size)), 1 + rng.below(9)});
  }
  return graph;
}

/// By trying all.
std::size_t largest(const BipartiteGraph& graph, std::uint64_t least) {
  std::vector<bool> used(graph.rights);
  const std::function<std::size_t(std::size_t)> best = [&](std::size_t left) -> std::size_t {
    if (left == graph.lefts) return 0;
    std::size_t most = best(left + 1);
    for (const WeightedEdge& edge : graph.edges) {
      if (edge.left != left || edge.weight < least || used[edge.right]) continue;
      used[edge.right] = true;
      most = std::max(most, 1 + best(left + 1));
      used[edge.right] = false;
    }
    return most;
  };
  return best(0);
}

bool is_matching(const BipartiteGraph& graph, const std::vector<std::size_t>& edges) {
  std::set<std::size_t> lefts;
  std::set<std::size_t> rights;
  return std::all_of(edges.begin(), edges.end(), [&](std::size_t i) {
    return lefts.insert(graph.edges[i].left).second && rights.insert(graph.edges[i].right).second;
  });
}

}  // namespace

TEST_SUITE_BEGIN("redistribution/matching");

TEST_CASE("a matching is as large as the largest of all") {
  Rng rng(1);
  for (std::size_t run = 0; run < 300; ++run) {
    const BipartiteGraph graph = drawn(2 + run % 5, 1 + run % 12, rng);
    for (std::uint64_t least = 1; least <= 9; least += 4) {
      Matching matching(graph);
      CHECK(matching.grow(least) == largest(graph, least));
      CHECK(matching.edges().size() == largest(graph, least));
      CHECK(is_matching(graph, matching.edges()));
    }
  }
}

TEST_CASE("a matching that is kept while weights fall is as large as a new one") {
  Rng rng(2);
  for (std::size_t run = 0; run < 100; ++run) {
    BipartiteGraph graph = drawn(6, 14, rng);
    Matching matching(graph);
    for (std::size_t step = 0; step < 20; ++step) {
      WeightedEdge& edge = graph.edges[static_cast<std::size_t>(rng.below(graph.edges.size()))];
      if (edge.weight > 0) --edge.weight;
      CHECK(matching.grow(1) == largest(graph, 1));
      CHECK(is_matching(graph, matching.edges()));
    }
  }
}

TEST_CASE("of the largest matchings one whose lightest edge is heaviest") {
  Rng rng(3);
  for (std::size_t run = 0; run < 200; ++run) {
    const BipartiteGraph graph = drawn(5, 12, rng);
    const std::size_t size = largest(graph, 1);
    std::uint64_t heaviest = 1;
    while (largest(graph, heaviest + 1) == size) ++heaviest;
    Matching matching(graph);
    CHECK(matching.grow_heaviest(100) == heaviest);
    CHECK(matching.edges().size() == size);
    for (const std::size_t edge : matching.edges()) CHECK(graph.edges[edge].weight >= heaviest);
  }
}

TEST_CASE("a graph that is filled up has the same weight everywhere, and so many in a matching") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const std::size_t processors = 3 + seed % 7;
    const MessageGraph graph = random_graph({processors, 2 * processors, 1000}, seed);
    const std::size_t at_once = 1 + seed % processors;
    const RegularGraph regular = regular_graph(graph, 7, at_once);
    CHECK(regular.graph.lefts == regular.graph.rights);
    std::vector<std::uint64_t> left(regular.graph.lefts);
    std::vector<std::uint64_t> right(regular.graph.rights);
    for (const WeightedEdge& edge : regular.graph.edges) {
      CHECK(edge.weight > 0);
      left[edge.left] += edge.weight;
      right[edge.right] += edge.weight;
    }
    for (const auto* side : {&left, &right}) {
      for (const std::uint64_t weight : *side) CHECK(weight == regular.weight);
    }
    Matching matching(regular.graph);
    CHECK(matching.grow(1) == regular.graph.lefts);
  }
}

}  // namespace matching_test
