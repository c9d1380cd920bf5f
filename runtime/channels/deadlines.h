#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "overlay/base/time.h"

namespace phx::runtime {

/// Deadlines by key, the earliest first. A key that is due leaves; O(log n) everywhere.
/// Meant for timers that may fire early: whoever takes one checks whether anything is really due,
/// so that a hot path need not move a deadline with every message.
template <class Key>
class Deadlines {
 public:
  /// Makes sure `key` fires at `at` or before.
  void arm(const Key& key, Instant at) {
    const auto [entry, is_new] = at_.try_emplace(key, at);
    if (!is_new) {
      if (entry->second <= at) return;
      order_.erase({entry->second, key});
      entry->second = at;
    }
    order_.emplace(at, key);
  }
  void disarm(const Key& key) {
    const auto entry = at_.find(key);
    if (entry == at_.end()) return;
    order_.erase({entry->second, key});
    at_.erase(entry);
  }
  [[nodiscard]] std::optional<Instant> next() const {
    if (order_.empty()) return std::nullopt;
    return order_.begin()->first;
  }
  /// Takes out the earliest key that is due; empty if none is.
  [[nodiscard]] std::optional<Key> take_due(Instant now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    const Key key = order_.begin()->second;
    order_.erase(order_.begin());
    at_.erase(key);
    return key;
  }
  [[nodiscard]] bool is_armed(const Key& key) const { return at_.contains(key); }

 private:
  std::set<std::pair<Instant, Key>> order_;
  std::map<Key, Instant> at_;
};

}  // namespace phx::runtime
