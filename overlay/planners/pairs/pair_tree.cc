#include "overlay/planners/pairs/pair_tree.h"

#include <algorithm>
#include <string>

namespace phx::planners {
namespace {

Error tree_error(std::size_t position, const std::string& what) {
  return Error{ErrorCode::kBadInput, "processor " + std::to_string(position) + " " + what};
}

}  // namespace

Status validate(const PairTree& tree, std::size_t size) {
  if (tree.root >= size) return tree_error(tree.root, "does not exist");
  std::vector<bool> reached(size);
  reached[tree.root] = true;
  for (const auto& [from, to] : tree.hops) {
    if (from >= size || to >= size) return tree_error(std::max(from, to), "does not exist");
    if (!reached[from]) return tree_error(from, "sends before it has anything");
    if (reached[to]) return tree_error(to, "has two parents");
    reached[to] = true;
  }
  const auto missing = std::find(reached.begin(), reached.end(), false);
  if (missing == reached.end()) return success();
  return tree_error(static_cast<std::size_t>(missing - reached.begin()), "is not reached");
}

std::vector<std::size_t> family_sizes(const PairTree& tree) {
  std::vector<std::size_t> sizes(tree.hops.size() + 1, 1);
  for (auto hop = tree.hops.rbegin(); hop != tree.hops.rend(); ++hop) {
    sizes[hop->first] += sizes[hop->second];
  }
  return sizes;
}

Duration shortest_path_bound(const PairCosts& costs, std::size_t root) {
  std::vector<Duration> nearest(costs.size(), kForever);
  std::vector<bool> is_done(costs.size());
  nearest[root] = Duration{};
  Duration farthest{};
  for (std::size_t round = 0; round < costs.size(); ++round) {
    std::size_t next = costs.size();
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (!is_done[i] && (next == costs.size() || nearest[i] < nearest[next])) next = i;
    }
    is_done[next] = true;
    farthest = std::max(farthest, nearest[next]);
    for (std::size_t to = 0; to < costs.size(); ++to) {
      if (to == next) continue;
      nearest[to] = std::min(nearest[to], nearest[next] + costs.arrival(next, to));
    }
  }
  return farthest;
}

}  // namespace phx::planners
