#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"

namespace phx::support {

/// The lower end first.
using Pair = std::pair<ProcessorId, ProcessorId>;
using Weights = std::map<Pair, Duration>;
using Tree = std::set<Pair>;

/// Which groups of processors hang together.
class Groups {
 public:
  /// False: they were one already.
  bool join(ProcessorId a, ProcessorId b) {
    const ProcessorId top_a = top(a);
    const ProcessorId top_b = top(b);
    if (top_a == top_b) return false;
    above_[top_a] = top_b;
    return true;
  }

 private:
  ProcessorId top(ProcessorId id) {
    while (above_.contains(id)) id = above_.at(id);
    return id;
  }
  std::map<ProcessorId, ProcessorId> above_;
};

/// The minimum spanning forest by Kruskal's rule, from `kept` on. Of equal edges that with the
/// lower ends. kForever: no edge.
inline Tree kruskal(const Weights& weights, const Tree& kept = {}) {
  Groups groups;
  Tree tree = kept;
  for (const auto& [a, b] : kept) groups.join(a, b);
  std::vector<std::tuple<Duration, ProcessorId, ProcessorId>> order;
  for (const auto& [ends, weight] : weights) {
    if (weight != kForever) order.emplace_back(weight, ends.first, ends.second);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [weight, low, high] : order) {
    if (groups.join(low, high)) tree.insert({low, high});
  }
  return tree;
}

}  // namespace phx::support
