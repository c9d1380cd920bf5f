#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/endpoint/cast_receiver.h"
#include "runtime/endpoint/vnode_counts.h"

namespace phx::runtime {

/// All vnodes of a job as receivers of one root. Neighbours that are equally far are one range, so
/// the cost of looking at all is the number of ranges; what each answer needs is kept up to date.
/// Not thread-safe: one owner.
class CastReceivers {
 public:
  struct Range {
    VnodeSet::Range vnodes;
    const CastReceiver& state;
    [[nodiscard]] std::uint64_t size() const { return vnodes.last.value - vnodes.first.value + 1; }
  };
  /// Of those in step.
  struct Progress {
    VnodeCounts limits;
    VnodeCounts received;
  };
  /// What some of them allow together.
  struct Pace {
    VnodeSet vnodes;
    std::uint64_t slowest = 0;   ///< The lowest limit.
    std::uint64_t fastest = 0;   ///< The highest one.
    std::uint64_t median = 0;    ///< Half of them may go on up to here.
    std::uint64_t received = 0;  ///< Half of them have the pieces below.
  };

  /// Nothing has been heard of any of them. `unasked`: their limit until they give another one.
  CastReceivers(std::uint64_t vnodes, std::uint64_t unasked, std::uint64_t received = 0)
      : total_(vnodes), unasked_(unasked) {
    states_.emplace(VnodeId{0}, CastReceiver{.received = received});
    count(states_.begin(), true);
  }

  // Commands.
  /// Applies `change` to the states of these vnodes.
  template <class Change>
  void change(const VnodeSet& vnodes, Change change);

  // Queries.
  /// Nobody is out of step. In constant time: as a rule it is so.
  [[nodiscard]] bool are_in_step() const { return out_of_step_ == 0; }
  [[nodiscard]] std::uint64_t limit(const CastReceiver& state) const {
    return std::max(state.limit, unasked_);
  }
  template <class Visit>  ///< With each Range, by ascending vnodes.
  void for_each(Visit visit) const {
    for (auto at = states_.begin(); at != states_.end(); ++at) {
      const auto next = std::next(at);
      const std::uint64_t end = next == states_.end() ? total_ : next->first.value;
      visit(Range{{at->first, VnodeId{end - 1}}, at->second});
    }
  }
  template <class Select>  ///< The vnodes of whose state `is_wanted` holds.
  [[nodiscard]] VnodeSet select(Select is_wanted) const {
    VnodeSet vnodes;
    for_each([&](const Range& range) {
      if (is_wanted(range.state)) vnodes.insert(range.vnodes);
    });
    return vnodes;
  }
  template <class Select>
  [[nodiscard]] bool any(Select is_wanted) const {
    return std::any_of(states_.begin(), states_.end(),
                       [&](const auto& one) { return is_wanted(one.second); });
  }
  /// Of those of whom `is_wanted` holds.
  [[nodiscard]] Pace pace(const std::function<bool(const CastReceiver&)>& is_wanted) const;
  [[nodiscard]] Pace pace_in_step() const;
  [[nodiscard]] const Progress& in_step() const { return in_step_; }
  /// Everybody has the pieces below; kFlowClosed: nobody wants any.
  [[nodiscard]] std::uint64_t received_by_all() const { return received_.lowest(); }
  /// The lowest position of followers.
  [[nodiscard]] std::optional<std::uint64_t> followed() const;
  /// The position of the middle one of all that are out of step.
  [[nodiscard]] std::optional<std::uint64_t> middle() const;
  void check_invariants() const;

 private:
  using States = std::map<VnodeId, CastReceiver>;
  [[nodiscard]] std::uint64_t size_of(States::const_iterator range) const;
  /// Takes the range into what is kept up to date, or out of it.
  void count(States::const_iterator range, bool is_in);

  std::uint64_t total_;
  std::uint64_t unasked_;
  States states_;                ///< By the first vnode of each range; it ends before the next one.
  std::size_t out_of_step_ = 0;  ///< Ranges.
  Progress in_step_;
  VnodeCounts received_;                            ///< Of all.
  mutable std::optional<VnodeSet> vnodes_in_step_;  ///< If they have not changed since.
};

/// Joins neighbours that are equal then.
template <class Change>
void CastReceivers::change(const VnodeSet& vnodes, Change change) {
  const auto split = [&](std::uint64_t first) {
    const VnodeId id{first};
    if (first >= total_) return states_.end();
    const auto at = std::prev(states_.upper_bound(id));
    if (at->first == id) return at;
    if (at->second.position) ++out_of_step_;
    return states_.emplace_hint(std::next(at), id, at->second);
  };
  for (const VnodeSet::Range& range : vnodes.ranges()) {
    if (range.first.value >= total_) break;
    auto at = split(range.first.value);
    const auto end = split(range.last.value + 1);
    for (auto each = at; each != end; ++each) {
      const bool was_in_step = each->second.is_in_step();
      if (each->second.position) --out_of_step_;
      count(each, false);
      change(each->second);
      count(each, true);
      if (each->second.position) ++out_of_step_;
      if (each->second.is_in_step() != was_in_step) vnodes_in_step_.reset();
    }
    if (at != states_.begin()) --at;
    const VnodeId behind{range.last.value + 1};
    for (auto next = std::next(at); next != states_.end() && next->first <= behind;) {
      if (next->second == at->second) {
        if (next->second.position) --out_of_step_;
        next = states_.erase(next);
      } else {
        at = next++;
      }
    }
  }
}

}  // namespace phx::runtime
