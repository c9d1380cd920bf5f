#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// Pieces of broadcasts that a daemon dropped because there was no room: what it has to tell the
/// roots when there is some again. For each root and vnode the first of them; of a root's vnodes
/// that are in step that is one number. Not thread-safe: one owner.
class DroppedCasts {
 public:
  /// Different numbers of one root [limit]. Beyond that a vnode may be told a lower one than its
  /// own, so that it gets more again than it has lost.
  static constexpr std::size_t kNumbersMost = 8;

  void add(const collectives::BroadcastPiece& piece, const VnodeSet& vnodes);
  /// For the roots, as far as it was for these vnodes: nobody is told twice.
  [[nodiscard]] std::vector<CastCredit> take(const VnodeSet& vnodes);
  [[nodiscard]] bool empty() const { return roots_.empty(); }

 private:
  struct Lost {
    VnodeSet vnodes;
    std::uint64_t end = 0;  ///< Behind the last one.
  };
  /// By the number of the first piece that they have lost: each vnode is in one set.
  using Losses = std::map<std::uint64_t, Lost>;
  std::map<VnodeId, Losses> roots_;
};

}  // namespace phx::runtime
