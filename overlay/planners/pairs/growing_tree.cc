#include "overlay/planners/pairs/growing_tree.h"

#include <algorithm>
#include <numeric>

#include "overlay/base/check.h"

namespace phx::planners {

GrowingTree::GrowingTree(const PairTask& task)
    : task_(task),
      tree_{task.root, {}},
      members_{task.root},
      has_(task.costs.size()),
      ready_(task.costs.size()) {
  PHX_CHECK(task.root < task.costs.size());
  has_[task.root] = true;
}

void GrowingTree::send(std::size_t from, std::size_t to) {
  PHX_CHECK(has_[from] && !has_[to]);
  ready_[to] = completion(from, to);
  ready_[from] += task_.costs.busy(from, to);
  has_[to] = true;
  members_.push_back(to);
  tree_.hops.emplace_back(from, to);
}

std::optional<std::size_t> NearestWaiting::of(std::size_t sender) {
  std::vector<std::uint32_t>& order = orders_[sender];
  if (order.empty()) {
    order.resize(orders_.size());
    std::iota(order.begin(), order.end(), 0U);
    const PairCosts& costs = tree_.task().costs;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      tree_.looked(1);
      return costs.arrival(sender, a) < costs.arrival(sender, b);
    });
  }
  std::size_t& next = next_[sender];
  const auto is_passed = [&](std::size_t one) {
    return one == sender || tree_.has(one) || (waits_ && !waits_(one));
  };
  while (next < order.size() && is_passed(order[next])) {
    tree_.looked(1);
    ++next;
  }
  if (next == order.size()) return std::nullopt;
  return order[next];
}

void complete_earliest_first(GrowingTree& tree) {
  NearestWaiting waiting(tree);
  while (!tree.is_complete()) {
    Hop best;
    Duration earliest = kForever;
    for (const std::size_t from : tree.members()) {
      tree.looked(1);
      const std::size_t to = *waiting.of(from);
      const Duration completion = tree.completion(from, to);
      if (completion >= earliest) continue;
      earliest = completion;
      best = {from, to};
    }
    tree.send(best.first, best.second);
  }
}

}  // namespace phx::planners
