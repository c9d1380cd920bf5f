#include "runtime/endpoint/kept_news.h"

#include <algorithm>

#include "runtime/messages/parcels.h"

namespace phx::runtime {
namespace {

/// Calls `act(vnode, bytes)` for those of `vnodes` that keep more than `least` bytes.
template <class Act>
void for_each_keeper(const Outflows& flows, const CastOutflows& casts, const VnodeSet& vnodes,
                     std::uint64_t least, Act act) {
  if (flows.kept_bytes() + casts.kept_bytes() <= least) return;
  for (const VnodeId vnode : vnodes.ids()) {
    const std::uint64_t bytes = flows.kept_bytes(vnode) + casts.kept_bytes(vnode);
    if (bytes > least) act(vnode, bytes);
  }
}

}  // namespace

bool KeptNews::has_news(const Outflows& flows, const CastOutflows& casts) const {
  constexpr std::uint64_t kFactor = 4;
  const std::uint64_t kept = flows.kept_bytes() + casts.kept_bytes();
  if (told_ == 0) return kept >= least_;
  return kept >= kFactor * told_ || kept <= told_ / kFactor;
}

std::optional<AppKeeps> KeptNews::take(const Outflows& flows, const CastOutflows& casts,
                                       const VnodeSet& vnodes) {
  constexpr std::uint64_t kNamed = 64;
  if (!has_news(flows, casts)) return std::nullopt;
  const std::uint64_t kept = flows.kept_bytes() + casts.kept_bytes();
  const bool is_much = kept >= least_;
  told_ = is_much ? kept : 0;
  AppKeeps keeps;
  const std::uint64_t least = std::max(least_ - 1, kept / kNamed);
  for_each_keeper(flows, casts, vnodes, least, [&](VnodeId vnode, std::uint64_t bytes) {
    keeps.vnodes.push_back({vnode, bytes});
  });
  return keeps;
}

VnodeSet immovable(const Outflows& flows, const CastOutflows& casts, const VnodeSet& vnodes) {
  VnodeSet result;
  for_each_keeper(flows, casts, vnodes, kVnodeKeptMax,
                  [&](VnodeId vnode, std::uint64_t) { result.insert(vnode); });
  return result;
}

}  // namespace phx::runtime
