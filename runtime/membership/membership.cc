#include "runtime/membership/membership.h"

#include <algorithm>

#include "overlay/base/check.h"
#include "runtime/membership/view_change.h"

namespace phx::runtime {

Membership::Membership(ProcessorId self, View initial, const MembershipOptions& options)
    : self_(self),
      options_(options),
      view_(std::move(initial)),
      detector_(self, options.report_memory) {
  PHX_CHECK(view_.members.contains(self_));
  ids_ = ids_of(view_);
  live_ = live_members(view_);
  relaying_ = relaying_members(view_);
  fellows_ = fellows_of(self_, view_);
  obeyed_ = coordinator();
  renew_watched();
}

// --- Inputs from this processor ----------------------------------------------------------------

void Membership::start(Instant now, Outbox& out) {
  settle(now, out);
}

void Membership::admit(Instant now, const Member& newcomer, std::uint64_t request, Outbox& out) {
  if (is_over_) return;
  admissions_[request] = newcomer;
  if (obeyed_ != self_) out.send(obeyed_, Admit{newcomer, request});
  settle(now, out);
}

void Membership::leave(Instant now, LeaveStep step, Outbox& out) {
  if (is_over_) return;
  leave_ = Leave{leave_ ? std::max(step, leave_->step) : step};
  if (obeyed_ != self_) out.send(obeyed_, *leave_);
  settle(now, out);
}

void Membership::note_job(JobId job) {
  // A number far beyond what was given so far is no coordinator's: nothing must use up the numbers.
  constexpr JobId::rep kLeapMax = JobId::rep{1} << 24U;
  const bool is_given = job.value >= view_.next_job && job.value < kIdEnd;
  if (is_given && job.value - view_.next_job < kLeapMax) view_.next_job = job.value + 1;
}

JobId Membership::take_job_id() {
  PHX_CHECK(is_coordinator());
  return view_.next_job < kIdEnd ? JobId{view_.next_job++} : JobId{};
}

// --- Messages ------------------------------------------------------------------------------------

void Membership::on_message(Instant now, ProcessorId from, const ViewChange& message, Outbox& out) {
  const bool is_from_gone = !contains(from) && from.value < view_.next_processor;
  if (is_over_ || is_from_gone || message.number <= view_.number || !is_sound(message)) return;
  const auto [held, is_new] = held_.try_emplace(message.number, from, message);
  // A successor repeats what its predecessor said last: it is the one that can still be asked.
  // And what anybody else says is none of the coordinator's changes.
  const bool is_better = held->second.first < from || from == coordinator();
  if (!is_new && is_better) held->second = {from, message};
  apply_held(out);
  // A repair by the whole view follows (on_timer), so the earliest may go.
  while (held_.size() > options_.held_max) held_.erase(held_.begin());
  settle(now, out);
}

void Membership::on_message(Instant now, ProcessorId from, const Admit& message, Outbox& out) {
  if (is_over_ || !is_member(from, out)) return;
  hold({from, message});
  settle(now, out);
}

void Membership::on_message(Instant now, ProcessorId from, const Leave& message, Outbox& out) {
  if (is_over_ || !is_member(from, out)) return;
  hold({from, message});
  settle(now, out);
}

void Membership::on_message(Instant /*now*/, ProcessorId /*from*/, const Admitted& message,
                            Outbox& out) {
  const auto wish = admissions_.find(message.request);
  if (is_over_ || wish == admissions_.end()) return;
  // Changes are held back during a takeover: then the wish is repeated to the next coordinator.
  if (message.refusal.empty() && !contains(message.id)) return;
  admissions_.erase(wish);
  out.report(Admission{message});
}

void Membership::on_message(Instant now, ProcessorId from, const LeaveRefused& message,
                            Outbox& out) {
  const bool is_asked = leave_ && live_.contains(self_) && message.who == self_;
  if (is_over_ || !is_asked || from != coordinator()) return;
  leave_.reset();
  out.report(StayOn{message.why});
  settle(now, out);
}

void Membership::on_message(Instant now, ProcessorId from, const ViewQuery& message, Outbox& out) {
  if (is_over_) return;
  if (!contains(from)) {
    out.send(from, fence());
    return;
  }
  if (from > self_) return;  // It would have to hold this processor for dead.
  // This one obeys it anyway: it has missed the views in which those above it left; or it has taken
  // over, and the question comes once more (Daemon::Core::refuse_tokens), when nothing is to wait.
  const bool is_obeyed = from == coordinator() && message.number < view_.number;
  // Of two that take over, the higher id knows of more deaths: it prevails everywhere.
  if (promised_ && from < *promised_) return;
  if (!is_obeyed) {
    promise(from);
    detector_.trust(from);
  }
  ViewReport report{view_};
  if (view_.number <= message.number) report.view.members = {};
  out.send(from, std::move(report));
  settle(now, out);
}

void Membership::on_message(Instant now, ProcessorId from, const ViewReport& message, Outbox& out) {
  const bool is_brief = message.view.members.empty() && message.view.number <= view_.number;
  if (is_over_ || (!is_brief && !is_sound(message.view))) return;
  if (takeover_) {
    takeover_->on_report(from, message.view);
  } else if (is_coordinator() && contains(from) && message.view.number < view_.number) {
    out.send(from, ViewInstall{view_, {}});  // It missed a change.
  }
  settle(now, out);
}

void Membership::on_message(Instant now, ProcessorId from, const ViewInstall& message,
                            Outbox& out) {
  if (is_over_ || message.view.number <= view_.number) return;
  if (promised_ && from < *promised_) return;
  const View next = result_of(view_, message);
  // It takes this member for one that has the view before.
  if (next.members.empty() && contains(from)) out.send(from, ViewReport{view_});
  if (!is_sound(next) || next.members.first() != from) return;
  if (!next.members.contains(self_)) {
    is_over_ = true;
    out.report(FencedOut{"a new view does not contain this processor"});
    return;
  }
  install(next, message.gone, out);
  settle(now, out);
}

void Membership::on_message(Instant /*now*/, ProcessorId from, const Fenced& message, Outbox& out) {
  // A fence from a stranger does not count: two halves of a partition would kill each other.
  if (is_over_ || !contains(from)) return;
  is_over_ = true;
  if (leave_ && leave_->step == LeaveStep::kRemove) {
    out.report(ViewInstalled{{}, {Gone{self_, Departure::kLeft, {}}}});
  } else {
    out.report(FencedOut{message.why});
  }
}

void Membership::on_timer(Instant now, Timer timer, Outbox& out) {
  if (is_over_) return;
  if (timer == Timer::kOffice) return settle(now, out);
  retry_armed_ = false;
  if (takeover_) {
    for (const ProcessorId id : takeover_->awaited().ids()) out.send(id, ViewQuery{view_.number});
  }
  // Who has made the latest change is coordinator still, or was it last.
  if (!held_.empty() && !promised_) out.send(held_.rbegin()->second.first, ViewReport{view_});
  repeat_wishes(out);
  // The one that was to take over may have died: the next one must hear of it from somebody.
  if (promised_) repeat_suspicions(out);
  settle(now, out);
}

// --- Changes -------------------------------------------------------------------------------------

void Membership::apply_held(Outbox& out) {
  while (!held_.empty() && !promised_ && !is_over_) {
    const auto& [from, change] = held_.begin()->second;
    if (change.number > view_.number) {
      if (change.number != view_.number + 1 || !may_change(from, view_, change)) return;
      apply(ViewChange{change}, out);
    }
    held_.erase(held_.begin());
  }
}

void Membership::apply(const ViewChange& change, Outbox& out) {
  const ProcessorId before = coordinator();
  apply_change(view_, change);
  const auto self = view_.members.find(self_);
  for (const SharedMember& member : change.joined) {
    ids_.insert(member.id());
    const auto is_in = [&](ProcessorSet& some, bool is_one) {
      is_one ? some.insert(member.id()) : some.erase(member.id());
    };
    is_in(live_, !member->leaving);
    is_in(relaying_, !member->emptied);
    if (member.id() == self_ || self == view_.members.end()) continue;
    is_in(fellows_, share_machine(self->second, *member));
  }
  for (const Gone& gone : change.gone) {
    ids_.erase(gone.id);
    live_.erase(gone.id);
    relaying_.erase(gone.id);
    fellows_.erase(gone.id);
    detector_.forget(gone.id);
  }
  is_over_ = !contains(self_);
  if (!newer_.empty() && newer_.front().value < view_.next_processor) forget_known();
  if (coordinator() == self_ && before != self_) {
    for (const auto& [id, member] : view_.members) {
      if (id != self_) out.send(id, change);
    }
  }
  out.report(ViewInstalled{change.joined, change.gone});
}

void Membership::forget_known() {
  if (view_.next_processor <= 1) return;
  newer_ = newer_.minus(ProcessorSet::range(ProcessorId{1}, ProcessorId{view_.next_processor - 1}));
}

void Membership::install(View next, const std::vector<Gone>& reasons, Outbox& out) {
  ViewChange change = difference(view_, next, reasons);
  next.next_job = std::max(next.next_job, view_.next_job);
  view_ = std::move(next);
  ids_ = ids_of(view_);
  live_ = live_members(view_);
  relaying_ = relaying_members(view_);
  fellows_ = fellows_of(self_, view_);
  detector_.keep_only(view_);
  promised_.reset();
  takeover_.reset();
  forget_known();
  std::erase_if(held_, [&](const auto& held) { return !contains(held.second.first); });
  out.report(ViewInstalled{std::move(change.joined), std::move(change.gone)});
  apply_held(out);
}

// --- Who is obeyed -------------------------------------------------------------------------------

ProcessorId Membership::coordinator() const {
  return coordinator_of(view_);
}

/// Where this processor's wishes go now.
ProcessorId Membership::acting() const {
  return detector_.lowest_trusted(view_);
}

/// From now on only `successor`, or one with a higher id, can give this processor a new view.
void Membership::promise(ProcessorId successor) {
  promised_ = successor;
  for (const auto& [id, member] : view_.members) {
    if (id >= successor) break;
    condemn({id, Departure::kUnreachable,
             "declared dead by " + to_string(successor) + ", which took over"});
  }
}

/// A death of `id` would matter: during a takeover also that of members one does not know yet.
bool Membership::concerns(ProcessorId id) const {
  return contains(id) || (takeover_ && takeover_->contains(id));
}

/// A processor that is newer than the view here is remembered: if the coordinator dies before it
/// tells of it, the next one must ask this processor as well.
bool Membership::is_member(ProcessorId from, Outbox& out) {
  if (contains(from)) return true;
  if (from.value < view_.next_processor || newer_.size() >= options_.held_max) return false;
  newer_.insert(from);
  if (takeover_ && takeover_->await(from)) out.send(from, ViewQuery{view_.number});
  return false;
}

/// The end of every input: does what follows from the new state.
void Membership::settle(Instant now, Outbox& out) {
  if (!is_over_ && acting() == self_ && coordinator() != self_ && !takeover_) begin_takeover(out);
  if (takeover_) end_takeover_if_complete(out);
  if (is_coordinator()) do_office(now, out);
  if (is_over_) {
    if (retry_armed_) out.disarm(Timer::kRetry);
    out.disarm(Timer::kOffice);
    watched_ = {};
    return;
  }
  if (leave_ && has_done(view_.members.at(self_), leave_->step)) leave_.reset();
  const ProcessorId now_acting = acting();
  if (now_acting != obeyed_) {
    obeyed_ = now_acting;
    repeat_wishes(out);
    repeat_suspicions(out);
  }
  const bool is_waiting = promised_ || leave_ || !admissions_.empty() || !held_.empty();
  if (is_waiting && !retry_armed_) {
    retry_armed_ = true;
    out.arm(Timer::kRetry, now + options_.retry_period);
  }
  renew_watched();
}

void Membership::repeat_wishes(Outbox& out) {
  if (obeyed_ == self_) return;
  for (const auto& [request, newcomer] : admissions_) out.send(obeyed_, Admit{newcomer, request});
  if (leave_) out.send(obeyed_, *leave_);
}

void Membership::hold(Request request) {
  if (requests_.size() >= options_.held_max) requests_.pop_front();  // it will be repeated
  requests_.push_back(std::move(request));
}

void Membership::begin_takeover(Outbox& out) {
  promise(self_);
  takeover_.emplace(self_, view_);
  for (const ProcessorId id : takeover_->take_unasked(detector_))
    out.send(id, ViewQuery{view_.number});
  for (const ProcessorId id : newer_.ids()) {
    if (id.value >= view_.next_processor && takeover_->await(id))
      out.send(id, ViewQuery{view_.number});
  }
}

void Membership::end_takeover_if_complete(Outbox& out) {
  if (takeover_->is_fenced()) {
    is_over_ = true;
    takeover_.reset();
    out.report(FencedOut{"the last view does not contain this processor"});
    return;
  }
  for (const ProcessorId id : takeover_->take_unasked(detector_))
    out.send(id, ViewQuery{view_.number});
  if (!takeover_->awaited().empty()) return;
  const ViewInstall result = takeover_->result(detector_, options_.id_gap);
  ViewInstall brief = result;
  brief.view.members = {};
  for (const auto& [id, member] : result.view.members) {
    if (id != self_) out.send(id, takeover_->has_best(id) ? brief : result);
  }
  install(result.view, result.gone, out);
}

/// The successors in the ring; and those whose death would leave this processor waiting.
void Membership::renew_watched() {
  watched_ = ring_successors(self_, view_, options_.monitored);
  const auto self = view_.members.find(self_);
  if (self != view_.members.begin() && std::prev(self) == view_.members.begin()) {
    watched_.insert(coordinator());  // the next coordinator must notice first
  }
  if (promised_ && promised_ != self_) watched_.insert(*promised_);
  if (!takeover_) return;
  watched_ = watched_.united(takeover_->awaited());
}

ProcessorSet Membership::gone() const {
  return gone_members(view_);
}

Fenced Membership::fence() const {
  return Fenced{view_.number, "the mesh has declared this processor gone in view " +
                                  std::to_string(view_.number)};
}

void Membership::check_invariants() const {
  if (is_over_) return;
  PHX_CHECK(contains(self_));
  PHX_CHECK(view_.next_processor > view_.members.last().value);
  PHX_CHECK(takeover_.has_value() == (promised_ == self_));
  PHX_CHECK(!promised_ || *promised_ <= self_);
  PHX_CHECK(!watched_.contains(self_));
  PHX_CHECK(ids_ == ids_of(view_) && live_ == live_members(view_));
  PHX_CHECK(relaying_ == relaying_members(view_) && fellows_ == fellows_of(self_, view_));
  for (const auto& [id, gone] : detector_.suspected()) PHX_CHECK(concerns(id));
}

}  // namespace phx::runtime
