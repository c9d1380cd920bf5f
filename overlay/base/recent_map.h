#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace phx {

/// The entries that were added last, by key: beyond `most` the one that was added first goes,
/// whatever its key. Not thread-safe.
template <class Key, class Value>
class RecentMap {
 public:
  explicit RecentMap(std::size_t most) : most_(most) {}

  /// Replaces the value of a key that is there; that does not make it younger.
  void put(Key key, Value value) {
    if (!values_.insert_or_assign(key, std::move(value)).second) return;
    order_.push_back(std::move(key));
    if (order_.size() <= most_) return;
    values_.erase(order_.front());
    order_.pop_front();
  }
  /// Null: it never was there, or it had to go. Valid until the next put().
  [[nodiscard]] const Value* find(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }
  /// Calls `see` with each value, the oldest first.
  template <class See>
  void for_each(See see) const {
    for (const Key& key : order_) see(values_.at(key));
  }

 private:
  std::size_t most_;
  std::map<Key, Value> values_;
  std::deque<Key> order_;  ///< The keys, the oldest first.
};

}  // namespace phx
