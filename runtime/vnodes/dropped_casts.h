#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// Pieces of broadcasts that a daemon dropped because there was no room: what it has to tell the
/// roots when there is some again. One entry per root, whatever was dropped. Not thread-safe.
class DroppedCasts {
 public:
  void add(const collectives::BroadcastPiece& piece, const VnodeSet& vnodes) {
    Lost& lost = roots_.try_emplace(piece.root, Lost{piece.number, {}}).first->second;
    lost.first = std::min(lost.first, piece.number);
    lost.vnodes = lost.vnodes.united(vnodes);
  }
  /// For the roots, as far as it was for these vnodes: nobody is told twice.
  [[nodiscard]] std::vector<CastCredit> take(const VnodeSet& vnodes) {
    std::vector<CastCredit> credits;
    for (auto at = roots_.begin(); at != roots_.end();) {
      VnodeSet told = at->second.vnodes.common(vnodes);
      at->second.vnodes = at->second.vnodes.minus(vnodes);
      if (!told.empty()) credits.push_back({at->first, std::move(told), 0, 0, at->second.first});
      at = at->second.vnodes.empty() ? roots_.erase(at) : std::next(at);
    }
    return credits;
  }
  [[nodiscard]] bool empty() const { return roots_.empty(); }

 private:
  struct Lost {
    std::uint64_t first = 0;
    VnodeSet vnodes;
  };
  std::map<VnodeId, Lost> roots_;
};

}  // namespace phx::runtime
