#include "runtime/parcels.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace phx::runtime {
namespace {

constexpr std::uint64_t kSmall = 64;    // an entry without variable parts
constexpr std::uint64_t kCounter = 16;  // two numbers: a counter, or a range

/// What something takes in a frame: not less, unless its numbers are larger than anybody counts.
struct Weight {
  std::uint64_t header = 0;
  std::uint64_t payload = 0;
  Weight& operator+=(const Weight& other) {
    header += other.header;
    payload += other.payload;
    return *this;
  }
};

Weight weight_of(const std::vector<collectives::ReductionPart>& parts) {
  Weight sum;
  for (const auto& part : parts) {
    sum += {kSmall + kCounter * part.covered.ranges().size(), part.value.size()};
  }
  return sum;
}

struct DeliveryWeight {
  Weight operator()(const PointToPoint& m) const { return {kSmall, m.payload.size()}; }
  Weight operator()(const BroadcastDelivery& m) const {
    return {kSmall + kCounter * m.to.ranges().size(), m.piece.payload.size()};
  }
  Weight operator()(const collectives::ReductionToken& m) const {
    Weight sum = weight_of(m.parts);
    sum.header += kSmall;
    return sum;
  }
};

Weight weight_of(const VnodeBundle::Inbound& inbound) {
  Weight sum{kSmall, 0};
  for (const Payload& piece : inbound.begun) sum += {kCounter, piece.size()};
  for (const auto& [seq, delivery] : inbound.early) sum += std::visit(DeliveryWeight{}, delivery);
  return sum;
}

Weight weight_of(const VnodeBundle& bundle) {
  Weight sum{kSmall, bundle.state ? bundle.state->size() : 0};
  for (const Message& message : bundle.mailbox) sum += {kSmall, message.payload.size()};
  for (const auto& [from, inbound] : bundle.from_vnodes) sum += weight_of(inbound);
  for (const auto& [root, inbound] : bundle.from_roots) sum += weight_of(inbound);
  for (const auto& [number, pending] : bundle.as_target) {
    sum += weight_of(pending.parts);
    sum.header += kSmall;
  }
  sum.header += kCounter * (bundle.sent.size() + bundle.reductions.size());
  return sum;
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
  const Weight weight = weight_of(bundle);
  return weight.header + weight.payload;
}

std::uint64_t approximate_bytes(const VnodeParcel& parcel) {
  return kSmall + approximate_bytes(parcel.bundle);
}

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
