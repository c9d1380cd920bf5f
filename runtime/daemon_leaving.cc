#include <utility>
#include <variant>

#include "runtime/daemon_core.h"

// How a processor leaves [runtime/README.md, "Leaving"].
namespace phx::runtime {
namespace {

/// So many times `peer_timeout` a processor that asked to be taken out waits for that. A frozen
/// coordinator is replaced after one; after two or three if the next one is frozen as well, or
/// hears of it only from others; the rest is for those after it.
constexpr int kOutPatience = 6;
/// How long a coordinator waits until all have its last word, which is the view without itself:
/// who does not get it takes it for dead. And how long the last step of the end of a mesh waits.
constexpr Duration kLastWordGrace = 5s;
/// How long a step before that waits for those who do not confirm it.
constexpr Duration kTellMost = 2s;
/// Nobody needs the last words of others: what matters was acknowledged before they asked.
constexpr Duration kRemovedGrace = 250ms;

ChannelMarks marks_of(Channels& channels, const ProcessorSet& some) {
  ChannelMarks marks = channels.marks();
  std::erase_if(marks, [&](const auto& mark) { return !some.contains(mark.first); });
  return marks;
}

/// The processors that have not acknowledged these.
std::vector<Done::Unconfirmed> unconfirmed(const Channels& channels, const ChannelMarks& marks,
                                           const View& view) {
  std::vector<Done::Unconfirmed> result;
  for (const auto& [id, mark] : marks) {
    ChannelMarks one{{id, mark}};
    const auto member = view.members.find(id);
    if (channels.has_acknowledged(one) || member == view.members.end()) continue;
    const auto& endpoints = member->second.endpoints;
    result.push_back({id, endpoints.empty() ? "" : endpoints.front()});
  }
  return result;
}

}  // namespace

void Daemon::Core::drain() {
  if (phase != Phase::kMember) return;
  if (members == ProcessorSet{self}) {
    note(Note::Level::kInfo, "last-processor-leaves", "");
    end_mesh();
    return;
  }
  Membership::Outbox out;
  // One change is enough for a processor that has nothing.
  membership.leave(now, jobs.has_vnodes() ? LeaveStep::kMark : LeaveStep::kEmptied, out);
  absorb(out);
}

void Daemon::Core::on_ordered_to_leave(ProcessorId from) {
  orderers.insert(from);
  drain();
}

void Daemon::Core::on_stay(const std::string& why) {
  note(Note::Level::kWarn, "stays", why);
  on_leave_refused({self, why});
  for (const ProcessorId orderer : std::exchange(orderers, {}).ids()) {
    send(orderer, LeaveRefused{self, why});
  }
}

void Daemon::Core::on_leave_refused(const LeaveRefused& refusal) {
  Tools::Outbox out;
  tools.on_refused(refusal, out);
  absorb(out);
}

void Daemon::Core::consider_leaving() {
  if (phase == Phase::kMember && members.contains(self) && !staying.contains(self)) {
    phase = Phase::kDraining;
    orderers = {};
  }
  if (phase == Phase::kDraining && members.contains(self) && !relaying.contains(self)) {
    phase = Phase::kEmptied;
    overlay::TreeForest::Outbox goodbyes;
    forest.leave(now, goodbyes);
    absorb(goodbyes);
    overlay::Survey::Outbox last;
    survey.leave(now, last);
    absorb(last);
  }
  for (const ProcessorId asker : flush_askers.minus(relaying).ids()) {
    send(asker, Flush{true});
    flush_askers.erase(asker);
  }
  if (!staying.empty() || members.empty()) return;
  with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
    jobs.end_all(surroundings, "all processors that are left leave the mesh", out);
  });
}

void Daemon::Core::on_flush(ProcessorId from, bool answer) {
  if (answer) {
    flushing.erase(from);
    // Who acknowledges this knows what was taken from it. Else, with a link that breaks now, it
    // would get back what was passed on here, when it sees this processor out of the view.
    send(from, Heartbeat{});
  } else if (relaying.contains(from)) {
    // That it is emptied is not known here yet: it could still be given things.
    flush_askers.insert(from);
  } else {
    send(from, Flush{true});
  }
}

void Daemon::Core::on_taken(ProcessorId from) {
  if (phase == Phase::kMember || phase > Phase::kSettling) return;
  // Who will answer a Flush hears of all with that: not who joined since then, for example.
  const bool hears_later =
      phase < Phase::kFlushing ? members.contains(from) : flushing.contains(from);
  if (from != self && !hears_later) send(from, Heartbeat{});
  if (phase == Phase::kSettling) phase = Phase::kFlushing;
}

void Daemon::Core::advance() {
  // Once per view, since only another view can make the answer another one.
  const ViewNumber view = membership.view().number;
  if (has_to_stop && std::exchange(asked_in, view) != view) drain();
  if (phase == Phase::kDraining && !jobs.has_vnodes() && !std::exchange(has_asked, true)) {
    Membership::Outbox out;
    membership.leave(now, LeaveStep::kEmptied, out);
    absorb(out);
  }
  if (phase == Phase::kEmptied && jobs.is_empty()) {
    phase = Phase::kFlushing;
    flushing = members.minus(ProcessorSet{self});
    for (const ProcessorId member : flushing.ids()) send(member, Flush{});
  }
  if (phase == Phase::kSettling && !jobs.is_empty()) phase = Phase::kFlushing;
  if (phase == Phase::kFlushing && jobs.is_empty() && flushing.common(members).empty()) {
    phase = Phase::kSettling;
    // What a coordinator is asked meanwhile has no end, and the next one can be asked as well.
    awaited = channels.marks();
  }
  if (mesh_end.is_under_way() && channels.has_acknowledged(mesh_end.awaited)) tell_next();
  // Others go on: what they announce comes here, too, until this processor is out.
  if (phase == Phase::kSettling || phase == Phase::kOut) channels.confirm_all();
  if (phase == Phase::kSettling && channels.has_acknowledged(awaited)) {
    phase = Phase::kOut;
    timers.arm(Timer{OwnTimer::kStop}, now + kOutPatience * config.peer_timeout);
    Membership::Outbox out;
    membership.leave(now, LeaveStep::kRemove, out);
    absorb(out);
  }
  if (phase == Phase::kOut && !members.contains(self) && jobs.is_empty()) stop_when_heard();
}

std::string Daemon::Core::awaited_to_leave() const {
  const std::string coordinator = to_string(membership.coordinator()) + ", the coordinator, to ";
  switch (phase) {
    case Phase::kMember:
      return orderers.empty() && !has_to_stop ? "" : coordinator + "mark it as leaving";
    case Phase::kDraining:
      return has_asked ? coordinator + "take it out of the trees" : "";
    case Phase::kFlushing: {
      const ProcessorSet left = flushing.common(members);
      if (left.empty()) return "";
      const std::string others =
          left.size() == 1 ? "" : " and " + std::to_string(left.size() - 1) + " more";
      return to_string(left.front()) + others + " to send it nothing more";
    }
    case Phase::kSettling:
      return "others to acknowledge what it has sent";
    case Phase::kOut:
      return members.contains(self) ? coordinator + "take it out of the mesh" : "";
    default:
      return "";
  }
}

void Daemon::Core::stop_when_heard() {
  const bool is_heard =
      mesh_end.is_over() ? channels.has_acknowledged(awaited) : channels.all_acknowledged();
  if (is_heard) return stop(0, {});
  // Orders to end may have to wait for a link to be made: then the time of end_mesh() holds.
  if (mesh_end.is_over() || std::exchange(is_removed, true)) return;
  const bool was_coordinator = !members.empty() && self < members.front();
  timers.disarm(Timer{OwnTimer::kStop});
  timers.arm(Timer{OwnTimer::kStop}, now + (was_coordinator ? kLastWordGrace : kRemovedGrace));
}

void Daemon::Core::on_stop_due() {
  if (!members.contains(self)) {
    const bool was_coordinator = !members.empty() && self < members.front();
    return stop(0, was_coordinator ? "not all have confirmed the view without this processor" : "");
  }
  const auto waited =
      std::chrono::duration_cast<std::chrono::seconds>(kOutPatience * config.peer_timeout);
  stop(3, "nobody took this processor out of the mesh within " + std::to_string(waited.count()) +
              " s after it asked " + to_string(membership.coordinator()) +
              " for it; the others will take it for dead");
}

/// Such an envelope, and what follows it, is not taken, so that the sender gets it back when it
/// sees the view without this processor.
void Daemon::Core::refuse_tokens(ProcessorId from, Frame& frame) {
  if (phase != Phase::kOut || !frame.envelope) return;
  if (!refused.contains(from) && !carries_tokens(*frame.envelope)) return;
  refused.insert(from);
  // But who belongs to the mesh it must hear, whatever way, and once too often does no harm: that
  // it is out, or, as the next coordinator, what the last view was.
  std::visit(
      [&](const auto& m) {
        if constexpr (requires(Membership::Outbox & out) {
                        membership.on_message(now, from, m, out);
                      }) {
          inbox.push_back({from, m});
        }
      },
      *frame.envelope);
  frame.seq = 0;
  frame.envelope.reset();
}

void Daemon::Core::take_down(const DownOrder& order) {
  if (mesh_end.is_begun()) return;
  const ProcessorSet others = members.minus(order.told).minus(ProcessorSet{self});
  mesh_end.begin(others, order.told);
  mesh_end.why = order.why;
  ProcessorSet unknown;
  for (const ProcessorId other : others.ids()) {
    if (detours.has_way(other)) continue;
    send(other, Heartbeat{});
    unknown.insert(other);
  }
  mesh_end.awaited = marks_of(channels, unknown);
  timers.arm(Timer{OwnTimer::kTellNext}, now + kTellMost);
}

void Daemon::Core::tell_next() {
  ProcessorSet far;
  for (const auto& [peer, via] : detours.in_use()) far.insert(peer);
  const ProcessorSet next = mesh_end.next(far);
  const DownOrder order{mesh_end.told().united(ProcessorSet{self}), mesh_end.why};
  for (const ProcessorId other : next.ids()) send(other, order);
  ChannelMarks orders = marks_of(channels, next);
  if (mesh_end.is_under_way()) {
    mesh_end.awaited = std::move(orders);
    timers.disarm(Timer{OwnTimer::kTellNext});  // A later time would not count.
    timers.arm(Timer{OwnTimer::kTellNext}, now + kTellMost);
    return;
  }
  orders.merge(mesh_end.awaited);  // Those far ones who have not confirmed it.
  end_mesh();
  awaited = std::move(orders);
}

void Daemon::Core::end_mesh() {
  if (phase == Phase::kStopped || !mesh_end.end()) return;
  phase = Phase::kOut;
  timers.disarm(Timer{OwnTimer::kTellNext});
  awaited = {};  // Those to whom something is on its way end as well.
  members = {};
  staying = {};
  relaying = {};
  with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
    jobs.end_all(surroundings, "the mesh was taken down", out);
  });
  timers.disarm(Timer{OwnTimer::kStop});
  timers.arm(Timer{OwnTimer::kStop}, now + kLastWordGrace);
}

void Daemon::Core::stop(std::int32_t code, std::string reason) {
  if (phase == Phase::kStopped) return;
  phase = Phase::kStopped;
  if (mesh_end.is_over()) {
    const auto deaf = unconfirmed(channels, awaited, membership.view());
    for (const auto& [id, endpoint] : deaf) {
      note(Note::Level::kWarn, "down-not-confirmed", to_string(id) + " at=" + endpoint);
    }
    const std::string error = mesh_end.is_own() ? "" : "the mesh is just being taken down";
    for (const ClientId tool : mesh_end.tools) effect(Reply{tool, Done{error, deaf}});
    if (!mesh_end.why.empty()) {
      note(Note::Level::kError, "out-of-mesh", mesh_end.why);
      code = 3;
      reason = mesh_end.why;
    }
  }
  settle_links();  // Last acknowledgements, without which others would wait.
  effect(Stop{code, std::move(reason)});
}

}  // namespace phx::runtime
