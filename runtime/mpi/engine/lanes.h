#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

#include "runtime/mpi/engine/lane.h"

namespace phx::mpi {

/// What waits, in order, and each in a lane: so those of one lane are found without a look at the
/// others. Not thread-safe: one owner.
template <class T>
class Lanes {
 public:
  struct Item {
    T value;
    std::uint64_t order = 0;  ///< Lower ones came before.
    std::size_t lane = 0;
    typename std::list<Item>::iterator place{};
  };

  void add(std::size_t lane, int tag, T value) {
    if (spare_.empty()) spare_.emplace_back();
    items_.splice(items_.end(), spare_, spare_.begin());
    if (lane >= lanes_.size()) lanes_.resize(lane + 1);
    Item& item = items_.back();
    item.value = std::move(value);
    item.order = ++orders_;
    item.lane = lane;
    item.place = std::prev(items_.end());
    lanes_[lane].add(item.order, tag, item);
    all_.add(item.order, tag, item);
  }
  /// The oldest that fits the tag; null: none. `looks` grows by those that were looked at.
  [[nodiscard]] Item* find(std::size_t lane, int tag, std::uint64_t& looks) {
    return lane < lanes_.size() ? lanes_[lane].find(tag, looks) : nullptr;
  }
  /// The same of all lanes.
  [[nodiscard]] Item* find(int tag, std::uint64_t& looks) { return all_.find(tag, looks); }
  /// The oldest for which is_it(value).
  template <class F>
  [[nodiscard]] Item* find_that(F is_it) const {
    return all_.find_that([&](const Item& item) { return is_it(item.value); });
  }
  T take(Item& item) {
    lanes_[item.lane].remove(item.order);
    all_.remove(item.order);
    T value = std::exchange(item.value, T{});
    if (spare_.size() < kSpares) {
      spare_.splice(spare_.end(), items_, item.place);
    } else {
      items_.erase(item.place);
    }
    return value;
  }
  [[nodiscard]] bool is_empty() const { return items_.empty(); }

 private:
  static constexpr std::size_t kSpares = 16;  ///< Memory that is used again [limit].

  std::list<Item> items_;
  std::list<Item> spare_;
  std::vector<Lane<Item>> lanes_;
  Lane<Item> all_;
  std::uint64_t orders_ = 0;
};

}  // namespace phx::mpi
