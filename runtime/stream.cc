#include "runtime/stream.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "overlay/base/check.h"
#include "runtime/parcels.h"

namespace phx::runtime {
namespace {

constexpr std::uint64_t kSmall = 64;  // an envelope without variable parts, header included

std::uint64_t bytes_of(const collectives::ReductionToken& token) {
  std::uint64_t bytes = kSmall;
  for (const auto& part : token.parts) {
    bytes += kSmall + 16 * part.covered.ranges().size() + part.value.size();
  }
  return bytes;
}
std::uint64_t bytes_of(const PointToPoint& message) {
  return kSmall + message.payload.size();
}
std::uint64_t bytes_of(const collectives::TreeCopy& copy) {
  return kSmall + 16 * copy.vnodes.ranges().size() + copy.piece.payload.size();
}
std::uint64_t bytes_of(const collectives::FallbackCopy& copy) {
  return kSmall * (1 + copy.mine.size() + copy.onward.size()) + copy.piece.payload.size();
}

template <class... Parts>
std::uint64_t bytes_of(const std::variant<Parts...>& any) {
  return std::visit([](const auto& part) { return bytes_of(part); }, any);
}

std::uint64_t bytes_of(const View& view) {
  return kSmall * (1 + view.members.size());
}

/// What an envelope carries beside its fixed part.
struct Extra {
  std::uint64_t operator()(const ViewChange& m) const {
    return kSmall * (m.joined.size() + m.gone.size());
  }
  std::uint64_t operator()(const ViewReport& m) const { return bytes_of(m.view); }
  std::uint64_t operator()(const ViewInstall& m) const { return bytes_of(m.view); }
  std::uint64_t operator()(const Routes& m) const { return kSmall * m.routes.size(); }
  std::uint64_t operator()(const Offer& m) const { return kSmall * m.vnodes.size(); }
  std::uint64_t operator()(const OfferCancel& m) const { return kSmall * m.vnodes.size(); }
  std::uint64_t operator()(const Migrate& m) const {
    std::uint64_t bytes = 0;
    for (const VnodeParcel& parcel : m.parcels) bytes += approximate_bytes(parcel);
    return bytes;
  }
  std::uint64_t operator()(const VnodeMessage& m) const { return bytes_of(m.delivery); }
  std::uint64_t operator()(const CollectiveMessage& m) const { return bytes_of(m.message); }
  std::uint64_t operator()(const Output& m) const { return m.bytes.size(); }
  std::uint64_t operator()(const JobStart& m) const { return 8 * m.processors.size(); }
  std::uint64_t operator()(const StatusAnswer& m) const {
    return kSmall * (m.status.jobs.size() + m.status.counters.size());
  }
  template <class Fixed>
  std::uint64_t operator()(const Fixed& /*message*/) const {
    return 0;
  }
};

}  // namespace

std::uint64_t approximate_bytes(const Envelope& envelope) {
  return kSmall + std::visit(Extra{}, envelope);
}

std::uint64_t Stream::push(Envelope envelope) {
  const std::uint64_t bytes = approximate_bytes(envelope);
  kept_.push_back(Kept{std::move(envelope), bytes});
  kept_bytes_ += bytes;
  return last_sent();
}

bool Stream::on_acknowledged(std::uint64_t received) {
  if (received > last_sent()) return false;
  while (acknowledged_ < received) {
    kept_bytes_ -= kept_.front().bytes;
    kept_.pop_front();
    ++acknowledged_;
  }
  return true;
}

Frame Stream::frame(std::uint64_t seq) const {
  PHX_CHECK(seq > acknowledged_ && seq <= last_sent());
  return Frame{seq, received_, kept_[seq - acknowledged_ - 1].envelope};
}

std::vector<Envelope> Stream::take_unacknowledged() {
  std::vector<Envelope> result;
  result.reserve(kept_.size());
  for (Kept& kept : kept_) result.push_back(std::move(kept.envelope));
  acknowledged_ = last_sent();
  kept_.clear();
  kept_bytes_ = 0;
  return result;
}

Stream::Arrival Stream::on_arrived(std::uint64_t seq) {
  if (seq <= received_) return Arrival::kDuplicate;
  if (seq != received_ + 1) return Arrival::kGap;
  received_ = seq;
  return Arrival::kNext;
}

}  // namespace phx::runtime
