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
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// How far a vnode is with the broadcasts of one root, as the root knows it.
struct CastReceiver {
  std::uint64_t received = 0;  ///< It has the pieces below; kFlowClosed: it wants none.
  std::uint64_t limit = 0;     ///< Granted, as an offset.
  std::optional<std::uint64_t> position = std::nullopt;  ///< Out of step: the next piece for it.
  bool is_follower = false;  ///< Out of step, and served together with others that are.
  bool was_asked = false;    ///< As it is held up with nothing on its way.
  std::uint8_t losses = 0;   ///< Said of it along these trees since it got on, up to a limit.

  [[nodiscard]] bool is_open() const { return received != kFlowClosed; }
  [[nodiscard]] bool is_in_step() const { return is_open() && !position; }
  [[nodiscard]] bool is_apart() const { return is_open() && position && !is_follower; }
  [[nodiscard]] bool follows() const { return is_open() && position && is_follower; }
  void come_in_step() {
    position.reset();
    is_follower = false;
  }
  friend bool operator==(const CastReceiver&, const CastReceiver&) = default;
};

/// All vnodes of a job as receivers of one root. Neighbours that are equally far are one range, so
/// the cost of everything here is the number of ranges. Not thread-safe: one owner.
class CastReceivers {
 public:
  struct Range {
    VnodeSet::Range vnodes;
    const CastReceiver& state;
    [[nodiscard]] std::uint64_t size() const { return vnodes.last.value - vnodes.first.value + 1; }
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
  /// The lowest position of followers.
  [[nodiscard]] std::optional<std::uint64_t> followed() const;
  /// The position of the middle one of all that are out of step.
  [[nodiscard]] std::optional<std::uint64_t> middle() const;
  void check_invariants() const;

 private:
  std::uint64_t total_;
  std::uint64_t unasked_;
  /// By the first vnode of each range; it ends before the next one.
  std::map<VnodeId, CastReceiver> states_;
  std::size_t out_of_step_ = 0;  ///< Ranges.
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
      if (each->second.position) --out_of_step_;
      change(each->second);
      if (each->second.position) ++out_of_step_;
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
