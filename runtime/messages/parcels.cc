#include "runtime/messages/parcels.h"

#include <algorithm>
#include <utility>

#include "runtime/messages/weight.h"

namespace phx::runtime {
namespace {

template <class Stream>
std::size_t entries_of(const StreamTable<Stream>& streams) {
  return std::max(streams.active().size(), streams.resting().runs().size());
}

/// The longest list in `bundle`.
std::size_t entries_of(const VnodeBundle& bundle) {
  std::size_t most =
      std::max({bundle.mailbox.size(), entries_of(bundle.to_vnodes), bundle.reductions.size(),
                bundle.to_targets.size(), bundle.as_target.askers.size(),
                bundle.as_target.pending.size(), bundle.casting.kept.size(),
                bundle.casting.receivers.size(), bundle.from_roots.resting_partners()});
  for (const auto* streams : {&bundle.from_vnodes, &bundle.from_roots}) {
    most = std::max(most, entries_of(*streams));
    for (const auto& [from, inbound] : streams->active()) {
      most = std::max({most, inbound.begun.size(), inbound.early.size()});
    }
  }
  for (const auto& [to, flow] : bundle.to_vnodes.active()) most = std::max(most, flow.kept.size());
  for (const auto& [to, given] : bundle.to_targets) most = std::max(most, given.kept.size());
  return most;
}

}  // namespace

std::string why_immovable(VnodeId vnode, const VnodeBundle& bundle) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  const Weight weight = weight_of(bundle);
  if (weight.payload > kVnodeBytesMax) {
    return to_string(vnode) + " cannot move: its state and messages take " +
           std::to_string(weight.payload / kMiB) + " MiB, and at most " +
           std::to_string(kVnodeBytesMax / kMiB) + " MiB can move; cut it into more vnodes";
  }
  if (weight.header > kVnodeHeaderMax) {
    return to_string(vnode) + " cannot move: its messages and counters take " +
           std::to_string(weight.header / kMiB) + " MiB besides their contents, and at most " +
           std::to_string(kVnodeHeaderMax / kMiB) + " MiB can move; receive more often";
  }
  const std::size_t entries = entries_of(bundle);
  if (entries <= kVnodeEntriesMax) return {};
  return to_string(vnode) + " cannot move: it has " + std::to_string(entries) +
         " messages or counters of one kind, and at most " + std::to_string(kVnodeEntriesMax) +
         " can move; receive more often";
}

std::vector<std::vector<VnodeParcel>> in_portions(std::vector<VnodeParcel> parcels) {
  std::vector<std::vector<VnodeParcel>> portions;
  std::uint64_t bytes = 0;
  for (VnodeParcel& parcel : parcels) {
    const std::uint64_t size = weight_of(parcel).total();
    if (portions.empty() || bytes + size > kParcelsBytes) {
      portions.emplace_back();
      bytes = 0;
    }
    bytes += size;
    portions.back().push_back(std::move(parcel));
  }
  return portions;
}

}  // namespace phx::runtime
