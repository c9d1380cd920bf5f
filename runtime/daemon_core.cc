#include "runtime/daemon_core.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "overlay/base/overloaded.h"
#include "overlay/base/rng.h"
#include "overlay/planners/tree_styles.h"
#include "runtime/cast_cut.h"
#include "runtime/heard_size.h"
#include "runtime/membership/view_change.h"
#include "runtime/tree_status.h"

namespace phx::runtime {
namespace {

ChannelOptions channel_options(const DaemonConfig& config) {
  ChannelOptions options;
  options.heartbeat_period = config.heartbeat_period;
  options.peer_timeout = config.peer_timeout;
  options.refusals_last = config.peer_timeout / 5;
  // A link that is stuck is dialled anew, and a detour asked for, before the peer is held for dead.
  // No sooner than an answer may come from anywhere.
  options.stall_timeout =
      std::min(options.stall_timeout, std::max<Duration>(2 * config.peer_timeout / 5, 500ms));
  options.refusals_need_others = config.refusals_need_others;
  options.queued_bytes_high = config.queued_bytes_high;
  options.late_factor = config.late_factor;
  return options;
}

MembershipOptions membership_options(const DaemonConfig& config) {
  MembershipOptions options;
  options.members_max = config.members_max;
  options.accusers = config.accusers;
  options.report_memory = 12 * config.peer_timeout / 5;
  return options;
}

overlay::SurveyOptions survey_options(const DaemonConfig& config) {
  overlay::SurveyOptions options;
  options.surveyor.patrol = config.survey_patrol;
  return options;
}

}  // namespace

bool carries_tokens(const Envelope& envelope) {
  return std::holds_alternative<VnodeMessage>(envelope) ||
         std::holds_alternative<CollectiveMessage>(envelope);
}

Daemon::Core::Core(Birth birth, const DaemonConfig& wanted, std::uint64_t seed)
    : self(birth.self),
      config(wanted),
      channels(birth.self, gone_members(birth.snapshot.view), channel_options(wanted)),
      detours(birth.self, Rng(seed).fork("detours"), detour_options_for(wanted.peer_timeout)),
      membership(birth.self, birth.snapshot.view, membership_options(wanted)),
      solitude(birth.self, wanted.alone_max, std::move(birth.snapshot.lost),
               std::move(birth.elsewhere)),
      idleness(wanted.idle_max),
      survey(birth.self, survey_options(wanted), Rng(seed).fork("survey").next()),
      learned(birth.self, std::move(birth.plans)),
      agm(birth.self),
      forest(birth.self, {}, Rng(seed).fork("trees").next()),
      jobs(birth.self, wanted),
      tools(birth.self, wanted.status_timeout),
      members(membership.ids()),
      staying(membership.live()),
      relaying(membership.relaying()) {
  detours.on_members(members);
  if (config.trees == TreeSource::kLearned) {
    trees.draw_by([this](TreeId id) { return draw(id); });
  }
  trees.use_bandwidth_above(config.bandwidth_above);
  jobs.on_birth(birth.snapshot.over, birth.snapshot.ends);
  for (JobStart& start : birth.snapshot.jobs) inbox.push_back({self, std::move(start)});
  for (Routes& routes : birth.snapshot.routes) inbox.push_back({self, std::move(routes)});
  for (JobHome& home : birth.snapshot.homes) inbox.push_back({self, std::move(home)});
}

Surroundings Daemon::Core::around() const {
  return {now,
          trees,
          membership.view(),
          members,
          staying,
          membership.coordinator(),
          phase != Phase::kMember,
          !relays(),
          &survey.network(),
          &membership.fellows()};
}

overlay::Traffic Daemon::Core::traffic() const {
  return {channels.counters().taken_bytes, channels.counters().given_bytes};
}

void Daemon::Core::note(Note::Level level, std::string_view event, std::string detail) {
  effects.push_back(Note{level, event, std::move(detail)});
}

void Daemon::Core::send(ProcessorId to, Envelope&& envelope) {
  // Who learned of an owner's leaving without learning of its last moves asks the coordinator,
  // which hears of every move.
  const bool is_gone = !members.contains(to) && to.value < membership.view().next_processor;
  if (carries_tokens(envelope)) {
    if (is_gone && to != self) to = membership.coordinator();
    if (to != self && drop_if_full(to, envelope)) return;
  }
  if (to == self) {
    inbox.push_back({self, std::move(envelope)});
  } else if (to != kNobody) {
    channels.send(now, to, std::move(envelope));
  }
}

bool Daemon::Core::drop_if_full(ProcessorId to, const Envelope& envelope) {
  const auto* copy = std::get_if<CollectiveMessage>(&envelope);
  const auto* piece = copy == nullptr ? nullptr : copied_piece(*copy);
  if (piece == nullptr) return false;
  const std::uint64_t queued = channels.queued_copies(to);
  // Who leaves would have nobody to tell it to.
  if (!relays() || queued <= config.copy_bytes_max) return false;
  // Those behind, whom a root serves beside the others, have a window of their own, and first of
  // all the root's own links have to take both.
  if (jobs.is_held(copy->job, piece->root) && queued <= 2 * config.copy_bytes_max) return false;
  jobs.on_dropped(*copy, to);
  ++copies_dropped;
  return true;
}

void Daemon::Core::relieve() {
  if (jobs.dropped_for().empty()) return;
  for (const ProcessorId peer : jobs.dropped_for().ids()) {
    if (relays() && channels.queued_copies(peer) > config.copy_bytes_max / 2) continue;
    with_jobs([&](const Surroundings&, JobOutbox& out) { jobs.on_relieved(peer, out); });
  }
}

void Daemon::Core::absorb_items(auto& out, auto on_event) {
  using Outbox = std::remove_reference_t<decltype(out)>;
  auto items = out.take();
  for (auto& item : items) {
    std::visit(Overloaded{
                   [&](typename Outbox::Send& m) { send(m.to, std::move(m.message)); },
                   [&](typename Outbox::Arm& arm) {
                     timers.disarm(Timer{arm.timer});
                     if (arm.at) timers.arm(Timer{arm.timer}, std::max(now, *arm.at));
                   },
                   [&](auto& event) { on_event(event); },
               },
               item);
  }
  if constexpr (std::is_same_v<Outbox, JobOutbox>) job_room.give_back(std::move(items));
}

void Daemon::Core::absorb(JobOutbox& out) {
  absorb_items(out, [&](auto& event) {
    std::visit(Overloaded{[&](Effect& wanted) { effects.push_back(std::move(wanted)); },
                          [&](const UseTree& use) {
                            warm_roots.on_used(now, use.tree);
                            const bool is_own = use.tree.kind == TreeKind::kLatency ||
                                                use.tree.kind == TreeKind::kBandwidth;
                            if (!relays() || !is_own) return;
                            overlay::TreeForest::Outbox changes;
                            forest.use(now, use.tree, changes);
                            absorb(changes);
                          }},
               event);
  });
}

void Daemon::Core::absorb(Tools::Outbox& out) {
  absorb_items(out, [&](auto& event) {
    std::visit(Overloaded{[&](Effect& wanted) { effects.push_back(std::move(wanted)); },
                          [&](const Tools::DrainSelf&) { drain(); }},
               event);
  });
}

void Daemon::Core::absorb(Solitude::Outbox& out) {
  absorb_items(out, [&](auto& event) {
    std::visit(Overloaded{[&](Inquire& wanted) { effect(std::move(wanted)); },
                          [&](const Solitude::GivenUp& m) { take_down({{}, m.why}); }},
               event);
  });
}

void Daemon::Core::absorb(overlay::TreeForest::Outbox& out) {
  std::vector<TreeId> changed;
  absorb_items(out, [&](auto& event) { changed.push_back(event.tree); });
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  for (const TreeId tree : changed) {
    const TreeView* view = forest.view(tree);
    if (view == nullptr) trees.drop(tree);
    if (view != nullptr) trees.put(*view);
    with_jobs([&](const Surroundings& surroundings, JobOutbox& jobs_out) {
      jobs.on_tree_changed(surroundings, tree, jobs_out);
    });
  }
}

void Daemon::Core::absorb(overlay::Survey::Outbox& out) {
  absorb_items(out, [&](const overlay::Survey::NetworkChanged&) {
    learned.on_network(survey.network());
    note(Note::Level::kDebug, "network-learned",
         "version=" + std::to_string(survey.version().number) +
             " sites=" + std::to_string(survey.network().sites.size()));
    draw_anew();
    adapt_agm();
  });
}

void Daemon::Core::absorb(AgmTrees::Outbox& out) {
  bool is_new = false;
  for (auto& item : out.take()) {
    if (auto* sent = std::get_if<AgmTrees::Outbox::Send>(&item)) {
      send(sent->to, SpanningMessage{std::move(sent->message)});
    } else if (const auto* adapted = std::get_if<mst::SpanningTree::Adapted>(&item)) {
      is_new = is_new || adapted->has_views;
    }
  }
  if (is_new) draw_anew();
}

void Daemon::Core::absorb(Membership::Outbox& out) {
  absorb_items(out, [&](auto& event) {
    std::visit(Overloaded{[&](const Membership::ViewInstalled& m) { on_view(m); },
                          [&](const Membership::Admission& m) { on_admission(m.admitted); },
                          [&](const Membership::StayOn& m) { on_stay(m.why); },
                          [&](const Membership::FencedOut& m) {
                            note(Note::Level::kError, "fenced", m.why);
                            with_jobs([&](const Surroundings& surroundings, JobOutbox& jobs_out) {
                              jobs.on_fenced(surroundings, m.why, jobs_out);
                            });
                            stop(3, m.why);
                          }},
               event);
  });
  if (phase != Phase::kStopped) channels.watch(now, membership.watched());
}

void Daemon::Core::on_job_request(ProcessorId from, const JobRequest& request) {
  if (!membership.is_coordinator()) {
    // The asker knows already who leads from the next view on, or it asks again when it does.
    if (job_requests.size() < config.early_job_requests_max) {
      job_requests.emplace_back(from, request);
    } else {
      ++requests_dropped;
      send(from, JobRefused{request.request, "too many jobs are asked for while " +
                                                 to_string(self) + " takes over; try again"});
      note(Note::Level::kWarn, "job-request-dropped",
           "too many came too early; from=" + to_string(from));
    }
    return;
  }
  if (config.embedded && !request.spec.command.empty()) {
    return send(from, JobRefused{request.request,
                                 "the daemons of this mesh are inside programs, "
                                 "and start no processes"});
  }
  JobStart start;
  start.job = membership.take_job_id();
  if (start.job == JobId{}) {
    return send(from, JobRefused{request.request,
                                 "all numbers of jobs are used up in this mesh; use phoenix down, "
                                 "and phoenix up again"});
  }
  start.spec = request.spec;
  if (start.spec.trees.empty()) start.spec.trees = config.tree_style;
  start.home = from;
  start.request = request.request;
  start.processors = staying;
  const std::uint32_t most = request.spec.processors_max;
  if (most > 0 && staying.size() > most) start.processors = jobs.least_busy(staying, most);
  if (start.spec.command.empty()) start.processors = {from};
  start.cast_cut = cast_cut(membership.view(), survey.network());
  send(from, std::move(start));
}

void Daemon::Core::on_job_start(ProcessorId from, const JobStart& start) {
  // A number by somebody who is being replaced could be given again.
  if (start.home == self && !membership.may_number(from)) return;
  membership.note_job(start.job);
  idleness.on_job(now);
  if (start.spec.trees == "agm") begin_agm();
  with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
    jobs.on_start(surroundings, from, start, out);
  });
  consider_leaving();  // Nobody may stay that could run it.
}

template <class M>
void Daemon::Core::on(ProcessorId from, M message) {
  if constexpr (requires(Membership::Outbox & out) {
                  membership.on_message(now, from, message, out);
                }) {
    Membership::Outbox out;
    membership.on_message(now, from, message, out);
    absorb(out);
  } else if constexpr (std::is_same_v<M, overlay::Message>) {
    const bool is_download = std::holds_alternative<overlay::Fetch>(message) ||
                             std::holds_alternative<overlay::Load>(message);
    const bool is_of_trees = is_download && config.trees == TreeSource::kAdaptive;
    if (overlay::is_of_survey(message) && !is_of_trees) {
      overlay::Survey::Outbox out;
      survey.on_traffic(traffic());
      survey.on_message(now, from, message, out);
      absorb(out);
    } else {
      overlay::TreeForest::Outbox out;
      forest.on_traffic(traffic());
      forest.on_message(now, from, message, out);
      absorb(out);
    }
  } else if constexpr (std::is_same_v<M, SpanningMessage>) {
    begin_agm();  // A job wants it that may not be announced here yet.
    AgmTrees::Outbox out;
    agm.on_message(from, message.message, out);
    absorb(out);
  } else {
    with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
      jobs.on_message(surroundings, from, std::move(message), out);
    });
  }
}

void Daemon::Core::on_fenced(ProcessorId from, const Fenced& fence) {
  if (phase == Phase::kOut && !members.contains(self)) {
    static_cast<void>(
        channels.forget(now, from));  // It knows, so the last word is not needed there.
  } else {
    on(from, fence);
  }
}

void Daemon::Core::receive(ProcessorId from, Envelope&& envelope) {
  if (carries_tokens(envelope)) on_taken(from);
  if (const std::uint64_t bytes = heard_size(envelope); bytes > 0) {
    overlay::Survey::Outbox out;
    survey.on_heard(now, from, bytes, out);
    forest.on_bulk(now);
    absorb(out);
  }
  std::visit(
      Overloaded{[](Heartbeat&) {},  // Its acknowledgement is the answer.
                 [&](Flush& m) { on_flush(from, m.answer); },
                 [&](JobRequest& m) { on_job_request(from, m); },
                 [&](JobStart& m) { on_job_start(from, m); },
                 [&](JobRefused& m) {
                   with_jobs(
                       [&](const Surroundings&, JobOutbox& out) { jobs.on_refused(from, m, out); });
                 },
                 [&](JobEnd& m) {
                   with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
                     jobs.on_end(surroundings, m, out);
                   });
                 },
                 [&](StatusQuestion& m) {
                   send(from, StatusAnswer{m.request, status(m.job, m.trees)});
                 },
                 [&](StatusAnswer& m) {
                   Tools::Outbox out;
                   tools.on_answer(from, m, membership.view(), out);
                   absorb(out);
                 },
                 [&](DrainOrder&) { on_ordered_to_leave(from); },
                 [&](LeaveRefused& m) { m.who == self ? on(from, m) : on_leave_refused(m); },
                 [&](DownOrder& m) {
                   // Whoever gave it may not know of newcomers yet. The coordinator does.
                   const bool has_others = mesh_end.is_under_way() && mesh_end.on_told(m.told);
                   if (has_others) return;
                   if (!mesh_end.is_begun()) mesh_end.why = m.why;
                   membership.is_coordinator() ? take_down(m) : end_mesh();
                 },
                 [&](Admit& m) { mesh_end.is_begun() ? void() : on(from, m); },
                 [&](Suspect& m) {
                   // Refusals here confirm those that lasted there.
                   const bool is_doubt = m.why == Departure::kConnectionLost && m.accused != self &&
                                         m.accuser != self;
                   if (is_doubt && members.contains(from) && members.contains(m.accused)) {
                     channels.doubt(now, m.accused);
                   }
                   on(from, std::move(m));
                 },
                 [&](Fenced& m) { on_fenced(from, m); }, [&](auto& m) { on(from, std::move(m)); }},
      envelope);
}

void Daemon::Core::dial(ProcessorId peer) {
  const auto found = membership.view().members.find(peer);
  if (found == membership.view().members.end()) {
    detours.on_dial_failed(now, peer, channel::DialFailure::kNoWay,
                           "its address is not known here yet");
  } else if (found->second.endpoints.empty()) {
    detours.on_dial_failed(now, peer, channel::DialFailure::kNoWay, "it takes no connections");
  } else {
    effect(Dial{peer, found->second.endpoints});
  }
}

void Daemon::Core::on_arrived(LinkId link, Frame&& frame) {
  refuse_tokens(link.peer, frame);
  channels.on_frame(now, link, std::move(frame));
}

void Daemon::Core::take_detour_outputs() {
  if (!detours.has_outputs()) return;
  for (auto& output : detours.take_outputs()) {
    std::visit(Overloaded{[&](Detours::Connect& m) { dial(m.peer); },
                          [&](Detours::LinkUp& m) {
                            survey.on_connected(m.link.peer);
                            channels.on_link_up(now, m.link, m.dialled);
                          },
                          [&](Detours::LinkDown& m) { channels.on_link_down(now, m.link); },
                          [&](Detours::DialFailed& m) {
                            channels.on_dial_failed(now, m.peer, m.how, m.why);
                          },
                          [&](Detours::Arrived& m) { on_arrived(m.link, std::move(m.frame)); },
                          [&](auto& m) { effect(std::move(m)); }},
               output);
  }
}

void Daemon::Core::take_channel_outputs() {
  auto outputs = channels.take_outputs();
  if (outputs.empty()) return;
  for (auto& output : outputs) {
    std::visit(
        Overloaded{
            [&](Channels::Connect& m) { detours.connect(now, m.peer); },
            [&](Channels::Stalled& m) { detours.distrust(m.peer); },
            [&](Hangup& m) {
              detours.hang_up(m.link);
              if (m.link.via == kNobody) effect(m);
            },
            [&](Transmit& m) {
              if (m.link.via == kNobody) return void(effects.emplace_back(std::move(m)));
              detours.transmit(m.link, std::move(m.frame));
            },
            [&](Channels::Received& m) {
              inbox.push_back({m.from, std::move(m.envelope)});
            },
            [&](Channels::Unreachable& m) {
              if (!members.contains(self)) return;
              Membership::Outbox out;
              membership.suspect(now, m.peer, m.why, std::move(m.detail), out);
              absorb(out);
            },
            [&](Channels::Reachable& m) {
              Membership::Outbox out;
              membership.trust(now, m.peer, out);
              absorb(out);
            },
            [&](channel::Late& m) {
              for (const ProcessorId id : membership.observers().ids()) {
                channels.send(now, id, Heartbeat{m.by});
              }
            },
            [&](channel::Paced& m) {
              overlay::Survey::Outbox out;
              survey.on_paced(now, m.peer, {m.rate, m.all}, out);
              absorb(out);
            },
            [&](Channels::Stranger& m) { channels.refuse(now, m.link, membership.fence()); },
            [&](Channels::Up& m) { note(Note::Level::kDebug, "link-up", to_string(m.peer)); },
            [&](Channels::Down& m) { note(Note::Level::kDebug, "link-down", to_string(m.peer)); },
            [&](auto& m) { effect(std::move(m)); }},
        output);
  }
  channels.give_back(std::move(outputs));
}

/// What the links and the channels say to each other, until they are done.
void Daemon::Core::settle_links() {
  do {
    take_detour_outputs();
    take_channel_outputs();
  } while (detours.has_outputs());
}

void Daemon::Core::settle() {
  while (phase != Phase::kStopped) {
    settle_links();
    if (inbox.empty()) {
      advance();
      relieve();
      for (const auto& [partner, bytes] : warm_roots.take_partners(trees)) {
        overlay::Survey::Outbox out;
        survey.expect(now, partner, bytes, out);
        absorb(out);
      }
      for (const ProcessorId child : warm_roots.take_children(trees)) channels.open(now, child);
      settle_links();
      if (inbox.empty()) return;
    }
    auto [from, envelope] = std::move(inbox.front());
    inbox.pop_front();
    receive(from, std::move(envelope));
  }
  settle_links();
}

void Daemon::Core::fire(const Timer& timer) {
  std::visit(Overloaded{
                 [&](const JobTimer& t) {
                   with_jobs([&](const Surroundings& surroundings, JobOutbox& out) {
                     jobs.on_timer(surroundings, t, out);
                   });
                 },
                 [&](const overlay::TreeForest::Timer& t) {
                   overlay::TreeForest::Outbox out;
                   forest.on_timer(now, t, out);
                   absorb(out);
                 },
                 [&](const overlay::Survey::Timer& t) {
                   overlay::Survey::Outbox out;
                   survey.on_traffic(traffic());
                   survey.on_timer(now, t, out);
                   absorb(out);
                 },
                 [&](const Membership::Timer& t) {
                   Membership::Outbox out;
                   membership.on_timer(now, t, out);
                   absorb(out);
                 },
                 [&](const Tools::Timer& t) {
                   Tools::Outbox out;
                   tools.on_timer(now, t, membership.view(), status(), out);
                   absorb(out);
                 },
                 [&](const Solitude::Timer&) {
                   if (phase != Phase::kMember) return;
                   Solitude::Outbox out;
                   solitude.on_timer(now, jobs.is_idle(), out);
                   absorb(out);
                 },
                 [&](OwnTimer t) {
                   if (t != OwnTimer::kIdle) {
                     return t == OwnTimer::kStop ? on_stop_due() : tell_next();
                   }
                   const bool is_over = idleness.is_over(now, jobs.is_idle());
                   if (!idleness.is_on() || phase > Phase::kEmptied) return;
                   timers.arm(timer, now + idleness.look_period());
                   if (!is_over || !membership.is_coordinator() || mesh_end.is_begun()) return;
                   note(Note::Level::kWarn, "mesh-idle", "nothing runs, and nobody asks");
                   take_down({});
                 },
             },
             timer);
}

ProcessorStatus Daemon::Core::status(JobId with_vnodes, const TreeQuestion& asked) {
  ProcessorStatus result;
  result.id = self;
  result.view = membership.view().number;
  result.links = channels.links_up();
  result.trees = trees.size();
  result.jobs = jobs.status(around(), with_vnodes);
  result.leaving_waits_for = awaited_to_leave();
  const ChannelCounters& links = channels.counters();
  const TrafficCounters served = jobs.counters();
  result.counters = {{"dials", links.dials},
                     {"links-made", links.links},
                     {"links-stalled", links.stalls},
                     {"links-idle", links.idles},
                     {"envelopes-resent", links.resent},
                     {"duplicates", links.duplicates},
                     {"violations", links.violations},
                     {"long-queues", links.long_queues},
                     {"copy-bytes-most", links.copies_most},
                     {"copies-dropped", copies_dropped},
                     {"strangers", links.strangers},
                     {"accusations", links.accusations},
                     {"false-accusations", links.false_alarms},
                     {"standstills", links.standstills},
                     {"job-requests-dropped", requests_dropped},
                     {"detours-made", detours.counters().made},
                     {"frames-relayed", detours.counters().relayed},
                     {"frames-not-relayed", detours.counters().unrelayed},
                     {"dropped", served.dropped},
                     {"copies-along-trees", served.along_trees},
                     {"copies-past-trees", served.past_trees}};
  for (const auto& [peer, via] : detours.in_use()) result.detours.push_back({peer, via});
  if (asked.root == kNobody) return result;
  const WarmRoots before = warm_roots;
  const auto style = planners::tree_style(config.tree_style);
  result.asked_trees = known_trees(trees, style.value_or(planners::kLearnedStyle), asked);
  warm_roots = before;  // A question is no use.
  return result;
}

}  // namespace phx::runtime
