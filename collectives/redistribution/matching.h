#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace phx::redistribution {

/// An edge of a bipartite graph, between a place on the left and one on the right.
struct WeightedEdge {
  std::size_t left = 0;
  std::size_t right = 0;
  std::uint64_t weight = 0;  ///< 0: it is not there any more.
  friend bool operator==(const WeightedEdge&, const WeightedEdge&) = default;
};

/// Edges between two sides; two of them may have the same ends.
struct BipartiteGraph {
  std::size_t lefts = 0;
  std::size_t rights = 0;
  std::vector<WeightedEdge> edges;
};

/// A matching in a graph whose weights fall: kept from one question to the next, so that each costs
/// only what has changed. Hopcroft and Karp: O(E sqrt V) from nothing.
class Matching {
 public:
  /// REQUIRES that the graph outlives it, and keeps its edges but for their weights.
  explicit Matching(const BipartiteGraph& graph);

  /// Makes it a largest matching of edges that weigh `least` or more (at least 1). Edges in it that
  /// weigh less are dropped first. Its size.
  std::size_t grow(std::uint64_t least);
  /// A largest matching whose lightest edge is as heavy as possible, but not above `most`: what it
  /// weighs. 0: the graph has no edges.
  std::uint64_t grow_heaviest(std::uint64_t most);
  /// The edges in it, by their places, in the order of the left side.
  [[nodiscard]] std::vector<std::size_t> edges() const;

 private:
  static constexpr std::size_t kFree = static_cast<std::size_t>(-1);

  void drop_below(std::uint64_t least);
  /// Distance of each left place from a free one, along alternating paths. False: no path ends.
  bool layer(std::uint64_t least);
  bool augment(std::size_t left, std::uint64_t least);

  const BipartiteGraph& graph_;
  std::vector<std::vector<std::size_t>> edges_of_;  ///< Of each left place.
  std::vector<std::size_t> by_left_;                ///< The edge in the matching, or kFree.
  std::vector<std::size_t> by_right_;
  std::vector<std::size_t> distances_;
  std::vector<std::size_t> next_;  ///< Of each left place the edge to try next.
  std::size_t size_ = 0;
};

}  // namespace phx::redistribution
