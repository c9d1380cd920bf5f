// What a processor does not take, or gives back, because it leaves or its process ends [README, "A
// move"].
#include <algorithm>
#include <utility>

#include "runtime/vnodes/mover.h"

namespace phx::runtime {

void Mover::refuse(ProcessorId from, const StateTaken& taken, const Router& router,
                   JobOutbox& out) {
  const VnodeSet vnodes{taken.vnode};
  stop_awaiting(from, vnodes);
  refuse(stop_assuming(from, vnodes), taken.why, router, out);
  note(out, Note::Level::kInfo, "vnode-refused",
       to_string(job_) + " " + to_string(taken.vnode) + " from=" + to_string(from) +
           " why=" + taken.why);
  StateTaken answer = taken;
  answer.outcome = StateTaken::Outcome::kRefused;
  out.send(from, std::move(answer));
}

void Mover::start_leaving(const Router& router, const Standing& standing, JobOutbox& out) {
  if (router.held().empty()) refuse_all(kLeaves, router, out);
  refuse_begun(kLeaves, out, router, [&](ProcessorId from, const VnodeSet& vnodes) {
    return may_take(from, vnodes, router, standing);
  });
  // The application at the giver may be hours from the safe point at which it releases the rest.
  for (const auto& [key, vnodes] : incoming_) {
    const auto& [from, offer] = key;
    const auto ids = vnodes.ids();
    const bool is_here = std::ranges::any_of(
        ids, [&, one = key](VnodeId id) { return arrivals_.is_whole(one.first, one.second, id); });
    if (is_here || may_take(from, vnodes, router, standing)) continue;
    out.send(from, OfferReply{job_, offer, false, kLeaves});
  }
}

void Mover::refuse_begun(const std::string& why, JobOutbox& out, const Router& router,
                         const std::function<bool(ProcessorId, const VnodeSet&)>& is_taken) {
  for (const Arrivals::Begun& one : arrivals_.begun()) {
    if (is_taken(one.from, VnodeSet{one.vnode})) continue;
    const StateTaken refusal{job_, 0, StateTaken::Outcome::kRefused, one.offer, one.vnode, why};
    refuse(one.from, refusal, router, out);
  }
}

void Mover::refuse_all(const std::string& why, const Router& router, JobOutbox& out) {
  for (const auto& [owner, vnodes] : std::exchange(assuming_, {})) refuse(vnodes, why, router, out);
}

void Mover::close(const std::string& why, const Router& router, JobOutbox& out) {
  std::erase_if(outgoing_, [&](const auto& entry) {
    const Outgoing& offer = entry.second;
    if (late_.contains_all(offer.vnodes)) return false;
    out.send(offer.to, OfferCancel{job_, {{offer.vnodes, 0}}});
    return true;
  });
  refuse_begun(why, out, router, [](ProcessorId, const VnodeSet&) { return false; });
  for (const auto& [offer, vnodes] : incoming_) {
    out.send(offer.first, OfferReply{job_, offer.second, false, why});
  }
}

void Mover::refuse(const VnodeSet& vnodes, const std::string& why, const Router& router,
                   JobOutbox& out) {
  if (vnodes.empty() || !router.is_attached()) return;
  out.report(Effect{ToApp{router.application(), AppRefused{vnodes, why}}});
}

}  // namespace phx::runtime
