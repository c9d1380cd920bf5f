#include "runtime/membership/view_change.h"

#include <algorithm>

#include "overlay/base/check.h"

namespace phx::runtime {

ProcessorId coordinator_of(const View& view) {
  return view.members.empty() ? kNobody : view.members.first();
}

void apply_change(View& view, const ViewChange& change) {
  PHX_CHECK(change.number == view.number + 1);
  view.number = change.number;
  view.next_job = std::max(view.next_job, change.next_job);
  const auto relays = [&view](ProcessorId id) {
    const auto found = view.members.find(id);
    return found != view.members.end() && !found->second.emptied;
  };
  for (const SharedMember& member : change.joined) {
    if (relays(member.id()) == member->emptied) view.relaying_since = change.number;
    view.members.put(member);
    view.next_processor = std::max(view.next_processor, member.id().value + 1);
  }
  for (const ViewChange::Gone& gone : change.gone) {
    if (relays(gone.id)) view.relaying_since = change.number;
    if (view.members.erase(gone.id) > 0 && gone.why != Departure::kLeft) ++view.line;
  }
}

View result_of(const View& before, const ViewInstall& install) {
  View result = install.view;
  if (!result.members.empty() || result.number != before.number + 1) return result;
  result.members = before.members;
  for (const ViewChange::Gone& gone : install.gone) result.members.erase(gone.id);
  return result;
}

bool is_sound(const ViewChange& change) {
  return std::ranges::all_of(change.joined, [](const SharedMember& member) {
    return member.id() != kNobody && member.id().value < kIdEnd;
  });
}

bool is_sound(const View& view) {
  return !view.members.empty() && view.members.first() != kNobody &&
         view.members.last().value < view.next_processor;
}

bool is_gone_by(const ViewChange& change, ProcessorId id) {
  return std::ranges::find(change.gone, id, &ViewChange::Gone::id) != change.gone.end();
}

bool may_change(ProcessorId from, const View& view, const ViewChange& change) {
  for (const auto& [id, member] : view.members) {
    if (id == from) return true;
    if (!is_gone_by(change, id)) return false;
  }
  return false;
}

ViewChange difference(const View& before, const View& after,
                      const std::vector<ViewChange::Gone>& reasons) {
  ViewChange result{after.number, {}, {}};
  for (const SharedMember& member : after.members.records()) {
    const auto old = before.members.find(member.id());
    if (old == before.members.end() || old->second != *member) result.joined.push_back(member);
  }
  for (const auto& [id, member] : before.members) {
    if (after.members.contains(id)) continue;
    const auto reason = std::ranges::find(reasons, id, &ViewChange::Gone::id);
    // If a leaver has died after all, those who saw it say what follows.
    const auto why = member.leaving ? Departure::kLeft : Departure::kUnreachable;
    result.gone.push_back(reason != reasons.end()
                              ? *reason
                              : ViewChange::Gone{id, why, "gone in a view that was missed here"});
  }
  return result;
}

ProcessorSet ids_of(const View& view) {
  ProcessorSet ids;
  for (const SharedMember& member : view.members.records()) ids.insert(member.id());
  return ids;
}

ProcessorSet live_members(const View& view) {
  ProcessorSet live;
  for (const auto& [id, member] : view.members) {
    if (!member.leaving) live.insert(id);
  }
  return live;
}

ProcessorSet relaying_members(const View& view) {
  ProcessorSet relaying;
  for (const auto& [id, member] : view.members) {
    if (!member.emptied) relaying.insert(id);
  }
  return relaying;
}

bool has_done(const Member& leaver, LeaveStep step) {
  if (step == LeaveStep::kMark) return leaver.leaving;
  return step == LeaveStep::kEmptied && leaver.emptied;
}

ProcessorSet gone_members(const View& view) {
  if (view.next_processor <= 1) return {};
  return ProcessorSet::range(ProcessorId{1}, ProcessorId{view.next_processor - 1})
      .minus(ids_of(view));
}

}  // namespace phx::runtime
