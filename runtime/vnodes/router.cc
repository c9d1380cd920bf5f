#include "runtime/vnodes/router.h"

#include <algorithm>
#include <utility>

#include "collectives/broadcast.h"
#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"
#include "runtime/messages/parcels.h"

namespace phx::runtime {
namespace {

VnodeId target_of(const VnodeMessage& message) {
  return std::visit(Overloaded{[](const PointToPoint& m) { return m.to; },
                               [](const collectives::ReductionToken& m) { return m.id.target; },
                               [](const FlowCredit& m) { return m.from; },
                               [](const FlowQuestion& m) { return m.to; },
                               [](const CastCredit& m) { return m.root; }},
                    message.delivery);
}

Delivery delivery_of(VnodeMessage&& message) {
  return std::visit([](auto& m) -> Delivery { return std::move(m); }, message.delivery);
}

VnodeSet vnodes_of(const std::vector<VnodeParcel>& parcels) {
  VnodeSet vnodes;
  for (const VnodeParcel& parcel : parcels) vnodes.insert(parcel.vnode);
  return vnodes;
}

}  // namespace

Router::Router(ProcessorId self, JobId job, VnodeMap map, std::uint64_t flow_bytes_max)
    : self_(self), job_(job), flow_bytes_max_(flow_bytes_max), map_(std::move(map)) {}

Router::Way Router::way(VnodeId vnode, Epoch followed) const {
  if (held_.contains(vnode)) return {Way::Kind::kHere, {}};
  const VnodeMap::Owner owner = map_.owner(vnode);
  if (owner.first == kNobody) return {Way::Kind::kClosed, owner};
  if (owner.first != self_ && owner.second > followed) return {Way::Kind::kForward, owner};
  return {Way::Kind::kPark, owner};
}

/// Whether it is a piece of a flow or a broadcast that does not fit; then that is remembered.
bool Router::drop_if_full(const Delivery& delivery, std::uint64_t bytes) {
  if (bytes <= flow_bytes_max_) return false;
  const auto* cast = std::get_if<BroadcastDelivery>(&delivery);
  if (cast != nullptr && !collectives::is_question(cast->piece.purpose)) {
    dropped_casts_.add(cast->piece, cast->to);
    return true;
  }
  const auto* piece = std::get_if<PointToPoint>(&delivery);
  if (piece == nullptr) return false;
  auto& flows = dropped_[piece->to];
  const auto at = flows.try_emplace(piece->from, piece->seq).first;
  at->second = std::min(at->second, piece->seq);
  return true;
}

/// Pieces for these vnodes that were dropped have a chance now.
void Router::ask_again(const VnodeSet& vnodes, JobOutbox& out) {
  for (auto at = dropped_.begin(); at != dropped_.end();) {
    if (!vnodes.contains(at->first)) {
      ++at;
      continue;
    }
    const auto [to, flows] = std::move(*at);
    at = dropped_.erase(at);
    for (const auto& [from, seq] : flows) {
      route(VnodeMessage{job_, 0, FlowCredit{from, to, 0, 0, seq}}, out);
    }
  }
  tell(dropped_casts_.take(vnodes), out);
}

void Router::tell(std::vector<CastCredit> credits, JobOutbox& out) {
  for (CastCredit& credit : credits) route(VnodeMessage{job_, 0, std::move(credit)}, out);
}

/// The process here takes nothing any more: who sends pieces to its vnodes, or asks about
/// reductions towards them, hears that. Whether it is such a thing.
bool Router::answer_closed(const Delivery& delivery, JobOutbox& out) {
  const auto close = [&](const auto& m) {
    route(VnodeMessage{job_, 0, FlowCredit{m.from, m.to, kFlowClosed, 0, {}}}, out);
  };
  const auto* piece = std::get_if<PointToPoint>(&delivery);
  const auto* question = std::get_if<FlowQuestion>(&delivery);
  const auto* cast = std::get_if<BroadcastDelivery>(&delivery);
  if (piece != nullptr) close(*piece);
  const bool is_of_reductions = question != nullptr && question->reductions > 0;
  if (question != nullptr && !is_of_reductions) close(*question);
  if (is_of_reductions) {
    const FlowCredit none_needed{question->from, question->to, 0, 0, {}, kFlowClosed};
    route(VnodeMessage{job_, 0, none_needed}, out);
  }
  if (cast != nullptr) tell({{cast->piece.root, cast->to, kFlowClosed, 0, {}}}, out);
  return piece != nullptr || question != nullptr || cast != nullptr;
}

void Router::on_closing(JobOutbox& out) {
  closing_ = true;
  reroute(kept().minus(bound_), out);  // comes back to park()
}

void Router::park(VnodeId vnode, Delivery delivery, Epoch followed, JobOutbox& out) {
  if (finished_ && is_untaken(vnode)) {
    answer_closed(delivery, out);
    return;
  }
  if (closing_ && is_untaken(vnode) && answer_closed(delivery, out)) return;
  if (drop_if_full(delivery, parking_.bytes())) return;
  parking_.add(vnode, std::move(delivery), followed);
}

void Router::deliver(Delivery&& delivery, JobOutbox& out) {
  if (finished_) {
    answer_closed(delivery, out);
    return;
  }
  PHX_CHECK(port_.has_value());
  if (drop_if_full(delivery, port_->bytes())) return;
  out.report(Effect{ToApp{port_->application(), port_->deliver(std::move(delivery))}});
}

void Router::route(VnodeMessage&& message, JobOutbox& out) {
  const VnodeId target = target_of(message);
  if (!map_.contains(target)) {
    ++unknown_;
    return;
  }
  const Way taken = way(target, message.followed);
  switch (taken.kind) {
    case Way::Kind::kHere:
      deliver(delivery_of(std::move(message)), out);
      break;
    case Way::Kind::kForward:
      message.job = job_;
      message.followed = taken.owner.second;
      out.send(taken.owner.first, std::move(message));
      break;
    case Way::Kind::kClosed:
      answer_closed(delivery_of(std::move(message)), out);
      break;
    case Way::Kind::kPark: {
      const Epoch followed = message.followed;
      park(target, delivery_of(std::move(message)), followed, out);
      break;
    }
  }
}

void Router::serve(const collectives::BroadcastPiece& piece,
                   const std::vector<collectives::Tokens>& tokens, JobOutbox& out) {
  VnodeSet here;
  std::vector<collectives::OwnerGroup> onward;
  for (const collectives::Tokens& part : tokens) {
    if (!part.vnodes.empty() && !map_.contains(part.vnodes.ranges().back().last)) ++unknown_;
    here = here.united(part.vnodes.common(held_));
    for (auto& group : map_.groups(part.vnodes.minus(held_))) {
      if (group.owner == kNobody) {
        answer_closed(BroadcastDelivery{std::move(group.vnodes), piece}, out);
        continue;
      }
      if (group.owner != self_ && group.epoch > part.epoch) {
        onward.push_back(std::move(group));
        continue;
      }
      const bool is_here = group.owner == self_ && is_closing();
      VnodeSet untaken = is_here ? group.vnodes.minus(bound_) : VnodeSet();
      for (const VnodeId vnode : group.vnodes.minus(untaken).ids()) {
        park(vnode, BroadcastDelivery{VnodeSet{vnode}, piece}, part.epoch, out);
      }
      if (!untaken.empty()) answer_closed(BroadcastDelivery{std::move(untaken), piece}, out);
    }
  }
  if (!here.empty()) deliver(BroadcastDelivery{std::move(here), piece}, out);
  for (auto& send : collectives::split_fallback(self_, std::move(onward), piece).sends) {
    out.send(send.to, CollectiveMessage{job_, std::move(send.copy)});
  }
}

void Router::reroute(const VnodeSet& vnodes, JobOutbox& out) {
  if (vnodes.empty()) return;
  ask_again(vnodes, out);
  for (Parking::One& parked : parking_.take(vnodes)) {
    std::visit(Overloaded{
                   [&](BroadcastDelivery& m) {
                     serve(m.piece, {{std::move(m.to), parked.followed}}, out);
                   },
                   [&](auto& m) {
                     route(VnodeMessage{job_, parked.followed, std::move(m)}, out);
                   },
               },
               parked.delivery);
  }
}

void Router::on_routes(const std::vector<Route>& routes, JobOutbox& out) {
  VnodeSet changed;
  for (const Route& route : routes) {
    // What this processor is about to own it owns when the parcel comes, not when others say so.
    if (route.owner == self_) {
      for (const auto& group : map_.groups(route.vnodes.common(map_.all()))) {
        const bool is_news = group.owner != self_ && group.epoch < route.epoch;
        if (is_news) coming_ = coming_.united(group.vnodes);
      }
      continue;
    }
    // Nobody but this processor can know better about what it holds.
    changed = changed.united(map_.learn({route.vnodes.minus(held_), route.owner, route.epoch}));
  }
  coming_ = coming_.minus(changed);
  reroute(changed, out);
}

void Router::install(std::vector<VnodeParcel> parcels, JobOutbox& out) {
  const VnodeSet installed = vnodes_of(parcels);
  held_ = held_.united(installed);
  for (auto& portion : in_portions(std::move(parcels))) {
    out.report(Effect{ToApp{port_->application(), AppGrant{std::move(portion)}}});
  }
  for (Parking::One& waiting : parking_.take(installed)) deliver(std::move(waiting.delivery), out);
  ask_again(installed, out);  // for the others when the process here has taken something
}

VnodeSet Router::own(std::vector<VnodeParcel>& parcels) {
  std::erase_if(parcels, [&](const VnodeParcel& parcel) {
    return !map_.contains(parcel.vnode) || map_.owner(parcel.vnode).second >= parcel.epoch;
  });
  for (const VnodeParcel& parcel : parcels) {
    map_.learn({VnodeSet{parcel.vnode}, self_, parcel.epoch});
  }
  const VnodeSet arrived = vnodes_of(parcels);
  map_.even_out(self_, arrived);
  given_ = given_.minus(arrived);
  coming_ = coming_.minus(arrived);
  return arrived;
}

VnodeSet Router::keep_late(std::vector<VnodeParcel> parcels) {
  const VnodeSet arrived = own(parcels);
  for (VnodeParcel& parcel : parcels) kept_[parcel.vnode] = std::move(parcel);
  bind(arrived);
  return arrived;
}

void Router::on_parcels(std::vector<VnodeParcel> parcels, JobOutbox& out) {
  PHX_CHECK(!finished_);
  static_cast<void>(own(parcels));
  if (port_) {
    install(std::move(parcels), out);
    return;
  }
  for (VnodeParcel& parcel : parcels) kept_[parcel.vnode] = std::move(parcel);
}

void Router::on_attached(ApplicationId application, JobOutbox& out) {
  port_.emplace(application);
  grant_kept(kept(), out);
}

VnodeSet Router::grant_kept(const VnodeSet& vnodes, JobOutbox& out) {
  if (!port_) return {};
  VnodeSet granted = vnodes.common(kept()).minus(bound_);
  if (granted.empty()) return {};
  std::vector<VnodeParcel> parcels;
  for (const VnodeId vnode : granted.ids()) {
    parcels.push_back(kept_parcel(vnode, map_.owner(vnode).second));
  }
  install(std::move(parcels), out);
  return granted;
}

VnodeParcel Router::kept_parcel(VnodeId vnode, Epoch epoch) {
  VnodeParcel parcel;
  auto found = kept_.extract(vnode);
  if (!found.empty()) parcel = std::move(found.mapped());
  parcel.vnode = vnode;
  parcel.epoch = epoch;
  return parcel;
}

void Router::remember_given(const std::vector<VnodeParcel>& parcels, ProcessorId to) {
  for (const VnodeParcel& parcel : parcels) {
    map_.learn({VnodeSet{parcel.vnode}, to, parcel.epoch});
  }
  given_ = given_.united(vnodes_of(parcels));
}

std::vector<VnodeParcel> Router::give_kept(const VnodeSet& vnodes, ProcessorId to) {
  std::vector<VnodeParcel> parcels;
  for (const VnodeId vnode : vnodes.common(kept()).ids()) {
    parcels.push_back(kept_parcel(vnode, map_.owner(vnode).second + 1));
  }
  bound_ = bound_.minus(vnodes);
  remember_given(parcels, to);
  return parcels;
}

void Router::take_back(const VnodeSet& vnodes, bool to_application, JobOutbox& out) {
  const VnodeSet back = vnodes.common(bound_);
  bound_ = bound_.minus(back);
  if (to_application && port_ && !closing_) {
    grant_kept(back, out);
  } else if (finished_ || closing_) {
    reroute(back, out);  // comes back to park()
  }
  if (!finished_) return;
  for (const VnodeId vnode : back.ids()) kept_.erase(vnode);
}

const VnodeBundle* Router::bundle(VnodeId vnode) const {
  const auto found = kept_.find(vnode);
  return found == kept_.end() ? nullptr : &found->second.bundle;
}

void Router::keep(AppReleased released, JobOutbox& out) {
  if (!port_) return;
  VnodeSet vnodes;
  for (const auto& [vnode, bundle] : released.vnodes) vnodes.insert(vnode);
  vnodes = vnodes.common(held_);
  held_ = held_.minus(vnodes);
  for (auto& [vnode, bundle] : released.vnodes) {
    if (vnodes.contains(vnode)) kept_[vnode] = {vnode, map_.owner(vnode).second, std::move(bundle)};
  }
  for (auto& [vnode, crossed] : port_->delivered_after(released.received, vnodes)) {
    for (Delivery& delivery : crossed) {
      park(vnode, std::move(delivery), map_.owner(vnode).second, out);
    }
  }
}

std::vector<Route> Router::on_leaving() {
  if (!finished_) return {};
  std::vector<Route> routes;
  for (auto& group : map_.groups(map_.owned_by(self_).minus(bound_))) {
    routes.push_back({std::move(group.vnodes), kNobody, group.epoch + 1});
    map_.learn(routes.back());
  }
  held_ = {};
  return routes;
}

VnodeSet Router::runs_of(const VnodeSet& vnodes) const {
  VnodeSet runs;
  const VnodeSet owned = map_.owned_by(self_);
  for (const auto& range : owned.ranges()) {
    if (!VnodeSet::range(range.first, range.last).common(vnodes).empty()) runs.insert(range);
  }
  return runs;
}

void Router::on_acknowledged(std::uint64_t received, JobOutbox& out) {
  if (!port_) return;
  port_->acknowledge(received);
  if (has_dropped() && port_->bytes() <= flow_bytes_max_ / 2) ask_again(held_, out);
}

void Router::on_finished(JobOutbox& out) {
  finished_ = true;
  std::vector<Parking::One> untaken;
  if (port_) {
    for (auto& [vnode, crossed] : port_->delivered_after(0, held_)) {
      for (Delivery& delivery : crossed) untaken.push_back({std::move(delivery), 0});
    }
  }
  port_.reset();
  std::erase_if(kept_, [this](const auto& entry) { return !bound_.contains(entry.first); });
  const VnodeSet closed = map_.owned_by(self_).minus(bound_);
  for (Parking::One& parked : parking_.take(closed)) {
    untaken.push_back({std::move(parked.delivery), 0});
  }
  for (const Parking::One& one : Parking::joined(std::move(untaken))) {
    answer_closed(one.delivery, out);
  }
  ask_again(closed, out);
}

void Router::check_invariants() const {
  map_.check_invariants();
  PHX_CHECK(map_.owned_by(self_).contains_all(held_));
  parking_.check_invariants();
  PHX_CHECK(parking_.vnodes().common(held_).empty());
  for (const auto& [vnode, parcel] : kept_) PHX_CHECK(map_.owner(vnode).first == self_);
  PHX_CHECK(map_.owned_by(self_).common(given_).empty());
  PHX_CHECK(kept().contains_all(bound_));
}

}  // namespace phx::runtime
