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
      : tree_(task),
        costs_(task.costs),
        first_(first),
        clusters_(task.network.clusters()),
        waiting_(tree_, [this](std::size_t i) { return waits(i); }) {
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

  /// Members of a sender's cluster, the cheapest first.
  struct Helpers {
    std::vector<std::size_t> order;  ///< Made when first asked for.
    std::size_t next = 0;            ///< All before this have the message.
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
    waiting_.restart();
    helpers_.assign(costs_.size(), {});
    while (waiting_.of(tree_.members().front())) take(best_step());
  }
  /// Belongs to B1: the members of the clusters that nobody has reached.
  [[nodiscard]] bool waits(std::size_t i) const {
    return seats_[i] != kNoSeat && !marked_[seats_[i]];
  }

  [[nodiscard]] Step best_step() {
    Step best;
    for (const std::size_t sender : tree_.members()) {
      tree_.looked(1);
      Step step{sender, *waiting_.of(sender), helper_of(sender), {}};
      step.ready = tree_.completion(sender, step.newcomer);
      if (step.helper && first_ == First::kHelper) step.ready += costs_.busy(sender, *step.helper);
      if (step.ready < best.ready) best = step;
    }
    return best;
  }

  /// Whom the sender can serve in its own cluster of this level while it is busy for the least
  /// time.
  [[nodiscard]] std::optional<std::size_t> helper_of(std::size_t sender) {
    if (seats_[sender] == kNoSeat) return std::nullopt;
    Helpers& helpers = helpers_[sender];
    if (helpers.order.empty()) {
      helpers.order = clusters_[seats_[sender]].members;
      std::stable_sort(helpers.order.begin(), helpers.order.end(),
                       [&](std::size_t a, std::size_t b) {
                         tree_.looked(1);
                         return costs_.busy(sender, a) < costs_.busy(sender, b);
                       });
    }
    while (helpers.next < helpers.order.size() && tree_.has(helpers.order[helpers.next])) {
      tree_.looked(1);
      ++helpers.next;
    }
    if (helpers.next == helpers.order.size()) return std::nullopt;
    return helpers.order[helpers.next];
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
  NearestWaiting waiting_;
  std::vector<Helpers> helpers_;  ///< Of each sender on the current level.
};

}  // namespace

PairTree tree_mgo(const PairTask& task) {
  return Mgo(task, Mgo::First::kHelper).run();
}

PairTree tree_mgo_r1_first(const PairTask& task) {
  return Mgo(task, Mgo::First::kNewcomer).run();
}

}  // namespace phx::planners
