#include "runtime/messages/weight.h"

#include <string>
#include <variant>
#include <vector>

namespace phx::runtime {
namespace {

constexpr std::uint64_t kSmall = 64;    // an entry, or an envelope, without variable parts
constexpr std::uint64_t kCounter = 16;  // two numbers: a counter, or a range

Weight weight_of(const std::vector<collectives::ReductionPart>& parts) {
  Weight sum;
  for (const auto& part : parts) {
    sum += {kSmall + kCounter * part.covered.ranges().size(), part.value.size()};
  }
  return sum;
}

template <class Set>
std::uint64_t weight_of_ranges(const Set& set) {
  return kCounter * set.ranges().size();
}

Weight weight_of(const Member& member) {
  Weight sum{kSmall + member.name.size(), 0};
  for (const std::string& endpoint : member.endpoints) sum.header += kCounter + endpoint.size();
  return sum;
}

Weight weight_of(const View& view) {
  Weight sum{kSmall, 0};
  for (const auto& [id, member] : view.members) sum += weight_of(member);
  return sum;
}

Weight weight_of(const std::vector<ViewChange::Gone>& all) {
  Weight sum;
  for (const ViewChange::Gone& gone : all) sum.header += kSmall + gone.detail.size();
  return sum;
}

Weight weight_of(const overlay::KnownNetwork& network) {
  Weight sum{kSmall * (network.sites.size() + network.odd.size()) +
                 2 * kCounter * (network.between.size() + network.pairs.size()),
             0};
  for (const auto& site : network.sites) {
    sum.header += kCounter * site.processors.ranges().size();
  }
  return sum;
}

Weight weight_of(const JobSpec& spec) {
  Weight sum{spec.directory.size() + spec.name.size() + spec.trees.size(), 0};
  for (const auto* texts : {&spec.command, &spec.environment}) {
    for (const std::string& text : *texts) sum.header += kCounter + text.size();
  }
  return sum;
}

struct ContentWeight {
  Weight operator()(const PointToPoint& m) const { return {kSmall, m.payload.size()}; }
  Weight operator()(const FlowCredit& /*credit*/) const { return {kSmall, 0}; }
  Weight operator()(const FlowQuestion& /*question*/) const { return {kSmall, 0}; }
  Weight operator()(const CastCredit& m) const {
    return {kSmall + kCounter * m.vnodes.ranges().size(), 0};
  }
  Weight operator()(const BroadcastDelivery& m) const {
    return {kSmall + kCounter * m.to.ranges().size(), m.piece.payload.size()};
  }
  Weight operator()(const collectives::ReductionToken& m) const {
    Weight sum = weight_of(m.parts);
    sum.header += kSmall;
    return sum;
  }
  Weight operator()(const collectives::TreeCopy& m) const {
    return {kSmall + kCounter * m.vnodes.ranges().size(), m.piece.payload.size()};
  }
  static std::uint64_t of_tokens(const std::vector<collectives::Tokens>& all) {
    std::uint64_t sum = 0;
    for (const auto& tokens : all) sum += kSmall + weight_of_ranges(tokens.vnodes);
    return sum;
  }
  Weight operator()(const collectives::FallbackCopy& m) const {
    Weight sum{kSmall, m.piece.payload.size()};
    sum.header += of_tokens(m.mine);
    for (const auto& onward : m.onward) sum.header += kSmall + of_tokens(onward.tokens);
    return sum;
  }
};

/// What an envelope carries beside its fixed part.
struct Extra {
  Weight operator()(const ViewChange& m) const {
    Weight sum = weight_of(m.gone);
    for (const SharedMember& member : m.joined) sum += weight_of(*member);
    return sum;
  }
  Weight operator()(const ViewReport& m) const { return weight_of(m.view); }
  Weight operator()(const ViewInstall& m) const {
    Weight sum = weight_of(m.view);
    sum += weight_of(m.gone);
    return sum;
  }
  Weight operator()(const Routes& m) const { return of_groups(m.routes); }
  Weight operator()(const Pull& m) const { return {weight_of_ranges(m.exactly), 0}; }
  Weight operator()(const Offer& m) const { return of_groups(m.vnodes); }
  Weight operator()(const OfferCancel& m) const { return of_groups(m.vnodes); }
  Weight operator()(const Suspect& m) const { return {m.detail.size(), 0}; }
  Weight operator()(const JobEnd& m) const { return {m.reason.size(), 0}; }
  Weight operator()(const DownOrder& m) const { return {weight_of_ranges(m.told), 0}; }
  template <class Groups>
  static Weight of_groups(const Groups& groups) {
    Weight sum;
    for (const auto& group : groups) sum.header += kSmall + weight_of_ranges(group.vnodes);
    return sum;
  }
  Weight operator()(const Migrate& m) const {
    Weight sum;
    for (const VnodeParcel& parcel : m.parcels) sum += runtime::weight_of(parcel);
    return sum;
  }
  Weight operator()(const StatePiece& m) const {
    return {kCounter * m.sizes.size(), m.bytes.size()};
  }
  Weight operator()(const VnodeMessage& m) const { return std::visit(ContentWeight{}, m.delivery); }
  Weight operator()(const CollectiveMessage& m) const {
    return std::visit(ContentWeight{}, m.message);
  }
  Weight operator()(const Output& m) const { return {0, m.bytes.size()}; }
  Weight operator()(const JobRequest& m) const { return weight_of(m.spec); }
  Weight operator()(const JobStart& m) const {
    Weight sum = weight_of(m.spec);
    sum.header += kCounter * m.processors.ranges().size();
    return sum;
  }
  Weight operator()(const JobHome& m) const {
    Weight sum;
    for (const auto& run : m.stages.runs()) sum.header += kSmall + run.value.exit.detail.size();
    return sum;
  }
  Weight operator()(const StatusAnswer& m) const {
    std::size_t parts = m.status.jobs.size() + m.status.counters.size();
    for (const TreeStatus& tree : m.status.asked_trees) parts += 1 + tree.children.size();
    return {kSmall * parts, 0};
  }
  Weight operator()(const overlay::Message& m) const {
    if (const auto* load = std::get_if<overlay::Load>(&m)) return {0, load->bytes.size()};
    const auto* update = std::get_if<overlay::NetworkUpdate>(&m);
    return update == nullptr ? Weight{} : weight_of(update->network);
  }
  Weight operator()(const SpanningMessage& m) const {
    constexpr std::size_t kEdge = 24;
    if (const auto* begin = std::get_if<mst::Begin>(&m.message)) {
      return {kCounter * begin->members.ranges().size(), 0};
    }
    if (const auto* behind = std::get_if<mst::Behind>(&m.message)) {
      return {kCounter * behind->processors.ranges().size(), 0};
    }
    const auto* classified = std::get_if<mst::Classified>(&m.message);
    return {classified == nullptr ? 0 : kEdge * classified->recoveries.size(), 0};
  }
  template <class Fixed>
  Weight operator()(const Fixed& /*message*/) const {
    return {};
  }
};

}  // namespace

Weight weight_of(const Delivery& delivery) {
  return std::visit(ContentWeight{}, delivery);
}

Weight weight_of(const VnodeBundle::Inbound& inbound) {
  Weight sum{kSmall, 0};
  for (const Payload& piece : inbound.begun) sum += {kCounter, piece.size()};
  for (const auto& [seq, delivery] : inbound.early) sum += weight_of(delivery);
  return sum;
}

Weight weight_of(const VnodeBundle& bundle) {
  Weight sum{kSmall, bundle.state ? bundle.state->size() : 0};
  for (const Message& message : bundle.mailbox) sum += {kSmall, message.payload.size()};
  for (const auto* streams : {&bundle.from_vnodes, &bundle.from_roots}) {
    for (const auto& [from, inbound] : streams->active()) sum += weight_of(inbound);
    sum.header += kSmall * streams->resting().runs().size();
  }
  for (const auto& [target, contributed] : bundle.to_targets) {
    sum.header += kSmall;
    for (const auto& one : contributed.kept) sum += {kCounter, one.value.size()};
  }
  for (const auto& [number, pending] : bundle.as_target.pending) {
    sum += weight_of(pending.parts);
    sum.header += kSmall + pending.misfit.size();
  }
  sum.header += kSmall * bundle.to_vnodes.resting().runs().size();
  for (const auto& [to, flow] : bundle.to_vnodes.active()) {
    sum.header += kSmall;
    for (const PointToPoint& piece : flow.kept) sum += {kSmall, piece.payload.size()};
  }
  for (const collectives::BroadcastPiece& piece : bundle.casting.kept) {
    sum += {kSmall, piece.payload.size()};
  }
  sum.header += kSmall * bundle.casting.receivers.size();
  sum.header += kCounter * (bundle.reductions.size() + bundle.as_target.askers.size());
  return sum;
}

Weight weight_of(const VnodeParcel& parcel) {
  Weight sum = weight_of(parcel.bundle);
  sum.header += kSmall;
  return sum;
}

Weight weight_of(const Envelope& envelope) {
  Weight sum = std::visit(Extra{}, envelope);
  sum.header += kSmall;
  return sum;
}

}  // namespace phx::runtime
