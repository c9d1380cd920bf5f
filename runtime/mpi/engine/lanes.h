#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

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
    Item* before = nullptr;  ///< In its lane.
    Item* after = nullptr;
    typename std::list<Item>::iterator place{};
  };

  void add(std::size_t lane, T value) {
    if (spare_.empty()) spare_.emplace_back();
    all_.splice(all_.end(), spare_, spare_.begin());
    if (lane >= lanes_.size()) lanes_.resize(lane + 1);
    Ends& ends = lanes_[lane];
    Item& item = all_.back();
    item.value = std::move(value);
    item.order = ++orders_;
    item.lane = lane;
    item.before = std::exchange(ends.last, &item);
    item.after = nullptr;
    item.place = std::prev(all_.end());
    (item.before == nullptr ? ends.first : item.before->after) = &item;
  }
  /// The oldest for which fits(value); null: none. `looks` grows by those that were looked at.
  template <class F>
  [[nodiscard]] Item* find(std::size_t lane, F fits, std::uint64_t& looks) {
    Item* item = lane < lanes_.size() ? lanes_[lane].first : nullptr;
    for (; item != nullptr; item = item->after) {
      ++looks;
      if (fits(item->value)) return item;
    }
    return nullptr;
  }
  /// The same of all lanes.
  template <class F>
  [[nodiscard]] Item* find(F fits, std::uint64_t& looks) {
    for (Item& item : all_) {
      ++looks;
      if (fits(item.value)) return &item;
    }
    return nullptr;
  }
  T take(Item& item) {
    Ends& ends = lanes_[item.lane];
    (item.before == nullptr ? ends.first : item.before->after) = item.after;
    (item.after == nullptr ? ends.last : item.after->before) = item.before;
    T value = std::exchange(item.value, T{});
    if (spare_.size() < kSpares) {
      spare_.splice(spare_.end(), all_, item.place);
    } else {
      all_.erase(item.place);
    }
    return value;
  }
  [[nodiscard]] bool is_empty() const { return all_.empty(); }

 private:
  struct Ends {
    Item* first = nullptr;
    Item* last = nullptr;
  };
  static constexpr std::size_t kSpares = 16;  ///< Memory that is used again [limit].

  std::list<Item> all_;
  std::list<Item> spare_;
  std::vector<Ends> lanes_;
  std::uint64_t orders_ = 0;
};

}  // namespace phx::mpi
