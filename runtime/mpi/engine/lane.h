#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace phx::mpi {

/// What waits in a lane, in order, and found by tag: side by side in memory, and with an index as
/// soon as somebody has looked at many in vain. So 20,000 that wait, and are asked for from the
/// last one on, cost a look each. Does not own the items. Not thread-safe: one owner.
template <class Item>
class Lane {
 public:
  static constexpr int kAnyTag = -1;  ///< Fits all: of what waits, or of what is looked for.

  /// `order`: higher than that of all before.
  void add(std::uint64_t order, int tag, Item& item) {
    slots_.push_back({order, &item, tag, kNone});
    ++live_;
    if (is_indexed_) link(slots_.size() - 1);
  }
  /// The oldest that fits; null: none. `looks` grows by those that were looked at.
  [[nodiscard]] Item* find(int tag, std::uint64_t& looks) {
    for (std::size_t at = begin_; at < slots_.size() && !(is_indexed_ && tag != kAnyTag); ++at) {
      const Slot& slot = slots_[at];
      ++looks;
      const bool fits = tag == kAnyTag || slot.tag == tag || slot.tag == kAnyTag;
      if (fits && slot.item != nullptr) return slot.item;
      if (tag != kAnyTag && at - begin_ > kLong) index();
    }
    if (!is_indexed_ || tag == kAnyTag) return nullptr;
    const std::size_t first = std::min(first_with(tag, looks), first_with(kAnyTag, looks));
    return first == kNone ? nullptr : slots_[first].item;
  }
  /// The oldest for which is_it(item): a look at all of them.
  template <class F>
  [[nodiscard]] Item* find_that(F is_it) const {
    for (std::size_t at = begin_; at < slots_.size(); ++at) {
      const Slot& slot = slots_[at];
      if (slot.item != nullptr && is_it(*slot.item)) return slot.item;
    }
    return nullptr;
  }
  /// What was added with this order waits no longer.
  void remove(std::uint64_t order) {
    const auto from = slots_.begin() + static_cast<std::ptrdiff_t>(begin_);
    std::ranges::lower_bound(from, slots_.end(), order, {}, &Slot::order)->item = nullptr;
    if (--live_ == 0) return clear();
    while (slots_[begin_].item == nullptr) ++begin_;
    if (slots_.size() > 2 * live_ + kLong) compact();
  }

 private:
  /// One that waits no longer has no item.
  struct Slot {
    std::uint64_t order;
    Item* item;
    int tag;
    std::uint32_t next;  ///< The next one with this tag; kNone: not known to the index.
  };
  struct Chain {
    std::uint32_t first;
    std::uint32_t last;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::size_t kLong = 64;     ///< So many are looked at without an index.
  static constexpr std::size_t kKept = 1'024;  ///< Slots, whose memory is used again [limit].

  void link(std::size_t at) {
    const auto place = static_cast<std::uint32_t>(at);
    const auto [found, is_new] = index_.try_emplace(slots_[at].tag, Chain{place, place});
    if (is_new) return;
    slots_[found->second.last].next = place;
    found->second.last = place;
  }
  void index() {
    is_indexed_ = true;
    for (std::size_t at = begin_; at < slots_.size(); ++at) {
      slots_[at].next = kNone;
      if (slots_[at].item != nullptr) link(at);
    }
  }
  [[nodiscard]] std::size_t first_with(int tag, std::uint64_t& looks) {
    const auto found = index_.find(tag);
    if (found == index_.end()) return kNone;
    std::uint32_t& first = found->second.first;
    for (; first != kNone; first = slots_[first].next) {
      ++looks;
      if (slots_[first].item != nullptr) return first;
    }
    index_.erase(found);
    return kNone;
  }
  void drop_index() {
    is_indexed_ = false;
    index_.clear();
  }
  void compact() {
    drop_index();
    std::erase_if(slots_, [](const Slot& slot) { return slot.item == nullptr; });
    begin_ = 0;
  }
  void clear() {
    if (is_indexed_) drop_index();
    slots_.clear();
    if (slots_.capacity() > kKept) slots_.shrink_to_fit();
    begin_ = 0;
  }

  std::vector<Slot> slots_;
  std::size_t begin_ = 0;  ///< The first that waits.
  std::size_t live_ = 0;
  bool is_indexed_ = false;
  std::unordered_map<int, Chain> index_;  ///< By tag; only for look-ups.
};

}  // namespace phx::mpi
