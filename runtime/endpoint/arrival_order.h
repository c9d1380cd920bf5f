#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "overlay/base/check.h"
#include "overlay/base/ids.h"

namespace phx::runtime {

/// Which vnode each message that waits has come to, by the numbers of their arrivals. Most come at
/// the end and leave from the beginning, for which no memory is asked for; others leave a gap, and
/// gaps never outnumber the rest by much. Not thread-safe.
class ArrivalOrder {
 public:
  /// O(1) for the highest number so far. REQUIRES that it is not there.
  void add(std::uint64_t arrival, VnodeId vnode) {
    auto at = entries_.end();
    if (!entries_.empty() && entries_.back().arrival > arrival) at = find(arrival);
    entries_.insert(at, {arrival, vnode, false});
  }
  /// O(1) for the lowest number, O(log n) on average. REQUIRES that it is there.
  void remove(std::uint64_t arrival) {
    const bool is_first = !entries_.empty() && entries_.front().arrival == arrival;
    const auto at = is_first ? entries_.begin() : find(arrival);
    PHX_CHECK(at != entries_.end() && at->arrival == arrival && !at->is_gap);
    at->is_gap = true;
    ++gaps_;
    for (; !entries_.empty() && entries_.front().is_gap; --gaps_) entries_.pop_front();
    if (gaps_ <= size() + kGapsAllowed) return;
    std::erase_if(entries_, [](const Entry& entry) { return entry.is_gap; });
    gaps_ = 0;
  }

  [[nodiscard]] std::size_t size() const { return entries_.size() - gaps_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  /// Calls `use(arrival, vnode)` in this order until that returns true: then alone it may change
  /// something here. Of arrivals from `since` on.
  template <class Use>
  void find_if(Use use, std::uint64_t since = 0) const {
    auto at = entries_.begin();
    if (since > 0) at = std::ranges::lower_bound(entries_, since, {}, &Entry::arrival);
    for (; at != entries_.end(); ++at) {
      if (!at->is_gap && use(at->arrival, at->vnode)) return;
    }
  }

 private:
  struct Entry {
    std::uint64_t arrival = 0;
    VnodeId vnode;
    bool is_gap = false;
  };
  static constexpr std::size_t kGapsAllowed = 32;

  [[nodiscard]] std::deque<Entry>::iterator find(std::uint64_t arrival) {
    return std::ranges::lower_bound(entries_, arrival, {}, &Entry::arrival);
  }

  std::deque<Entry> entries_;  ///< Ascending; the first one is no gap.
  std::size_t gaps_ = 0;
};

}  // namespace phx::runtime
