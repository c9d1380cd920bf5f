#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace phx::runtime {

/// A queue with access to all that is in it. A std::deque costs 0.6 kB while it is empty, and a
/// processor has two of them for each one that it ever spoke with. Not thread-safe.
template <class T>
class Fifo {
 public:
  void push_back(T value) {
    if (size_ == ring_.size()) grow();
    ring_[place(size_)] = std::make_unique<T>(std::move(value));
    ++size_;
  }
  /// REQUIRES !empty(), as front().
  void pop_front() {
    ring_[first_].reset();
    first_ = place(1);
    --size_;
  }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& front() { return *ring_[first_]; }
  [[nodiscard]] const T& front() const { return *ring_[first_]; }
  /// REQUIRES index < size(); 0 is the front.
  [[nodiscard]] const T& operator[](std::size_t index) const { return *ring_[place(index)]; }

 private:
  [[nodiscard]] std::size_t place(std::size_t index) const {
    return (first_ + index) % ring_.size();
  }
  void grow() {
    constexpr std::size_t kFirst = 2;
    std::vector<std::unique_ptr<T>> larger(ring_.empty() ? kFirst : 2 * ring_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(ring_[place(i)]);
    ring_ = std::move(larger);
    first_ = 0;
  }

  std::vector<std::unique_ptr<T>> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace phx::runtime
