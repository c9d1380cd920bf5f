// What a new view means for the machines of a daemon.
#include <algorithm>
#include <utility>

#include "runtime/daemon_core.h"

namespace phx::runtime {
namespace {

/// Its tokens have not followed any owner: the one they were sent to is gone.
void start_anew(Envelope& envelope) {
  if (auto* message = std::get_if<VnodeMessage>(&envelope)) message->followed = 0;
  auto* collective = std::get_if<CollectiveMessage>(&envelope);
  if (collective == nullptr) return;
  auto* copy = std::get_if<collectives::FallbackCopy>(&collective->message);
  if (copy == nullptr) return;
  for (collectives::Tokens& tokens : copy->mine) tokens.epoch = 0;
}

std::string why_of(const ViewChange::Gone& gone) {
  return gone.detail.empty() ? "" : " why=" + gone.detail;
}

using Departed = std::vector<ViewChange::Gone>;

/// Also those who came and went in views that were missed here, but with whom this processor has
/// talked before: what they have not confirmed must not wait for them for ever. Those who saw them
/// die say what follows from that.
Departed with_unseen(Departed gone, const Channels& channels, const View& view) {
  for (const ProcessorId peer : channels.peers()) {
    if (peer.value >= view.next_processor || view.members.contains(peer)) continue;
    if (std::ranges::find(gone, peer, &ViewChange::Gone::id) != gone.end()) continue;
    gone.push_back({peer, Departure::kLeft, "came and went in views that were missed here"});
  }
  return gone;
}

}  // namespace

void Daemon::Core::note_changed(const Membership::ViewInstalled& change) {
  ProcessorSet joined;
  ProcessorSet leaving;
  ProcessorSet emptied;
  for (const SharedMember& member : change.changed) {
    (member->emptied ? emptied : member->leaving ? leaving : joined).insert(member.id());
  }
  const std::string number = " view=" + std::to_string(membership.view().number);
  if (!joined.empty()) {
    note(Note::Level::kInfo, "processor-joined", "p" + to_string(joined) + number);
  }
  if (!leaving.empty()) {
    note(Note::Level::kInfo, "processor-leaves", "p" + to_string(leaving) + number);
  }
  if (!emptied.empty()) {
    note(Note::Level::kInfo, "processor-emptied", "p" + to_string(emptied) + number);
  }
}

void Daemon::Core::draw_anew() {
  trees.draw_anew(drawing_of(survey.version().number, membership.view().relaying_since));
  with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
    jobs.on_tree_changed(surroundings, {}, out);
  });
}

void Daemon::Core::begin_agm() {
  if (config.trees != TreeSource::kLearned) return;
  AgmTrees::Outbox out;
  agm.begin(learned, relaying, out);
  absorb(out);
}

void Daemon::Core::adapt_agm() {
  AgmTrees::Outbox out;
  agm.on_change(learned, relaying, out);
  absorb(out);
}

std::optional<TreeView> Daemon::Core::draw(TreeId id) {
  warm_roots.on_drawn(now, id);
  std::optional<TreeView> spanning = agm.view(id);
  return spanning ? spanning : learned.view(id);
}

void Daemon::Core::adapt_trees() {
  if (config.trees == TreeSource::kLearned) {
    learned.on_members(relaying);
    draw_anew();
    adapt_agm();
    if (!relays()) return;
    overlay::Survey::Outbox measured;
    const bool directs = !relaying.empty() && relaying.front() == self;
    if (directs) survey.on_machines(shared_machines(membership.view()));
    survey.on_members(now, relaying, measured);
    absorb(measured);
  } else if (relays()) {
    overlay::TreeForest::Outbox changes;
    forest.on_members(now, relaying, changes);
    absorb(changes);
  }
}

void Daemon::Core::on_view(const Membership::ViewInstalled& change) {
  if (mesh_end.is_over()) return;
  const View& view = membership.view();
  members = membership.ids();
  staying = membership.live();
  const ProcessorSet relayed = std::exchange(relaying, membership.relaying());
  warm_roots.on_members(members);
  channels.expect(now, membership.last_given());
  channels.know_fellows(membership.fellows());
  note_changed(change);
  const Departed departed = with_unseen(change.gone, channels, view);
  idleness.on_use(now);
  Solitude::Outbox alone;
  solitude.on_view(now, view, departed, alone);
  absorb(alone);
  detours.on_members(members);
  std::vector<Envelope> returned;
  for (const auto& gone : departed) {
    note(gone.why == Departure::kLeft ? Note::Level::kInfo : Note::Level::kWarn, "processor-gone",
         to_string(gone.id) + " view=" + std::to_string(view.number) + why_of(gone));
    if (gone.id == self) {
      members.erase(self);  // Who hears it by a fence knows no view without itself.
      continue;
    }
    auto unconfirmed = channels.forget(now, gone.id);
    // What one that died had already may come twice: only some filter that.
    for (Envelope& envelope : unconfirmed) {
      const auto* collective = std::get_if<CollectiveMessage>(&envelope);
      const bool is_filtered =
          std::holds_alternative<VnodeMessage>(envelope) ||
          (collective != nullptr &&
           !std::holds_alternative<collectives::ReductionToken>(collective->message));
      if (gone.why == Departure::kLeft || is_filtered) returned.push_back(std::move(envelope));
    }
  }
  const bool were_planned = trees.drop_planned();
  consider_leaving();
  // One event may stand for several changes.
  const bool is_drawn = relaying == relayed &&
                        trees.drawing() == drawing_of(survey.version().number, view.relaying_since);
  if (!is_drawn) adapt_trees();
  trees.keep_only(members);
  if (were_planned) draw_anew();
  with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
    jobs.on_view(surroundings, change.changed, departed, out);
    if (surroundings.leaving) jobs.on_leaving(surroundings, out);
  });
  // A leaver did not take these any more, so they begin again here.
  for (Envelope& envelope : returned) {
    if (!carries_tokens(envelope)) continue;
    start_anew(envelope);
    inbox.push_back({self, std::move(envelope)});
  }
  Tools::Outbox tool_answers;
  tools.on_view(view, departed, tool_answers);
  absorb(tool_answers);
  if (!membership.is_coordinator()) return;
  for (const auto& [from, request] : std::exchange(job_requests, {})) on_job_request(from, request);
}

void Daemon::Core::let_in(ClientId client, const Member& newcomer) {
  if (mesh_end.is_begun()) {
    JoinReply reply;
    reply.refusal = "the mesh is just being taken down";
    effect(Reply{client, std::move(reply)});
    return effect(DropClient{client});
  }
  admissions[next_admission] = client;
  Membership::Outbox out;
  membership.admit(now, newcomer, next_admission++, out);
  absorb(out);
}

void Daemon::Core::on_admission(const Admitted& admitted) {
  const auto found = admissions.extract(admitted.request);
  if (found.empty()) return;
  JoinReply reply;
  reply.id = admitted.id;
  reply.refusal = admitted.refusal;
  reply.is_final = admitted.is_final;
  reply.view = membership.view();
  reply.lost = solitude.lost();
  jobs.describe(reply);
  effect(Reply{found.mapped(), std::move(reply)});
  effect(DropClient{found.mapped()});
}

}  // namespace phx::runtime
