// Who is held for dead: accusations, their judge and its witnesses [README, "Accusations"].
#include <algorithm>

#include "runtime/membership/membership.h"

namespace phx::runtime {

void Membership::suspect(Instant now, ProcessorId accused, Departure why, std::string detail,
                         Outbox& out) {
  if (is_over_ || accused == self_ || !concerns(accused)) return;
  accuse(now, self_, {accused, why, std::move(detail)}, out);
  settle(now, out);
}

void Membership::trust(Instant now, ProcessorId peer, Outbox& out) {
  // Whom a takeover has declared dead stays dead: some may have installed its result already.
  if (is_over_ || (promised_ && peer < *promised_)) return;
  detector_.trust(peer);
  if (takeover_) takeover_->on_trusted();
  settle(now, out);
}

void Membership::on_message(Instant now, ProcessorId from, const Suspect& message, Outbox& out) {
  const ProcessorId accused = message.accused;
  if (is_over_ || !is_member(from, out)) return;
  const bool is_gone = !contains(accused) && accused.value < view_.next_processor;
  const bool is_unheard_of = accused.value >= view_.next_processor && promised_ == from;
  if ((is_gone || is_unheard_of) && message.why != Departure::kLeft) {
    // Somebody who has missed a view wants to know; or the dead coordinator alone knew a newcomer,
    // which nobody can try who waits for the next view. kLeft: this needs no answer.
    out.send(from, Suspect{accused, Departure::kLeft, "no member here", self_});
  }
  if (!concerns(accused)) return;
  if (accused == self_ || message.accuser == self_ || message.accuser == accused) return;
  accuse(now, message.accuser, {accused, message.why, message.detail}, out);
  if (!detector_.is_accused(accused)) {
    // The answer is the acknowledgement, or else suspect() by the own channel.
    out.send(accused, Heartbeat{});
  } else if (message.why != Departure::kLeft && from == detector_.judge_of(accused, view_)) {
    const Gone& own = detector_.accused().at(accused);
    out.send(from, Suspect{accused, own.why, own.detail, self_});
  }
  settle(now, out);
}

void Membership::accuse(Instant now, ProcessorId accuser, const Gone& accused, Outbox& out) {
  const bool is_new = accuser == self_ && !detector_.is_accused(accused.id);
  const bool was_judge = is_new && detector_.judge_of(kNobody, view_) == accused.id;
  detector_.accuse(now, accuser, accused);
  if (is_proof(accuser, accused)) condemn(accused);
  if (accuser == self_) try_judges(accused.id, out);
  // It was the judge of all others, which are somebody else's now; or nobody is left to be asked.
  if (was_judge || (is_new && detector_.has_nobody_else(view_))) {
    repeat_suspicions(out);
    for (const auto& [id, gone] : std::map(detector_.accused())) judge(now, id, out);
    return;
  }
  const ProcessorId told = detector_.judge_of(accused.id, view_);
  // Words of others go downwards only, so that they end somewhere.
  const bool is_passed_on = accuser == self_ ? told != self_ : told < self_ && told != accuser;
  if (is_passed_on && told != kNobody) {
    out.send(told, Suspect{accused.id, accused.why, accused.detail, accuser});
  }
  judge(now, accused.id, out);
}

/// The judge may have died of the same thing, and those after it, too: so sixteen times as many are
/// tried as this processor accuses already. They have one judge, so one row is enough for all.
void Membership::try_judges(ProcessorId accused, Outbox& out) const {
  if (accused != detector_.accused().begin()->first) return;
  constexpr std::size_t kTriedEach = 16;
  std::size_t left = kTriedEach * detector_.accused().size();
  for (const auto& [id, member] : view_.members) {
    if (id >= self_ || left == 0) return;
    if (detector_.is_accused(id) || detector_.is_suspected(id)) continue;
    out.send(id, Heartbeat{});
    --left;
  }
}

/// Two must have tried, and the judge is one of them; who is alone with the accused decides alone.
void Membership::judge(Instant now, ProcessorId accused, Outbox& out) {
  const bool is_own = detector_.is_accused(accused);
  if (detector_.is_suspected(accused) || detector_.judge_of(accused, view_) != self_) return;
  if (options_.accusers <= 1) return condemn({accused, Departure::kSilent, "one accuser"});
  if (!is_own) return;
  const std::vector<ProcessorId> asked = witnesses(accused);
  const Gone& own = detector_.accused().at(accused);
  const bool is_enough = 1 + detector_.other_accusers(now, accused) >= options_.accusers;
  if (is_enough || asked.empty()) return condemn(own);
  for (const ProcessorId id : asked) out.send(id, Suspect{accused, own.why, own.detail, self_});
}

/// From now on it is held for dead here; settle() does what follows.
void Membership::condemn(const Gone& dead) {
  detector_.condemn(dead);
  if (takeover_) takeover_->give_up(dead.id);
}

/// Nobody listens on the machine of both. From another machine a refusal may be a firewall's.
bool Membership::is_proof(ProcessorId accuser, const Gone& accused) const {
  const auto by = view_.members.find(accuser);
  const auto dead = view_.members.find(accused.id);
  return accused.why == Departure::kConnectionLost && by != view_.members.end() &&
         dead != view_.members.end() && share_machine(by->second, dead->second);
}

/// Whom the judge asks to try as well: first those that watch the accused.
std::vector<ProcessorId> Membership::witnesses(ProcessorId accused) const {
  constexpr std::uint32_t kDoublings = 14;
  const std::uint32_t round = std::min(detector_.times_accused(accused), kDoublings);
  const std::size_t most = std::size_t{options_.witnesses} << (round > 0 ? round - 1 : 0);
  std::vector<ProcessorId> asked;
  for (const ProcessorId id : ring_predecessors(accused, view_)) {
    if (asked.size() == most) break;
    if (id != self_ && !detector_.is_accused(id) && !detector_.is_suspected(id)) {
      asked.push_back(id);
    }
  }
  return asked;
}

ProcessorSet Membership::observers() const {
  std::vector<ProcessorId> watchers = ring_predecessors(self_, view_);
  watchers.resize(std::min<std::size_t>(watchers.size(), options_.monitored));
  ProcessorSet observers;
  for (const ProcessorId id : watchers) observers.insert(id);
  std::uint32_t judges = 0;
  for (const auto& [id, member] : view_.members) {
    if (judges++ > options_.monitored) break;
    observers.insert(id);
  }
  observers.erase(self_);
  return observers;
}

void Membership::repeat_suspicions(Outbox& out) {
  for (const auto& [id, gone] : detector_.accused()) {
    const ProcessorId told = detector_.judge_of(id, view_);
    if (told != self_ && told != kNobody) {
      out.send(told, Suspect{id, gone.why, gone.detail, self_});
    }
  }
}

}  // namespace phx::runtime
