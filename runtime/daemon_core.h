#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "overlay/base/spare_room.h"
#include "overlay/planners/learned_trees.h"
#include "overlay/survey/survey.h"
#include "overlay/tree_forest.h"
#include "runtime/agm_trees.h"
#include "runtime/channels/channels.h"
#include "runtime/channels/deadlines.h"
#include "runtime/channels/detours.h"
#include "runtime/daemon.h"
#include "runtime/jobs/jobs.h"
#include "runtime/membership/membership.h"
#include "runtime/membership/solitude.h"
#include "runtime/mesh_end.h"
#include "runtime/tools.h"
#include "runtime/warm_roots.h"

namespace phx::runtime {

/// The inside of Daemon: the machines, the wires between them, and what is of none of them: leaving
/// [runtime/README.md, "Leaving"], newcomers without a number, requests that came early.
struct Daemon::Core {
  /// Moves down this list only; but who settles and gets something in hands again flushes again.
  enum class Phase {
    kMember,    ///< Takes part.
    kDraining,  ///< Marked as leaving; gives its vnodes away, and passes on what it did before.
    kEmptied,   ///< Marked as having none any more: nobody is below it in a tree.
    kFlushing,  ///< Has nothing left; asks everybody to send nothing more.
    kSettling,  ///< Waits until what it sent up to here has arrived.
    kOut,       ///< Asked to be taken out of the view, or is out: only what is queued goes out.
    kStopped,   ///< Takes no input any more.
  };
  enum class OwnTimer : std::uint8_t { kStop, kTellNext, kIdle };
  using Timer = std::variant<JobTimer, overlay::TreeForest::Timer, overlay::Survey::Timer,
                             Membership::Timer, Tools::Timer, Solitude::Timer, OwnTimer>;
  Core(Birth birth, const DaemonConfig& config, std::uint64_t seed);
  void absorb(JobOutbox& out);  // Executes what the machines wrote.
  void absorb(Membership::Outbox& out);
  void absorb(overlay::TreeForest::Outbox& out);
  void absorb(overlay::Survey::Outbox& out);
  void absorb(AgmTrees::Outbox& out);
  void absorb(Tools::Outbox& out);
  void absorb(Solitude::Outbox& out);
  void absorb_items(auto& out, auto on_event);
  void receive(ProcessorId from, Envelope&& envelope);
  template <class M>
  void on(ProcessorId from, M message);  ///< Specialised by the kind of message.
  void on_view(const Membership::ViewInstalled& change);
  void adapt_trees();
  void draw_anew();  ///< Learned trees are other ones now.
  void begin_agm();
  void adapt_agm();
  std::optional<TreeView> draw(TreeId id);
  void note_changed(const Membership::ViewInstalled& change);
  void let_in(ClientId client, const Member& newcomer);
  void on_admission(const Admitted& admitted);
  void on_job_request(ProcessorId from, const JobRequest& request);
  void on_job_start(ProcessorId from, const JobStart& start);
  void drain();  // This and what follows are about its own leaving: daemon_leaving.cc.
  void on_ordered_to_leave(ProcessorId from);
  void on_stay(const std::string& why);
  void on_leave_refused(const LeaveRefused& refusal);
  void on_flush(ProcessorId from, bool answer);
  void on_taken(ProcessorId from);  ///< It sent something that counts once and is passed on here.
  void consider_leaving();
  [[nodiscard]] bool relays() const { return phase <= Phase::kDraining; }
  [[nodiscard]] std::string awaited_to_leave() const;  ///< Besides its jobs; empty: nothing.
  void on_fenced(ProcessorId from, const Fenced& fence);
  void advance();
  void stop_when_heard();
  void on_stop_due();
  void stop(std::int32_t code, std::string reason);
  void take_down(const DownOrder& order);  ///< Tells all members but those told, and ends.
  void tell_next();
  void end_mesh();
  void refuse_tokens(ProcessorId from, Frame& frame);  ///< As it could not pass them on.
  void send(ProcessorId to, Envelope&& envelope);
  [[nodiscard]] bool drop_if_full(ProcessorId to, const Envelope& copy);  ///< Whether it did.
  void relieve();  ///< Tells of what was dropped where there is room again.
  void effect(Effect&& wanted) { effects.push_back(std::move(wanted)); }
  void note(Note::Level level, std::string_view event, std::string detail);
  void settle();  ///< Runs everything that follows from an input, until nothing is left to do.
  void take_channel_outputs();
  void take_detour_outputs();
  void settle_links();
  void dial(ProcessorId peer);
  void on_arrived(LinkId link, Frame&& frame);
  void fire(const Timer& timer);
  [[nodiscard]] overlay::Traffic traffic() const;
  [[nodiscard]] Surroundings around() const;
  [[nodiscard]] ProcessorStatus status(JobId with_vnodes = {}, const TreeQuestion& asked = {});
  void with_jobs(auto call) {  ///< Calls call(surroundings, outbox) and absorbs the outbox.
    JobOutbox out(job_room.take());
    call(around(), out);
    absorb(out);
  }
  ProcessorId self;
  DaemonConfig config;
  Instant now{};
  Channels channels;
  Detours detours;
  Membership membership;
  Solitude solitude;
  Idleness idleness;
  overlay::Survey survey;          ///< Learns the network, ...
  planners::LearnedTrees learned;  ///< ... over which trees are drawn.
  AgmTrees agm;                    ///< Finds one tree together with the others.
  overlay::TreeForest forest;      ///< Makes trees by local rules.
  overlay::TreeStore trees;
  WarmRoots warm_roots;  ///< Whose trees are used here.
  Jobs jobs;
  Tools tools;
  Phase phase = Phase::kMember;
  bool has_asked = false;     ///< To be marked as emptied. What comes then is served past trees.
  bool has_to_stop = false;   ///< Was told to end: leaves as soon as it may.
  ViewNumber asked_in = 0;    ///< The view in which it asked for that last.
  bool is_removed = false;    ///< Out of the view, and without jobs: ends soon.
  MeshEnd mesh_end;           ///< When it is over, all stop, and views do not matter any more.
  ProcessorSet members;       ///< The ids of the view.
  ProcessorSet staying;       ///< Those that do not leave.
  ProcessorSet relaying;      ///< These, and leavers that still have vnodes: trees are over them.
  ProcessorSet refused;       ///< In kOut: nothing is taken from them.
  ProcessorSet flushing;      ///< In kFlushing: have not answered yet.
  ChannelMarks awaited;       ///< In kSettling and when the mesh ends: what must have arrived.
  ProcessorSet flush_askers;  ///< Emptied leavers that are not known here to be that yet.
  ProcessorSet orderers;      ///< Told this processor to leave, and hear of a refusal.
  Queue<std::pair<ProcessorId, Envelope>, 4> inbox;  ///< To be handled in this step.
  std::vector<Effect> effects;
  SpareRoom<Effect> effect_room;
  SpareRoom<JobOutbox::Item> job_room;
  Deadlines<Timer> timers;
  std::deque<std::pair<ProcessorId, JobRequest>> job_requests;  ///< Not yet in office [limit].
  std::uint64_t copies_dropped = 0, requests_dropped = 0;  ///< Of broadcasts, for jobs: too many.
  std::uint64_t next_admission = 1;
  std::map<std::uint64_t, ClientId> admissions;  ///< Newcomers that wait for their number.
};

/// What must reach somebody, whoever that is by now: messages and parts of collectives.
[[nodiscard]] bool carries_tokens(const Envelope& envelope);

}  // namespace phx::runtime
