#include "runtime/sim/frame_bytes.h"

#include <variant>
#include <vector>

#include "overlay/base/overloaded.h"

namespace phx::sim {
namespace {

constexpr std::uint64_t kHeader = 40;  // Of a frame, of a message in a parcel, of a table's row.
constexpr std::uint64_t kRange = 4;
constexpr std::uint64_t kEntry = 6;

template <class Id>
std::uint64_t bytes_of(const IntervalSet<Id>& set) {
  return kRange * set.ranges().size();
}

std::uint64_t bytes_of(const collectives::ReductionToken& token) {
  std::uint64_t sum = kHeader;
  for (const auto& part : token.parts) sum += bytes_of(part.covered) + part.value.size() + kEntry;
  return sum;
}

std::uint64_t bytes_of(const runtime::PointToPoint& m) {
  return kHeader + m.payload.size();
}

std::uint64_t bytes_of(const runtime::Delivery& delivery) {
  return std::visit(Overloaded{[](const runtime::BroadcastDelivery& m) {
                                 return kHeader + bytes_of(m.to) + m.piece.payload.size();
                               },
                               [](const auto& m) { return bytes_of(m); }},
                    delivery);
}

std::uint64_t bytes_of(const std::vector<collectives::Tokens>& groups) {
  std::uint64_t sum = 0;
  for (const auto& group : groups) sum += bytes_of(group.vnodes) + kEntry;
  return sum;
}

std::uint64_t bytes_of(const std::map<VnodeId, runtime::VnodeBundle::Inbound>& streams) {
  std::uint64_t sum = 0;
  for (const auto& [from, stream] : streams) {
    sum += kEntry;
    for (const Payload& piece : stream.begun) sum += piece.size() + kEntry;
    for (const auto& [number, piece] : stream.early) sum += bytes_of(piece);
  }
  return sum;
}

std::uint64_t bytes_of(const runtime::VnodeParcel& parcel) {
  const runtime::VnodeBundle& bundle = parcel.bundle;
  std::uint64_t sum = kHeader + (bundle.state ? bundle.state->size() : 0);
  for (const auto& message : bundle.mailbox) sum += kHeader + message.payload.size();
  for (const auto& [number, pending] : bundle.as_target) {
    for (const auto& part : pending.parts) sum += bytes_of(part.covered) + part.value.size();
  }
  sum += kEntry * (bundle.sent.size() + bundle.reductions.size());
  return sum + bytes_of(bundle.from_vnodes) + bytes_of(bundle.from_roots);
}

std::uint64_t bytes_of(const collectives::Message& message) {
  return std::visit(Overloaded{[](const collectives::TreeCopy& m) {
                                 return kHeader + bytes_of(m.vnodes) + m.piece.payload.size();
                               },
                               [](const collectives::FallbackCopy& m) {
                                 std::uint64_t sum =
                                     kHeader + bytes_of(m.mine) + m.piece.payload.size();
                                 for (const auto& onward : m.onward)
                                   sum += bytes_of(onward.tokens) + kEntry;
                                 return sum;
                               },
                               [](const collectives::ReductionToken& m) { return bytes_of(m); }},
                    message);
}

std::uint64_t bytes_of(const runtime::Envelope& envelope) {
  return std::visit(
      Overloaded{
          [](const runtime::Migrate& m) {
            std::uint64_t sum = 0;
            for (const auto& parcel : m.parcels) sum += bytes_of(parcel);
            return sum;
          },
          [](const runtime::VnodeMessage& m) {
            return std::visit([](const auto& delivery) { return bytes_of(delivery); }, m.delivery);
          },
          [](const runtime::CollectiveMessage& m) { return bytes_of(m.message); },
          [](const runtime::Routes& m) {
            std::uint64_t sum = 0;
            for (const auto& route : m.routes) sum += bytes_of(route.vnodes) + kEntry;
            return sum;
          },
          [](const runtime::Offer& m) { return bytes_of(m.vnodes); },
          [](const runtime::OfferCancel& m) { return bytes_of(m.vnodes); },
          [](const runtime::Output& m) { return std::uint64_t{m.bytes.size()}; },
          [](const runtime::ViewReport& m) { return kHeader * m.view.members.size(); },
          [](const runtime::ViewInstall& m) { return kHeader * m.view.members.size(); },
          [](const runtime::ViewChange& m) { return kHeader * (m.joined.size() + m.gone.size()); },
          [](const runtime::JobHome& m) { return kEntry * m.stages.size(); },
          [](const auto&) { return kHeader / 2; }},
      envelope);
}

}  // namespace

std::uint64_t frame_bytes(const runtime::Frame& frame) {
  return kHeader + (frame.envelope ? bytes_of(*frame.envelope) : 0);
}

}  // namespace phx::sim
