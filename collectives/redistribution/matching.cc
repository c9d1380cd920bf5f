#include "collectives/redistribution/matching.h"

#include <algorithm>

namespace phx::redistribution {

Matching::Matching(const BipartiteGraph& graph)
    : graph_(graph),
      edges_of_(graph.lefts),
      by_left_(graph.lefts, kFree),
      by_right_(graph.rights, kFree),
      distances_(graph.lefts),
      next_(graph.lefts) {
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    edges_of_[graph.edges[i].left].push_back(i);
  }
}

void Matching::drop_below(std::uint64_t least) {
  for (std::size_t& edge : by_left_) {
    if (edge == kFree || graph_.edges[edge].weight >= least) continue;
    by_right_[graph_.edges[edge].right] = kFree;
    edge = kFree;
    --size_;
  }
}

bool Matching::layer(std::uint64_t least) {
  std::vector<std::size_t> open;
  for (std::size_t left = 0; left < graph_.lefts; ++left) {
    distances_[left] = by_left_[left] == kFree ? 0 : kFree;
    if (by_left_[left] == kFree) open.push_back(left);
  }
  bool is_reached = false;
  for (std::size_t at = 0; at < open.size(); ++at) {
    for (const std::size_t edge : edges_of_[open[at]]) {
      if (graph_.edges[edge].weight < least) continue;
      const std::size_t back = by_right_[graph_.edges[edge].right];
      if (back == kFree) {
        is_reached = true;
        continue;
      }
      const std::size_t left = graph_.edges[back].left;
      if (distances_[left] != kFree) continue;
      distances_[left] = distances_[open[at]] + 1;
      open.push_back(left);
    }
  }
  return is_reached;
}

bool Matching::augment(std::size_t left, std::uint64_t least) {
  const std::vector<std::size_t>& edges = edges_of_[left];
  while (next_[left] < edges.size()) {
    const std::size_t edge = edges[next_[left]++];
    if (graph_.edges[edge].weight < least) continue;
    const std::size_t back = by_right_[graph_.edges[edge].right];
    if (back != kFree) {
      const std::size_t further = graph_.edges[back].left;
      if (distances_[further] != distances_[left] + 1 || !augment(further, least)) continue;
    }
    by_left_[left] = edge;
    by_right_[graph_.edges[edge].right] = edge;
    return true;
  }
  return false;
}

std::size_t Matching::grow(std::uint64_t least) {
  least = std::max<std::uint64_t>(least, 1);
  drop_below(least);
  while (layer(least)) {
    std::fill(next_.begin(), next_.end(), std::size_t{0});
    for (std::size_t left = 0; left < graph_.lefts; ++left) {
      if (by_left_[left] == kFree && augment(left, least)) ++size_;
    }
  }
  return size_;
}

std::uint64_t Matching::grow_heaviest(std::uint64_t most) {
  const std::size_t largest = grow(1);
  std::vector<std::uint64_t> weights;
  for (const WeightedEdge& edge : graph_.edges) {
    if (edge.weight > 0) weights.push_back(std::min(edge.weight, most));
  }
  if (weights.empty()) return 0;
  std::sort(weights.begin(), weights.end());
  weights.erase(std::unique(weights.begin(), weights.end()), weights.end());
  // The first one is good enough for a largest matching; what is good and what is not meet above.
  std::size_t good = 0;
  std::size_t bad = weights.size();
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    (grow(weights[middle]) == largest ? good : bad) = middle;
  }
  grow(weights[good]);
  return weights[good];
}

std::vector<std::size_t> Matching::edges() const {
  std::vector<std::size_t> all;
  for (const std::size_t edge : by_left_) {
    if (edge != kFree) all.push_back(edge);
  }
  return all;
}

}  // namespace phx::redistribution
