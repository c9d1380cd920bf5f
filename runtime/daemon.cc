#include "runtime/daemon.h"

#include <utility>

#include "overlay/base/overloaded.h"
#include "runtime/daemon_core.h"

namespace phx::runtime {

Birth Birth::first_of_mesh(Member first) {
  Birth birth;
  birth.self = ProcessorId{1};
  first.id = birth.self;
  birth.snapshot.id = birth.self;
  birth.snapshot.view.number = 1;
  birth.snapshot.view.next_processor = 2;
  birth.snapshot.view.origin = first.incarnation;
  birth.snapshot.view.members.put(std::move(first));
  return birth;
}

Daemon::Daemon(Birth birth, const DaemonConfig& config, std::uint64_t seed)
    : core_(std::make_unique<Core>(std::move(birth), config, seed)) {}
Daemon::~Daemon() = default;

void Daemon::start(Instant now) {
  core_->now = now;
  Membership::Outbox out;
  core_->membership.start(now, out);
  core_->absorb(out);
  core_->channels.expect(now, core_->membership.last_given());
  core_->channels.know_fellows(core_->membership.fellows());
  core_->channels.watch(now, core_->membership.watched());
  Solitude::Outbox alone;
  core_->solitude.on_view(now, core_->membership.view(), {}, alone);
  core_->absorb(alone);
  core_->idleness.on_use(now);
  core_->fire(Core::Timer{Core::OwnTimer::kIdle});
  core_->adapt_trees();
  core_->settle();
}

void Daemon::on_link_up(Instant now, LinkId link, bool dialled) {
  core_->now = now;
  core_->detours.on_connection_up(link, dialled);
  core_->settle();
}

void Daemon::on_link_down(Instant now, LinkId link) {
  core_->now = now;
  core_->detours.on_connection_down(link);
  core_->settle();
}

void Daemon::on_dial_failed(Instant now, ProcessorId peer, bool refused, const std::string& why) {
  core_->now = now;
  using channel::DialFailure;
  const auto who_refused =
      core_->membership.fellows().contains(peer) ? DialFailure::kGone : DialFailure::kRefused;
  core_->detours.on_dial_failed(now, peer, refused ? who_refused : DialFailure::kNoWay, why);
  core_->settle();
}

void Daemon::on_frame(Instant now, LinkId link, Frame&& frame) {
  core_->now = now;
  if (core_->phase == Core::Phase::kStopped) return;
  if (frame.passage) {
    core_->channels.on_service(now, link);
    core_->detours.on_passage(now, link, std::move(frame));
  } else {
    core_->on_arrived(link, std::move(frame));
  }
  core_->settle();
}

void Daemon::on_link_drained(Instant now, LinkId link, std::size_t parts) {
  core_->now = now;
  core_->channels.on_drained(now, link, parts);
  core_->settle();
}

void Daemon::on_link_activity(Instant now, LinkId link) {
  core_->now = now;
  core_->channels.on_activity(now, link);
  core_->settle();
}

void Daemon::on_inquired(Instant now, const View& view) {
  core_->now = now;
  if (core_->phase != Core::Phase::kMember) return;
  Solitude::Outbox out;
  core_->solitude.on_answer(view, core_->membership.view(), core_->jobs.is_idle(), out);
  core_->absorb(out);
  core_->settle();
}

void Daemon::on_app_message(Instant now, ApplicationId application, ToDaemon message) {
  core_->now = now;
  if (std::holds_alternative<AppNetworkQuestion>(message)) {
    const overlay::Survey& known = core_->survey;
    core_->effect(ToApp{application, AppNetwork{{known.version(), known.network()}}});
    return core_->settle();
  }
  core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
    core_->jobs.on_app_message(around, application, std::move(message), out);
  });
  core_->settle();
}

void Daemon::on_app_down(Instant now, ApplicationId application) {
  core_->now = now;
  core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
    core_->jobs.on_app_down(around, application, out);
  });
  core_->settle();
}

void Daemon::on_process_ended(Instant now, JobId job, const Exit& exit) {
  core_->now = now;
  core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
    core_->jobs.on_process_ended(around, job, exit, out);
  });
  core_->settle();
}

void Daemon::on_output(Instant now, JobId job, bool is_error, Payload bytes) {
  core_->now = now;
  core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
    core_->jobs.on_output(around, {job, core_->self, is_error, std::move(bytes)}, out);
  });
  core_->settle();
}

void Daemon::on_input_taken(Instant now, const InputTaken& taken) {
  core_->now = now;
  core_->with_jobs(
      [&](const Surroundings&, JobOutbox& out) { core_->jobs.on_input_taken(taken, out); });
  core_->settle();
}

void Daemon::on_client_message(Instant now, ClientId client, ClientRequest request) {
  core_->now = now;
  if (core_->phase == Core::Phase::kStopped) return;
  core_->idleness.on_use(now);
  Tools::Outbox tools;
  const View& view = core_->membership.view();
  std::visit(
      Overloaded{
          [&](JoinRequest& m) { core_->let_in(client, m.newcomer); },
          [&](const StatusRequest& m) {
            const ProcessorStatus own = core_->status(m.job, m.trees);
            core_->tools.on_status(now, client, m, view, own, tools);
          },
          [&](const NetworkRequest&) {
            const overlay::Survey& survey = core_->survey;
            const overlay::KnownNetwork& all = survey.network();  // also those that have gone
            core_->effect(Reply{
                client,
                overlay::NetworkUpdate{
                    survey.version(), all.restricted_to(all.processors().common(core_->members))}});
          },
          [&](const DrainRequest& m) {
            core_->tools.on_drain(now, client, m, view, core_->status(), tools);
          },
          [&](RunRequest& m) {
            core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
              core_->jobs.run(around, client, std::move(m), out);
            });
          },
          [&](const FollowRequest& m) {
            core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
              core_->jobs.follow(around, client, m, out);
            });
          },
          [&](const SignalRequest& m) {
            core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
              core_->jobs.signal(around, client, m, out);
            });
          },
          [&](InputRequest& m) {
            core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
              core_->jobs.input(around, client, std::move(m), out);
            });
          },
          [&](const DownRequest&) {
            core_->mesh_end.tools.push_back(client);
            core_->take_down({});
          }},
      request);
  core_->absorb(tools);
  core_->settle();
}

void Daemon::on_client_took(Instant now, ClientId client) {
  core_->now = now;
  core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
    core_->jobs.on_client_took(around, client, out);
  });
  core_->settle();
}

void Daemon::on_client_down(Instant now, ClientId client, const ClientEnd& end) {
  core_->now = now;
  core_->tools.on_client_down(client);
  std::erase_if(core_->admissions, [&](const auto& entry) { return entry.second == client; });
  core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
    core_->jobs.on_client_down(around, client, end, out);
  });
  core_->settle();
}

void Daemon::know(Instant now, const overlay::KnownNetwork& network) {
  core_->now = now;
  overlay::Survey::Outbox out;
  core_->survey.give(network, out);
  core_->absorb(out);
  core_->settle();
}

void Daemon::take_down(Instant now) {
  core_->now = now;
  core_->take_down({});
  core_->settle();
}

void Daemon::plant(Instant now, const std::vector<TreeView>& views) {
  core_->now = now;
  core_->trees.drop_planned();
  for (const TreeView& view : views) {
    core_->trees.put(view);
    core_->with_jobs([&](const Surroundings& around, JobOutbox& out) {
      core_->jobs.on_tree_changed(around, view.id, out);
    });
  }
  core_->settle();
}

void Daemon::drain(Instant now) {
  core_->now = now;
  core_->has_to_stop = true;
  core_->settle();
}

void Daemon::on_deadline(Instant now) {
  core_->now = now;
  overlay::Survey::Outbox late;
  core_->survey.on_late(now, now - next_deadline().value_or(now), late);
  core_->absorb(late);
  core_->channels.on_deadline(now);
  core_->detours.on_deadline(now);
  while (const auto timer = core_->timers.take_due(now)) core_->fire(*timer);
  core_->settle();
}

std::optional<Instant> Daemon::next_deadline() const {
  if (core_->phase == Core::Phase::kStopped) return std::nullopt;
  std::optional<Instant> next = core_->timers.next();
  for (const auto& other : {core_->channels.next_deadline(), core_->detours.next_deadline()}) {
    if (other && (!next || *other < *next)) next = other;
  }
  return next;
}

std::vector<Effect> Daemon::take_effects() {
  return core_->effect_room.take_from(core_->effects);
}
void Daemon::give_back(std::vector<Effect>&& executed) {
  core_->effect_room.give_back(std::move(executed));
}
ProcessorId Daemon::self() const {
  return core_->self;
}
bool Daemon::congested() const {
  return core_->channels.congested();
}
const View& Daemon::view() const {
  return core_->membership.view();
}
ProcessorStatus Daemon::status() const {
  return core_->status();
}
VnodeSet Daemon::owned(JobId job) const {
  return core_->jobs.owned(job);
}

std::vector<Route> Daemon::owners(JobId job) const {
  return core_->jobs.owners(job);
}

void Daemon::check_invariants() const {
  core_->channels.check_invariants();
  core_->detours.check_invariants();
  core_->membership.check_invariants();
  core_->forest.check_invariants();
  // Who has a number that is not given yet, as this processor knows it, comes with a later view.
  const ProcessorId next{core_->membership.view().next_processor};
  const ProcessorId last{~ProcessorId::rep{0}};
  core_->jobs.check_invariants(
      [this](const JobTimer& timer) { return core_->timers.is_armed(timer); },
      core_->membership.ids().united(ProcessorSet::range(next, last)));
}

}  // namespace phx::runtime
