#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "overlay/base/ids.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// The results of reductions that a call waits for: other calls leave them where they are. Not
/// thread-safe.
class ReservedResults {
 public:
  /// `at` gets the results `first`, ..., `first + pieces - 1` of reductions towards `target`.
  void add(Message::Kind kind, VnodeId at, VnodeId target, std::uint64_t first,
           std::uint64_t pieces) {
    ends_[{kind, at, target, first}] = first + pieces;
  }
  /// The first one of those has been taken.
  void remove(Message::Kind kind, VnodeId at, VnodeId target, std::uint64_t number) {
    auto node = ends_.extract({kind, at, target, number});
    if (node.empty() || node.mapped() == number + 1) return;
    node.key() = {kind, at, target, number + 1};
    ends_.insert(std::move(node));
  }
  /// Nobody waits for those of them any more that have not been taken.
  void release(Message::Kind kind, VnodeId at, VnodeId target, std::uint64_t first,
               std::uint64_t pieces) {
    ends_.erase(ends_.lower_bound({kind, at, target, first}),
                ends_.lower_bound({kind, at, target, first + pieces}));
  }
  [[nodiscard]] bool contains(VnodeId at, const Message& message) const {
    const Key key{message.kind, at, message.from, message.number};
    const auto next = ends_.upper_bound(key);
    if (next == ends_.begin()) return false;
    const auto& [begin, end] = *std::prev(next);
    const auto& [kind, vnode, target, first] = begin;
    return kind == message.kind && vnode == at && target == message.from && message.number < end;
  }
  [[nodiscard]] bool empty() const { return ends_.empty(); }

 private:
  using Key = std::tuple<Message::Kind, VnodeId, VnodeId, std::uint64_t>;
  std::map<Key, std::uint64_t> ends_;  ///< By the first number of each.
};

}  // namespace phx::runtime
