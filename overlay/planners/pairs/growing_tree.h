#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/planners/pairs/pair_planners.h"

namespace phx::planners {

/// A tree that grows edge by edge, and when each processor in it can send next.
class GrowingTree {
 public:
  explicit GrowingTree(const PairTask& task);

  /// Who has the message, in the order in which they got it.
  [[nodiscard]] const std::vector<std::size_t>& members() const { return members_; }
  [[nodiscard]] bool has(std::size_t i) const { return has_[i]; }
  [[nodiscard]] bool is_complete() const { return members_.size() == has_.size(); }
  /// When this member can send next.
  [[nodiscard]] Duration ready(std::size_t member) const { return ready_[member]; }
  /// When `to` had it, if `from` sent next to it.
  [[nodiscard]] Duration completion(std::size_t from, std::size_t to) const {
    return ready_[from] + task_.costs.arrival(from, to);
  }
  [[nodiscard]] const PairTask& task() const { return task_; }
  /// Counts a look at so many pairs.
  void looked(std::size_t pairs) const {
    if (task_.looks != nullptr) *task_.looks += pairs;
  }

  /// REQUIRES that `from` has it and `to` does not.
  void send(std::size_t from, std::size_t to);
  [[nodiscard]] PairTree take() { return std::move(tree_); }

 private:
  PairTask task_;
  PairTree tree_;
  std::vector<std::size_t> members_;
  std::vector<bool> has_;
  std::vector<Duration> ready_;
};

/// For each processor those who wait, the nearest first: O(N log N) for each, and then hardly
/// anything for each question.
class NearestWaiting {
 public:
  /// `waits`: of those who do not have the message, who counts; may only become fewer. Empty: all.
  explicit NearestWaiting(const GrowingTree& tree, std::function<bool(std::size_t)> waits = {})
      : tree_(tree),
        waits_(std::move(waits)),
        orders_(tree.task().costs.size()),
        next_(orders_.size()) {}

  /// Whom this one reaches in the shortest time, itself left out; it may wait itself. Of equals,
  /// the first position. Empty: nobody else waits.
  [[nodiscard]] std::optional<std::size_t> of(std::size_t sender);
  /// Others wait now.
  void restart() { std::ranges::fill(next_, 0); }

 private:
  const GrowingTree& tree_;
  std::function<bool(std::size_t)> waits_;
  std::vector<std::vector<std::uint32_t>> orders_;  ///< Made when first asked for.
  std::vector<std::size_t> next_;                   ///< All before this do not wait, or are it.
};

/// Serves all that are left, always the one that completes first.
void complete_earliest_first(GrowingTree& tree);

}  // namespace phx::planners
