#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace phx {

/// A queue with access to all that is in it, which costs 32 bytes while it is empty. A std::deque
/// costs 600 then, and a processor has such queues for each processor and each pair of vnodes that
/// ever spoke with each other. Time: amortized O(1). Not thread-safe. `kKept`: room for so many
/// stays when it is empty again, where one queue is filled and emptied all the time.
template <class T, std::size_t kKept = 0>
class Queue {
 public:
  void push_back(const T& value) { items_.push_back(value); }
  void push_back(T&& value) { items_.push_back(std::move(value)); }
  template <class... Parts>
  void emplace_back(Parts&&... parts) {
    items_.emplace_back(std::forward<Parts>(parts)...);
  }
  /// REQUIRES !empty(), as front().
  void pop_front() { drop_front(1); }
  /// Removes the first `count`; what they held is free at once. REQUIRES count <= size().
  void drop_front(std::size_t count) {
    const std::size_t end = first_ + count;
    if (end == items_.size()) {
      items_.clear();
      if (items_.capacity() > kKept) items_ = std::vector<T>();
      first_ = 0;
      return;
    }
    for (; first_ < end; ++first_) static_cast<void>(T(std::move(items_[first_])));
    if (2 * first_ > items_.size()) {
      items_.erase(items_.begin(), begin());
      first_ = 0;
    }
  }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size() - first_; }
  [[nodiscard]] T& front() { return items_[first_]; }
  [[nodiscard]] const T& front() const { return items_[first_]; }
  /// REQUIRES index < size(); 0 is the front.
  [[nodiscard]] T& operator[](std::size_t index) { return items_[first_ + index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return items_[first_ + index]; }
  [[nodiscard]] auto begin() { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  [[nodiscard]] auto end() const { return items_.end(); }

  friend bool operator==(const Queue& a, const Queue& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::vector<T> items_;   ///< Those before `first_` are gone.
  std::size_t first_ = 0;  ///< 0 if the queue is empty.
};

}  // namespace phx
