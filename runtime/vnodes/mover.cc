#include "runtime/vnodes/mover.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/messages/contents.h"
#include "runtime/messages/parcels.h"
#include "runtime/vnodes/shares.h"

namespace phx::runtime {
namespace {

/// For so long a newcomer that knows sites, but not its own, wants no vnodes.
constexpr Duration kPlacePatience = 1s;
constexpr Duration kPlacePause = 20ms;  ///< Then it looks again.

/// For a person: why an application cannot release one of them; empty if it can.
std::string why_kept(const VnodeSet& vnodes, const Kept& kept) {
  for (const auto& [vnode, bytes] : kept) {
    if (bytes <= kVnodeKeptMax || !vnodes.contains(vnode)) continue;
    return "; " + to_string(vnode) + " keeps " + std::to_string(bytes >> 20U) +
           " MiB that have not been received";
  }
  return {};
}

}  // namespace

Mover::Mover(ProcessorId self, JobId job, Duration balance_period, const TravelOptions& options)
    : self_(self),
      job_(job),
      balance_period_(balance_period),
      share_rule_(options.share_rule),
      departures_(self, job, options) {}

bool Mover::is_quiet() const {
  return incoming_.empty() && outgoing_.empty() && departures_.empty();
}

void Mover::check_invariants(const ProcessorSet& there) const {
  departures_.check_invariants(there);
  VnodeSet all = departures_.vnodes();
  for (const auto& [id, offer] : outgoing_) {
    PHX_CHECK(!offer.vnodes.empty() && all.common(offer.vnodes).empty());
    PHX_CHECK(offer.to != self_ && there.contains(offer.to));
    all = all.united(offer.vnodes);
  }
  for (const auto& [offer, vnodes] : incoming_) {
    PHX_CHECK(!vnodes.empty() && there.contains(offer.first));
  }
}

VnodeSet Mover::promised(std::optional<ProcessorId> to) const {
  VnodeSet all = to ? departures_.vnodes_to(*to) : departures_.vnodes();
  for (const auto& [id, offer] : outgoing_) {
    if (!to || offer.to == *to) all = all.united(offer.vnodes);
  }
  return all;
}

std::uint64_t Mover::incoming() const {
  std::uint64_t sum = 0;
  for (const auto& [offer, vnodes] : incoming_) sum += vnodes.size();
  return sum;
}

/// What it was asked for in vain is not waited for longer than this, whatever became of the answer.
std::uint64_t Mover::pulled(Instant now) {
  constexpr Duration kAnswered = 1s;
  const Instant oldest = now - kAnswered;
  std::erase_if(pulled_, [oldest](const auto& one) { return one.second.second <= oldest; });
  std::uint64_t sum = 0;
  for (const auto& [donor, pull] : pulled_) sum += pull.first;
  return sum;
}

void Mover::retry_later(Instant now, JobOutbox& out) {
  constexpr std::uint32_t kDoublingsMax = 4;
  const Duration wait = balance_period_ * (std::int64_t{1} << std::min(attempts_, kDoublingsMax));
  ++attempts_;
  out.arm(JobTimer{JobTimer::Kind::kBalance, job_, {}}, now + wait);
}

void Mover::balance(Instant now, Router& router, const Standing& standing, JobOutbox& out) {
  if (standing.leaving) {
    const VnodeSet rest = router.map().owned_by(self_);
    if (standing.ending) return give_back(rest, router, out);
    if (rest.empty()) return;
    push_all(router, standing, out);
    if (!std::exchange(asked_, true)) retry_later(now, out);
    return;
  }
  if (standing.ending || !router.is_attached()) return;
  if (asked_) return;  // The answers to this round's questions may still be under way.
  const Stock stock{self_, router.map().owned_by(self_), incoming() + pulled(now)};
  // Most of what happens changes nothing here, and to look at the loads of all is much in a large
  // mesh.
  const std::tuple weighed{router.map().changes(), stock.incoming, standing.ready.size()};
  if (content_ == weighed) return;
  const std::vector<Load> pulls = wanted(stock, router.map(), standing);
  if (pulls.empty() && !is_short(stock, router.map(), standing)) {
    content_ = weighed;
    return;
  }
  if (waits_for_place(now, standing)) {
    out.arm(JobTimer{JobTimer::Kind::kBalance, job_, {}}, now + kPlacePause);
    return;
  }
  asked_ = true;
  for (const Load& pull : pulls) {
    out.send(pull.processor, Pull{job_, pull.vnodes, {}});
    pulled_[pull.processor] = {pull.vnodes, now};
  }
  retry_later(now, out);
}

/// Round trips that are measured beside states of vnodes tell of these, and until its site is known
/// trees cross the network for it.
bool Mover::waits_for_place(Instant now, const Standing& standing) {
  const overlay::KnownNetwork* network = standing.network;
  if (network == nullptr || network->sites.empty() || network->site_of(self_)) return false;
  if (!unplaced_since_) unplaced_since_ = now;
  return now - *unplaced_since_ < kPlacePatience;
}

void Mover::on_timer(Instant now, Router& router, const Standing& standing, JobOutbox& out) {
  asked_ = false;
  refusers_ = {};
  balance(now, router, standing, out);
}

void Mover::on_news() {
  attempts_ = 0;
  asked_ = false;
  content_.reset();
  refusers_ = {};
}

void Mover::on_refused(ProcessorId by, const std::string& why) {
  refusers_.insert(by);
  refusal_ = to_string(by) + " refuses: " + why;
}

void Mover::push_all(Router& router, const Standing& standing, JobOutbox& out) {
  const VnodeSet rest = router.map().owned_by(self_).minus(promised());
  const ProcessorSet targets = standing.ready.minus(ProcessorSet{self_}).minus(refusers_);
  if (targets.empty()) return give_back(rest, router, out);
  if (rest.empty()) return;
  const Leaving leaving{self_, rest, targets, router.map(), standing.network};
  SharePlan plan = choose_plan(leaving, share_rule_);
  note(out, Note::Level::kDebug, "vnodes-shared",
       to_string(job_) + (plan.rule == ShareRule::kSites ? " by=sites" : " by=neighbours") +
           " leavers=" + std::to_string(plan.shares.size()));
  for (auto& [target, share] : plan.shares[self_]) offer(share, target, router, out);
}

void Mover::offer(VnodeSet vnodes, ProcessorId to, const Router& router, JobOutbox& out) {
  Offer message{job_, next_offer_++, {}};
  for (const auto& group : router.map().groups(vnodes)) {
    message.vnodes.push_back({group.vnodes, group.epoch + 1});
  }
  outgoing_[message.offer] = {to, std::move(vnodes), false};
  out.send(to, std::move(message));
}

void Mover::on_pull(ProcessorId from, const Pull& pull, Router& router, const Standing& standing,
                    JobOutbox& out) {
  if (!pull.exactly.empty()) {
    const VnodeSet free = standing.ending ? VnodeSet() : router.kept().minus(promised());
    const VnodeSet given = pull.exactly.common(free);
    VnodeSet refused = pull.exactly.minus(given);
    // What it has been offered already it must not take for withdrawn.
    refused = refused.minus(promised(from));
    // Who asks here may not have heard of a move; told of it first, it asks the owner.
    const VnodeSet elsewhere = refused.minus(router.map().owned_by(self_));
    if (!elsewhere.empty()) out.send(from, Routes{job_, router.map().routes(elsewhere)});
    if (!refused.empty()) out.send(from, OfferCancel{job_, {{refused, 0}}});
    if (!given.empty()) offer(given, from, router, out);
    return;
  }
  if (standing.ending) return;
  const VnodeSet available = router.map().owned_by(self_).minus(promised());
  const Load theirs{router.map().owned_by(from).size() + promised(from).size(), from};
  const std::uint64_t most = gift_max(available.size(), theirs, router.map(), standing);
  VnodeSet given = choose_light(available, kept_, {std::min(pull.count, most), from}, router.map());
  if (given.empty()) return out.send(from, OfferCancel{job_, {}});
  offer(std::move(given), from, router, out);
}

void Mover::on_kept(const AppKeeps& keeps) {
  kept_.clear();
  for (const auto& [vnode, bytes] : keeps.vnodes) kept_[vnode] = bytes;
}

void Mover::on_offer(ProcessorId from, const Offer& offer, const Router& router,
                     const Standing& standing, JobOutbox& out) {
  VnodeSet offered;
  for (const auto& group : offer.vnodes) offered = offered.united(group.vnodes);
  pulled_.erase(from);
  std::string why;
  if (offered.empty()) why = "nothing offered";
  if (!router.map().all().contains_all(offered)) why = "no such vnodes";
  if (!router.is_attached()) why = "no application";
  // Although it ends, what came too late elsewhere shall be somebody's; but not that of one who
  // holds nothing, and is told to end.
  const bool is_idle = router.map().owned_by(self_).empty() && incoming_.empty();
  if (router.is_closing() || (standing.ending && is_idle)) why = "the job ends";
  if (!may_take(from, offered, router, standing)) why = kLeaves;
  out.send(from, OfferReply{job_, offer.offer, why.empty(), why});
  if (why.empty()) {
    incoming_[{from, offer.offer}] = std::move(offered);
    return;
  }
  // What the application asked for there does not come: the giver keeps it now.
  refuse(stop_assuming(from, offered), why, router, out);
}

void Mover::on_offer_reply(ProcessorId from, const OfferReply& reply, Router& router,
                           const Standing& standing, JobOutbox& out) {
  if (!reply.accepted) return on_refused(from, reply, router, standing, out);
  const auto found = outgoing_.find(reply.offer);
  if (found == outgoing_.end() || found->second.to != from || found->second.accepted) return;
  found->second.accepted = true;
  const VnodeSet held = found->second.vnodes.common(router.held());
  const VnodeSet kept = found->second.vnodes.minus(held);
  found->second.vnodes = held;
  if (held.empty()) outgoing_.erase(found);
  if (!held.empty()) out.report(Effect{ToApp{router.application(), AppRelease{held}}});
  depart(from, reply.offer, kept, router, out);
  go_on(from, router, standing, out);
}

/// It may have accepted before: then it awaits them until it hears that they do not come.
void Mover::on_refused(ProcessorId by, const OfferReply& reply, Router& router,
                       const Standing& standing, JobOutbox& out) {
  VnodeSet promised;
  VnodeSet withdrawn;
  const auto found = outgoing_.find(reply.offer);
  if (found != outgoing_.end() && found->second.to == by) {
    (found->second.accepted ? withdrawn : promised) = std::move(found->second.vnodes);
    outgoing_.erase(found);
  }
  const VnodeSet departing = departures_.drop(by, reply.offer);
  const VnodeSet awaited = withdrawn.united(departing);
  if (promised.empty() && awaited.empty()) return;
  on_refused(by, reply.why);
  if (!awaited.empty()) out.send(by, OfferCancel{job_, {{awaited, 0}}});
  withdrawn_ = withdrawn_.united(withdrawn);  // it has them back when it has released them
  give_back(promised.minus(late_), router, out);
  send_back(promised.common(late_), by, router, standing, out);
  stay(departing, router, standing, out);
  go_on(by, router, standing, out);
}

void Mover::on_offer_cancel(ProcessorId from, const OfferCancel& cancel, const Router& router,
                            const Standing& standing, JobOutbox& out) {
  VnodeSet withdrawn;
  for (const auto& group : cancel.vnodes) withdrawn = withdrawn.united(group.vnodes);
  if (withdrawn.empty()) pulled_.erase(from);
  // It has given these away to here, as it has just said: they are on their way.
  withdrawn = withdrawn.minus(router.coming());
  stop_awaiting(from, withdrawn);
  ask(stop_assuming(from, withdrawn), from, "held by " + to_string(from), router, standing, out);
}

bool Mover::may_take(ProcessorId from, const VnodeSet& vnodes, const Router& router,
                     const Standing& standing) const {
  if (!standing.leaving) return true;
  const auto asked = assuming_.find(from);
  return asked != assuming_.end() && asked->second.contains_all(vnodes) && !router.held().empty();
}

VnodeSet Mover::stop_assuming(ProcessorId asked, const VnodeSet& vnodes) {
  const auto found = assuming_.find(asked);
  if (found == assuming_.end()) return {};
  VnodeSet stopped = found->second.common(vnodes);
  found->second = found->second.minus(stopped);
  if (found->second.empty()) assuming_.erase(found);
  return stopped;
}

void Mover::stop_awaiting(ProcessorId from, const VnodeSet& vnodes) {
  for (auto at = incoming_.begin(); at != incoming_.end();) {
    if (at->first.first == from) {
      for (const VnodeId vnode : at->second.common(vnodes).ids()) {
        arrivals_.drop(from, at->first.second, vnode);
      }
      at->second = at->second.minus(vnodes);
    }
    at = at->second.empty() ? incoming_.erase(at) : std::next(at);
  }
}

void Mover::on_gone(ProcessorId gone, Router& router, const Standing& standing, JobOutbox& out) {
  VnodeSet late;
  for (const auto& [id, offer] : outgoing_) {
    if (offer.to != gone) continue;
    if (offer.accepted) withdrawn_ = withdrawn_.united(offer.vnodes);
    late = late.united(offer.vnodes.common(late_));
  }
  std::erase_if(outgoing_, [gone](const auto& entry) { return entry.second.to == gone; });
  std::erase_if(incoming_, [gone](const auto& entry) { return entry.first.first == gone; });
  pulled_.erase(gone);
  arrivals_.drop(gone);
  send_back(late, gone, router, standing, out);
  stay(departures_.drop(gone), router, standing, out);
  go_on(gone, router, standing, out);
  const auto unanswered = assuming_.extract(gone);
  if (unanswered.empty()) return;
  ask(unanswered.mapped(), gone, to_string(gone) + " is gone", router, standing, out);
}

void Mover::on_released(AppReleased released, Router& router, const Standing& standing,
                        JobOutbox& out) {
  std::map<std::pair<ProcessorId, std::uint64_t>, VnodeSet> going;
  VnodeSet back;
  for (const auto& [vnode, bundle] : released.vnodes) {
    const VnodeId id = vnode;
    const auto offer = std::ranges::find_if(outgoing_, [id](const auto& entry) {
      return entry.second.accepted && entry.second.vnodes.contains(id);
    });
    if (offer == outgoing_.end()) {
      back.insert(id);
    } else {
      offer->second.vnodes.erase(id);
      going[{offer->second.to, offer->first}].insert(id);
    }
  }
  std::erase_if(outgoing_, [](const auto& entry) { return entry.second.vnodes.empty(); });
  router.keep(std::move(released), out);
  for (const auto& [to, vnodes] : going) {
    depart(to.first, to.second, vnodes, router, out);
    go_on(to.first, router, standing, out);
  }
  // Released for a processor that is gone: the application has them back.
  back = back.common(withdrawn_);
  router.grant_kept(back, out);
  withdrawn_ = withdrawn_.minus(back);
  if (standing.leaving)
    start_leaving(router, standing, out);  // What it held it may have asked for.
}

void Mover::depart(ProcessorId to, std::uint64_t offer, const VnodeSet& vnodes, Router& router,
                   JobOutbox& out) {
  const VnodeSet going = vnodes.common(router.kept());
  if (going.empty()) return;
  router.bind(going);
  departures_.add(to, offer, going, router);
  withdrawn_ = withdrawn_.minus(going);  // Somebody gets them after all.
  note(out, Note::Level::kDebug, "vnodes-depart",
       to_string(job_) + " v" + to_string(going) + " to=" + to_string(to));
}

void Mover::go_on(ProcessorId to, Router& router, const Standing& standing, JobOutbox& out) {
  const auto give = [&](ProcessorId receiver) {
    bool has_given = false;
    while (const auto handover = departures_.next(receiver, out)) {
      migrate(*handover, receiver, router, out);
      has_given = true;
    }
    return has_given;
  };
  static_cast<void>(give(to));
  // When one has all of its vnodes it is the turn of another one.
  bool goes_on = true;
  while (std::exchange(goes_on, false)) {
    for (const ProcessorId next : departures_.in_turn()) goes_on = give(next) || goes_on;
  }
  tell_moved(router, standing, out);
}

void Mover::migrate(const Departures::Handover& handover, ProcessorId to, Router& router,
                    JobOutbox& out) {
  const VnodeSet& moved = handover.vnodes;
  Migrate message{job_, router.give_kept(moved, to), handover.offer, handover.sent};
  if (handover.offer != 0) {
    for (VnodeParcel& parcel : message.parcels) drop_contents(parcel.bundle);
  }
  note(out, Note::Level::kInfo, "vnodes-moved",
       to_string(job_) + " v" + to_string(moved) + " to=" + to_string(to));
  out.send(to, std::move(message));
  router.reroute(moved, out);
  untold_ = untold_.united(moved);
  late_ = late_.minus(moved);
}

void Mover::tell_moved(const Router& router, const Standing& standing, JobOutbox& out) {
  if (standing.leaving && !departures_.empty()) return;
  const VnodeSet moved = std::exchange(untold_, {});
  if (!standing.leaving || moved.empty()) return;
  // The receivers say so, but they may die before.
  out.send(self_, Routes{job_, router.map().routes(moved), /*pass_on=*/true});
}

void Mover::stay(const VnodeSet& vnodes, Router& router, const Standing& standing, JobOutbox& out) {
  if (vnodes.empty()) return;
  note(out, Note::Level::kInfo, "vnodes-stay", to_string(job_) + " v" + to_string(vnodes));
  if (const VnodeSet late = vnodes.common(late_); !late.empty()) {
    send_back(late, self_, router, standing, out);
    return stay(vnodes.minus(late), router, standing, out);
  }
  // A leaver offers them to somebody else first; but when the job ends nothing is offered any more.
  const bool goes_on = standing.leaving && !standing.ending;
  router.take_back(vnodes, !goes_on, out);
  if (goes_on) withdrawn_ = withdrawn_.united(vnodes);
}

void Mover::send_back(const VnodeSet& vnodes, ProcessorId first, Router& router,
                      const Standing& standing, JobOutbox& out) {
  if (vnodes.empty()) return;
  const ProcessorSet targets = standing.ready.minus(ProcessorSet{self_}).minus(refusers_);
  if (targets.empty()) {
    late_ = late_.minus(vnodes);
    return router.take_back(vnodes, false, out);
  }
  note(out, Note::Level::kInfo, "vnodes-late", to_string(job_) + " v" + to_string(vnodes));
  const auto holds_some = [&router](ProcessorId id) { return !router.map().owned_by(id).empty(); };
  const std::vector<ProcessorId> all = targets.ids();
  const auto holder = std::ranges::find_if(all, holds_some);
  const ProcessorId other = holder != all.end() ? *holder : all.front();
  offer(vnodes, targets.contains(first) ? first : other, router, out);
}

void Mover::give_back(const VnodeSet& vnodes, Router& router, JobOutbox& out) {
  const VnodeSet back = withdrawn_.common(vnodes).minus(promised());
  withdrawn_ = withdrawn_.minus(router.grant_kept(back, out));
}

void Mover::on_taken(ProcessorId from, const StateTaken& taken, Router& router,
                     const Standing& standing, JobOutbox& out) {
  const VnodeSet refused = departures_.on_taken(from, taken);
  if (!refused.empty()) on_refused(from, taken.why);
  stay(refused, router, standing, out);
  go_on(from, router, standing, out);
}

void Mover::on_piece(ProcessorId from, const StatePiece& piece, const Router& router,
                     const Standing& standing, JobOutbox& out) {
  using Outcome = StateTaken::Outcome;
  StateTaken answer{job_, piece.sent, Outcome::kComing, piece.offer, piece.vnode, {}};
  const auto accepted = incoming_.find({from, piece.offer});
  if (accepted != incoming_.end() && accepted->second.contains(piece.vnode)) {
    if (!may_take(from, VnodeSet{piece.vnode}, router, standing)) {
      answer.why = kLeaves;
    } else if (!router.is_attached() || router.is_closing()) {
      answer.why = "its process takes nothing more";
    } else {
      answer.why = arrivals_.on_piece(from, piece);
    }
    if (!answer.why.empty()) return refuse(from, answer, router, out);
    const bool is_whole = arrivals_.is_whole(from, piece.offer, piece.vnode);
    if (is_whole) answer.outcome = Outcome::kWhole;
  } else {
    answer.outcome = Outcome::kRefused;  // maybe once more; and it still counts in the window
    answer.why = "it is not awaited";
  }
  if (piece.sent != 0) out.send(from, std::move(answer));
}

std::string Mover::complete(ProcessorId from, Migrate& migrate) {
  if (migrate.offer == 0) return {};
  for (VnodeParcel& parcel : migrate.parcels) {
    auto contents = arrivals_.take(from, migrate.offer, parcel.vnode);
    if (contents && put_contents(parcel.bundle, std::move(*contents))) continue;
    return to_string(parcel.vnode) + " came from " + to_string(from) + " without its state";
  }
  return {};
}

void Mover::on_migrate(ProcessorId from, Migrate migrate, Router& router, const Standing& standing,
                       JobOutbox& out) {
  VnodeSet arrived;
  for (const VnodeParcel& parcel : migrate.parcels) arrived.insert(parcel.vnode);
  // Whoever promised them: those that others have withdrawn may come from somebody else.
  ProcessorSet givers{from};
  for (const auto& [offer, vnodes] : incoming_) givers.insert(offer.first);
  for (const ProcessorId giver : givers.ids()) stop_awaiting(giver, arrived);
  for (auto& [owner, vnodes] : assuming_) vnodes = vnodes.minus(arrived);
  std::erase_if(assuming_, [](const auto& entry) { return entry.second.empty(); });
  attempts_ = 0;
  if (router.is_closing()) {
    const VnodeSet late = router.keep_late(std::move(migrate.parcels));
    late_ = late_.united(late);
    send_back(late, from, router, standing, out);
  } else {
    router.on_parcels(std::move(migrate.parcels), out);
  }
  if (migrate.sent != 0)
    out.send(from, StateTaken{job_, migrate.sent, StateTaken::Outcome::kComing, 0, {}, {}});
  if (standing.leaving)
    start_leaving(router, standing, out);  // The rest of what had begun to come.
}

void Mover::assume(const VnodeSet& vnodes, Router& router, const Standing& standing,
                   JobOutbox& out) {
  refuse(vnodes.minus(router.map().all()),
         "the job has " + std::to_string(router.map().vnodes()) + " vnodes", router, out);
  VnodeSet missing = vnodes.common(router.map().all()).minus(router.held());
  const bool has_left = standing.leaving && router.held().empty();
  if (has_left || standing.ending) {
    refuse(missing, has_left ? kLeaves : "the job ends", router, out);
    return;
  }
  missing = missing.minus(router.grant_kept(missing.minus(promised()), out));
  for (const auto& [owner, asked] : assuming_) missing = missing.minus(asked);
  ask(missing, self_, "promised to another processor", router, standing, out);
}

/// Routes grow newer, so this comes to an end: at a refusal by the last owner heard of.
void Mover::ask(const VnodeSet& vnodes, ProcessorId refuser, const std::string& why,
                const Router& router, const Standing& standing, JobOutbox& out) {
  for (const auto& group : router.map().groups(vnodes)) {
    const bool is_known = standing.members.contains(group.owner);
    if (group.owner == refuser || !is_known) {
      const std::string gone =
          group.owner == kNobody ? "their process has ended" : to_string(group.owner) + " is gone";
      refuse(group.vnodes, group.owner == refuser ? why : gone, router, out);
      continue;
    }
    VnodeSet& asked = assuming_[group.owner];
    asked = asked.united(group.vnodes);
    out.send(group.owner, Pull{job_, 0, group.vnodes});
  }
}

std::string Mover::waiting(const Router& router, const Standing& standing) const {
  if (!departures_.empty()) return departures_.progress();
  for (const auto& [id, offer] : outgoing_) {
    if (offer.accepted) {
      return "v" + to_string(offer.vnodes) + " until the application's next safe point" +
             why_kept(offer.vnodes, kept_);
    }
    return to_string(offer.to) + " to accept v" + to_string(offer.vnodes);
  }
  if (!incoming_.empty()) {
    const auto& [offer, vnodes] = *incoming_.begin();
    return "v" + to_string(vnodes) + " to arrive from " + to_string(offer.first);
  }
  const VnodeSet nobodys = router.is_attached() ? router.kept().minus(promised()) : VnodeSet();
  if (!nobodys.empty() && !standing.leaving) {
    return "somebody to assume v" + to_string(nobodys) + ", which nobody holds since its release";
  }
  const bool stuck = standing.leaving && !router.map().owned_by(self_).empty();
  if (stuck && standing.ending) return "the application to end";
  if (stuck && !refusers_.empty()) {
    return "somebody to take v" + to_string(router.map().owned_by(self_)) + "; " + refusal_;
  }
  if (stuck) return "another processor on which this job's program has attached";
  return {};
}

}  // namespace phx::runtime
