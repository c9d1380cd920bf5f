#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace phx {

/// The room of a list that is filled, dealt with and dropped again and again: kept in between, so
/// that a short list, of `kMost` at most, costs no memory of the heap. Not thread-safe.
template <class T, std::size_t kMost = 8>
class SpareRoom {
 public:
  /// An empty list. Who comes before the last one was given back gets one without room.
  [[nodiscard]] std::vector<T> take() { return std::exchange(room_, {}); }
  /// What is in `list`, which is empty afterwards.
  [[nodiscard]] std::vector<T> take_from(std::vector<T>& list) {
    return list.empty() ? std::vector<T>() : std::exchange(list, take());
  }
  /// What is in it ends now. A long list gives its room back to the heap.
  void give_back(std::vector<T>&& list) {
    list.clear();
    if (list.capacity() > room_.capacity() && list.capacity() <= kMost) room_ = std::move(list);
  }

 private:
  std::vector<T> room_;
};

}  // namespace phx
