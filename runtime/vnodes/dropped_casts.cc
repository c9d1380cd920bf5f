#include "runtime/vnodes/dropped_casts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace phx::runtime {

void DroppedCasts::add(const collectives::BroadcastPiece& piece, const VnodeSet& vnodes) {
  Losses& losses = roots_[piece.root];
  const std::uint64_t end = piece.number + 1;
  VnodeSet fresh = vnodes;
  std::uint64_t fresh_end = end;
  for (auto at = losses.begin(); at != losses.end();) {
    Lost& lost = at->second;
    const VnodeSet hit = lost.vnodes.common(vnodes);
    if (at->first <= piece.number) {
      fresh = fresh.minus(hit);
      if (!hit.empty()) lost.end = std::max(lost.end, end);
    } else if (!hit.empty()) {
      fresh_end = std::max(fresh_end, lost.end);
      lost.vnodes = lost.vnodes.minus(hit);
    }
    at = lost.vnodes.empty() ? losses.erase(at) : std::next(at);
  }
  const auto join = [](Lost& into, const VnodeSet& more, std::uint64_t more_end) {
    into.vnodes = into.vnodes.united(more);
    into.end = std::max(into.end, more_end);
  };
  if (!fresh.empty()) join(losses[piece.number], fresh, fresh_end);
  if (losses.size() <= kNumbersMost) return;
  const auto last = std::prev(losses.end());
  join(std::prev(last)->second, last->second.vnodes, last->second.end);
  losses.erase(last);
}

std::vector<CastCredit> DroppedCasts::take(const VnodeSet& vnodes) {
  std::vector<CastCredit> credits;
  for (auto root = roots_.begin(); root != roots_.end();) {
    Losses& losses = root->second;
    for (auto at = losses.begin(); at != losses.end();) {
      Lost& lost = at->second;
      VnodeSet told = lost.vnodes.common(vnodes);
      lost.vnodes = lost.vnodes.minus(vnodes);
      if (!told.empty()) {
        credits.push_back({root->first, std::move(told), 0, 0, at->first, lost.end});
      }
      at = lost.vnodes.empty() ? losses.erase(at) : std::next(at);
    }
    root = losses.empty() ? roots_.erase(root) : std::next(root);
  }
  return credits;
}

}  // namespace phx::runtime
