// The office of the coordinator: wishes and deaths become changes of the view.
#include <algorithm>

#include "runtime/membership/membership.h"
#include "runtime/membership/view_change.h"

namespace phx::runtime {

/// One change in the making, and those who wait for it.
struct Membership::Draft {
  ViewChange change;
  ProcessorSet live;
  std::uint32_t next_processor;
  std::vector<std::pair<ProcessorId, Admitted>> admitted;
  std::vector<ProcessorId> refused;  ///< Are the last that do not leave.

  /// What it says of this member so far.
  std::optional<Member> take_change(ProcessorId id) {
    const auto found = std::ranges::find(change.joined, id, &SharedMember::id);
    if (found == change.joined.end()) return std::nullopt;
    Member member = **found;
    change.joined.erase(found);
    return member;
  }
  [[nodiscard]] bool is_gone(ProcessorId id) const {
    return std::ranges::find(change.gone, id, &Gone::id) != change.gone.end();
  }
};

/// What only the coordinator does: puts the dead out and fulfils wishes, all in one change.
void Membership::do_office(Instant now, Outbox& out) {
  const bool has_dead = !detector_.suspected().empty();
  const bool has_wishes = !requests_.empty() || !admissions_.empty() || leave_ || !emptied_.empty();
  if (!has_dead && !has_wishes) return;
  if (now < office_opens_) return out.arm(Timer::kOffice, office_opens_);
  Draft draft{{}, live_, view_.next_processor, {}, {}};
  for (const auto& [id, gone] : detector_.suspected()) {
    draft.change.gone.push_back(gone);
    draft.live.erase(id);
  }
  for (const Request& request : std::exchange(requests_, {})) {
    if (!contains(request.first) || draft.is_gone(request.first)) continue;
    std::visit([&](const auto& wish) { this->draft(request.first, wish, draft); }, request.second);
  }
  for (const auto& [request, newcomer] : admissions_) {
    this->draft(self_, Admit{newcomer, request}, draft);
  }
  if (leave_ && leave_->step != LeaveStep::kRemove) this->draft(self_, *leave_, draft);
  draft_emptied(now, draft, out);
  if (!draft.change.joined.empty() || !draft.change.gone.empty()) {
    office_opens_ = now + options_.office_period +
                    options_.office_per_member * static_cast<Duration::rep>(view_.members.size());
    publish(std::move(draft.change), out);
  }
  answer(draft, out);
  // The last act of one that leaves: nothing else is in that change, for its successor repeats it.
  if (leave_ && leave_->step == LeaveStep::kRemove) {
    publish(ViewChange{0, {}, {Gone{self_, Departure::kLeft, {}}}}, out);
  }
}

void Membership::draft(ProcessorId from, const Admit& wish, Draft& draft) {
  const auto admit = [&](ProcessorId id) {
    draft.admitted.emplace_back(from, Admitted{wish.request, id, {}, 0, false});
  };
  const auto refuse = [&](std::string why, bool is_final) {
    draft.admitted.emplace_back(from, Admitted{wish.request, kNobody, std::move(why), 0, is_final});
  };
  const auto is_same = [&](const Member& member) {
    return member.incarnation == wish.newcomer.incarnation;
  };
  for (const auto& [id, member] : view_.members) {
    if (is_same(member)) return admit(id);
  }
  for (const SharedMember& member : draft.change.joined) {
    if (is_same(*member)) return admit(member.id());
  }
  // A program starts no processes, and phoenixd takes no part in the job of programs.
  if (const bool of_programs = view_.members.begin()->second.embedded;
      wish.newcomer.embedded != of_programs) {
    return refuse(of_programs ? "this mesh is one of programs with daemons inside, and "
                                "takes no phoenixd"
                              : "this mesh is one of phoenixd, whose jobs `phoenix run` "
                                "starts: it takes no program with a daemon inside",
                  true);
  }
  if (view_.members.size() + draft.next_processor - view_.next_processor >= options_.members_max) {
    return refuse("the mesh is full: " + std::to_string(options_.members_max) +
                      " processors; raise members_max",
                  false);
  }
  if (draft.next_processor >= kIdEnd) {
    return refuse("the mesh has no numbers left for processors; start a new one", true);
  }
  Member member = wish.newcomer;
  member.id = ProcessorId{draft.next_processor++};
  member.leaving = member.emptied = false;
  draft.live.insert(member.id);
  admit(member.id);
  draft.change.joined.push_back(std::move(member));
}

void Membership::draft(ProcessorId from, const Leave& wish, Draft& draft) {
  const auto found = view_.members.find(from);
  if (found == view_.members.end() || draft.is_gone(from)) return;
  const Member& leaver = found->second;
  if (has_done(leaver, wish.step)) return;
  if (wish.step == LeaveStep::kRemove) {
    draft.take_change(from);
    draft.change.gone.push_back(Gone{from, Departure::kLeft, {}});
    draft.live.erase(from);
  } else if (leaver.leaving) {
    emptied_.insert(from);
  } else if (draft.live == ProcessorSet{from}) {
    draft.refused.push_back(from);
  } else {
    Member marked = draft.take_change(from).value_or(leaver);
    marked.leaving = true;
    marked.emptied = marked.emptied || wish.step == LeaveStep::kEmptied;
    draft.change.joined.push_back(std::move(marked));
    draft.live.erase(from);
  }
}

/// Each change of those who relay has all trees drawn anew. So leavers that have given all away go
/// out of them together, if others come to that soon.
void Membership::draft_emptied(Instant now, Draft& draft, Outbox& out) {
  emptied_ = emptied_.common(relaying_);
  for (const Gone& gone : draft.change.gone) emptied_.erase(gone.id);
  if (emptied_.empty()) {
    emptied_due_.reset();
    return;
  }
  if (!emptied_due_) emptied_due_ = now + options_.emptied_wait;
  ProcessorSet others = relaying_.minus(live_).minus(emptied_);  // leavers, too
  for (const Gone& gone : draft.change.gone) others.erase(gone.id);
  if (!others.empty() && now < *emptied_due_) return out.arm(Timer::kOffice, *emptied_due_);
  for (const ProcessorId id : std::exchange(emptied_, {}).ids()) {
    Member leaver = view_.members.at(id);
    leaver.emptied = true;
    draft.change.joined.push_back(std::move(leaver));
  }
  emptied_due_.reset();
}

/// Behind the change itself, so that whoever gets an answer has the view.
void Membership::answer(Draft& draft, Outbox& out) {
  for (auto& [to, admitted] : draft.admitted) {
    admitted.view = view_.number;
    if (to != self_) {
      out.send(to, admitted);
    } else if (admissions_.erase(admitted.request) > 0) {
      out.report(Admission{admitted});
    }
  }
  for (const ProcessorId id : draft.refused) refuse_leave(id, out);
}

/// Whoever leaves must have somebody to give everything to, so the last one that stays is told to.
/// All who were let go before it can count on it.
void Membership::refuse_leave(ProcessorId from, Outbox& out) {
  const std::string why = to_string(from) +
                          " is the last processor that does not leave; "
                          "to end the mesh, use phoenix down";
  if (from != self_) {
    out.send(from, LeaveRefused{from, why});
    return;
  }
  leave_.reset();
  out.report(StayOn{why});
}

/// Numbers the change and tells everybody: also who leaves by its own wish, but not newcomers
/// (they start from a view that has it).
void Membership::publish(ViewChange change, Outbox& out) {
  change.number = view_.number + 1;
  change.next_job = view_.next_job;
  ProcessorSet dead;
  for (const Gone& gone : change.gone) {
    if (gone.why != Departure::kLeft) dead.insert(gone.id);
  }
  for (const auto& [id, member] : view_.members) {
    if (id != self_ && !dead.contains(id)) out.send(id, change);
  }
  apply(change, out);
}

}  // namespace phx::runtime
