#include "runtime/parcels.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace phx::runtime {
namespace {

constexpr std::uint64_t kSmall = 64;  // an entry without variable parts

std::uint64_t bytes_of(const std::vector<collectives::ReductionPart>& parts) {
  std::uint64_t bytes = 0;
  for (const auto& part : parts) {
    bytes += kSmall + 16 * part.covered.ranges().size() + part.value.size();
  }
  return bytes;
}

struct DeliveryBytes {
  std::uint64_t operator()(const PointToPoint& m) const { return kSmall + m.payload.size(); }
  std::uint64_t operator()(const BroadcastDelivery& m) const {
    return kSmall + 16 * m.to.ranges().size() + m.piece.payload.size();
  }
  std::uint64_t operator()(const collectives::ReductionToken& m) const {
    return kSmall + bytes_of(m.parts);
  }
};

std::uint64_t bytes_of(const VnodeBundle::Inbound& inbound) {
  std::uint64_t bytes = kSmall;
  for (const Payload& piece : inbound.begun) bytes += piece.size();
  for (const auto& [seq, delivery] : inbound.early) bytes += std::visit(DeliveryBytes{}, delivery);
  return bytes;
}

/// The longest list in `bundle`.
std::size_t entries_of(const VnodeBundle& bundle) {
  std::size_t most = std::max({bundle.mailbox.size(), bundle.sent.size(), bundle.reductions.size(),
                               bundle.as_target.size()});
  for (const auto* streams : {&bundle.from_vnodes, &bundle.from_roots}) {
    most = std::max(most, streams->size());
    for (const auto& [from, inbound] : *streams) {
      most = std::max({most, inbound.begun.size(), inbound.early.size()});
    }
  }
  return most;
}

}  // namespace

std::uint64_t approximate_bytes(const VnodeBundle& bundle) {
  std::uint64_t bytes = kSmall + (bundle.state ? bundle.state->size() : 0);
  for (const Message& message : bundle.mailbox) bytes += kSmall + message.payload.size();
  for (const auto& [from, inbound] : bundle.from_vnodes) bytes += bytes_of(inbound);
  for (const auto& [root, inbound] : bundle.from_roots) bytes += bytes_of(inbound);
  for (const auto& [number, pending] : bundle.as_target) bytes += kSmall + bytes_of(pending.parts);
  return bytes + 16 * (bundle.sent.size() + bundle.reductions.size());
}

std::uint64_t approximate_bytes(const VnodeParcel& parcel) {
  return kSmall + approximate_bytes(parcel.bundle);
}

std::string why_immovable(VnodeId vnode, const VnodeBundle& bundle) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  const std::uint64_t bytes = approximate_bytes(bundle);
  if (bytes > kVnodeBytesMax) {
    return to_string(vnode) + " cannot move: its state and messages take " +
           std::to_string(bytes / kMiB) + " MiB, and at most " +
           std::to_string(kVnodeBytesMax / kMiB) + " MiB can move; cut it into more vnodes";
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
    const std::uint64_t size = approximate_bytes(parcel);
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
