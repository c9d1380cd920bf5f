#include <algorithm>
#include <optional>

#include "overlay/planners/pairs/growing_tree.h"

namespace phx::planners {
namespace {

/// MGO one to many [Li s.3.3], with the corrections that are listed in the README.
class Mgo {
 public:
  /// Who is served first in a step: the helper in the sender's cluster (r2), as the paper has it,
  /// or the first one of the new cluster (r1).
  enum class First : std::uint8_t { kHelper, kNewcomer };

  Mgo(const PairTask& task, First first)
      : tree_(task), costs_(task.costs), first_(first), clusters_(task.network.clusters()) {
    marked_.resize(clusters_.size());
    mark(task.root);
  }

  PairTree run() {
    while (const auto level = current_level()) serve_level(*level);
    complete_earliest_first(tree_);
    return tree_.take();
  }

 private:
  struct Step {
    std::size_t sender = 0;
    std::size_t newcomer = 0;           ///< r1
    std::optional<std::size_t> helper;  ///< r2
    Duration ready = kForever;          ///< When the newcomer has it.
  };

  /// All clusters that this one is in have somebody with the message now.
  void mark(std::size_t member) {
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      if (!marked_[i] && contains(i, member)) marked_[i] = true;
    }
  }
  [[nodiscard]] bool contains(std::size_t cluster, std::size_t member) const {
    const std::vector<std::size_t>& all = clusters_[cluster].members;
    tree_.looked(1);
    return std::binary_search(all.begin(), all.end(), member);
  }
  /// The least level on which a cluster is not marked.
  [[nodiscard]] std::optional<std::size_t> current_level() const {
    std::optional<std::size_t> least;
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      if (!marked_[i] && (!least || clusters_[i].level < *least)) least = clusters_[i].level;
    }
    return least;
  }

  void serve_level(std::size_t level) {
    seats_.assign(costs_.size(), kNoSeat);
    for (std::size_t i = 0; i < clusters_.size(); ++i) {
      if (clusters_[i].level != level) continue;
      for (const std::size_t member : clusters_[i].members) seats_[member] = i;
    }
    while (true) {
      std::vector<std::size_t> waiting;  // B1: members of the clusters that nobody has reached.
      for (std::size_t i = 0; i < costs_.size(); ++i) {
        if (seats_[i] != kNoSeat && !marked_[seats_[i]]) waiting.push_back(i);
      }
      if (waiting.empty()) return;
      take(best_step(waiting));
    }
  }

  [[nodiscard]] Step best_step(const std::vector<std::size_t>& waiting) const {
    Step best;
    for (const std::size_t sender : tree_.members()) {
      Step step{sender, nearest(sender, waiting), helper_of(sender), {}};
      step.ready = tree_.completion(sender, step.newcomer);
      if (step.helper && first_ == First::kHelper) step.ready += costs_.busy(sender, *step.helper);
      if (step.ready < best.ready) best = step;
    }
    return best;
  }

  [[nodiscard]] std::size_t nearest(std::size_t from, const std::vector<std::size_t>& to) const {
    tree_.looked(to.size());
    return *std::min_element(to.begin(), to.end(), [&](std::size_t a, std::size_t b) {
      return costs_.arrival(from, a) < costs_.arrival(from, b);
    });
  }

  /// Whom the sender can serve in its own cluster of this level while it is busy for the least
  /// time.
  [[nodiscard]] std::optional<std::size_t> helper_of(std::size_t sender) const {
    if (seats_[sender] == kNoSeat) return std::nullopt;
    std::optional<std::size_t> best;
    for (const std::size_t member : clusters_[seats_[sender]].members) {
      tree_.looked(1);
      if (tree_.has(member)) continue;
      if (!best || costs_.busy(sender, member) < costs_.busy(sender, *best)) best = member;
    }
    return best;
  }

  void take(const Step& step) {
    if (step.helper && first_ == First::kHelper) tree_.send(step.sender, *step.helper);
    tree_.send(step.sender, step.newcomer);
    if (step.helper && first_ == First::kNewcomer) tree_.send(step.sender, *step.helper);
    mark(step.newcomer);
    if (step.helper) mark(*step.helper);
  }

  static constexpr std::size_t kNoSeat = static_cast<std::size_t>(-1);

  GrowingTree tree_;
  const PairCosts& costs_;
  First first_;
  const std::vector<Cluster>& clusters_;
  std::vector<bool> marked_;
  std::vector<std::size_t> seats_;  ///< The cluster of each position on the current level.
};

}  // namespace

PairTree tree_mgo(const PairTask& task) {
  return Mgo(task, Mgo::First::kHelper).run();
}

PairTree tree_mgo_r1_first(const PairTask& task) {
  return Mgo(task, Mgo::First::kNewcomer).run();
}

}  // namespace phx::planners
