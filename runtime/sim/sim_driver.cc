#include "runtime/sim/sim_driver.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <vector>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::sim {

using runtime::Daemon;

SimDriver::SimDriver(MachineId machine, Agenda& agenda, Network& network, const Outside& outside,
                     const MachineOptions& options, Rng rng)
    : machine_(machine),
      agenda_(agenda),
      network_(network),
      outside_(outside),
      options_(options),
      rng_(rng),
      saboteur_(options.fault) {
  if (options.wire) wire_.emplace();
}

template <class M>
void SimDriver::pass_wire(M& message) {
  if (!wire_) return;
  Result<M> read = wire_->pass(message);
  if (!read.ok()) return outside_.on_damage(machine_, read.error().what);
  message = std::move(read).value();
}

void SimDriver::start(runtime::Birth birth, const runtime::DaemonConfig& config) {
  PHX_CHECK(!daemon_ && !is_stopped_);
  self_ = birth.self;
  daemon_ = std::make_unique<Daemon>(std::move(birth), config, rng_.fork("daemon").next());
  network_.open(machine_, self_);
  input([](Daemon& daemon, Instant now) { daemon.start(now); });
}

/// Gives an input to the daemon and does what it asks for; keeps it while the machine is frozen.
template <class Call>
void SimDriver::input(Call call) {
  if (!is_running()) return;
  if (agenda_.now() < frozen_until_) {
    frozen_.push_back(std::move(call));
    return;
  }
  call(*daemon_, agenda_.now());
  execute_effects();
}

void SimDriver::execute_effects() {
  if (is_executing_) return;
  is_executing_ = true;
  while (is_running()) {
    std::vector<runtime::Effect> effects = daemon_->take_effects();
    if (effects.empty()) break;
    for (runtime::Effect& effect : effects) execute(effect);
    for (const ClientId client : std::exchange(took_, {})) on_client_took(client);
  }
  is_executing_ = false;
  if (!is_running()) return daemon_.reset();  // In large meshes the dead would cost as the living.
  rearm();
  if (!held_back_.empty() && !daemon_->congested()) {
    for (const ApplicationId application : std::exchange(held_back_, {})) {
      agenda_.schedule(agenda_.now(), [this, application] { on_local_to_daemon(application); });
    }
  }
  outside_.on_step(machine_);
}

void SimDriver::execute(runtime::Effect& effect) {
  if (is_stopped_) return;
  std::visit(
      Overloaded{
          [&](const runtime::Dial& e) {
            const auto to = outside_.resolve(e.endpoints);
            if (to) network_.dial(machine_, e.peer, *to);
          },
          [&](const runtime::Hangup& e) { network_.hang_up(machine_, e.link); },
          [&](runtime::Transmit& e) {
            if (saboteur_.drops(daemon_->self(), e.frame)) return;
            saboteur_.on_sent(e.link, e.frame);
            pass_wire(e.frame);
            if (saboteur_.sends_twice(e.frame)) network_.transmit(machine_, e.link, e.frame);
            network_.transmit(machine_, e.link, std::move(e.frame), e.tell);
          },
          [&](runtime::ToApp& e) {
            const auto found = seats_.find(e.application);
            if (found == seats_.end()) return;
            pass_wire(e.message);
            found->second.to_application.push_back(std::move(e.message));
            agenda_.schedule_in(options_.local_delay, [this, application = e.application] {
              on_local_to_application(application);
            });
          },
          [&](const runtime::DropApp&) {},  // The application ends by itself.
          [&](runtime::Reply& e) {
            const bool took = outside_.on_reply(machine_, e.client, std::move(e.reply));
            if (took) {
              took_.push_back(e.client);
            } else {
              has_unread_.insert(e.client);
            }
          },
          [&](const runtime::DropClient& e) { outside_.on_client_dropped(machine_, e.client); },
          [&](const runtime::Spawn& e) { spawn(e); },
          [&](const runtime::SignalProcess& e) { signal(e); },
          [&](const runtime::HoldOutput& e) {
            if (e.hold) held_.insert(e.job);
            if (!e.hold) held_.erase(e.job);
          },
          [](const runtime::FeedProcess&) {},  // No tool here has input.
          [&](const runtime::Inquire& e) {
            if (const auto to = outside_.resolve(e.endpoints)) outside_.on_inquire(machine_, *to);
          },
          [&](const runtime::Note& e) { outside_.on_note(machine_, e); },
          [&](const runtime::Stop& e) {
            is_stopped_ = true;
            seats_.clear();
            network_.close(machine_);
            outside_.on_stopped(machine_, e);
          },
      },
      effect);
}

// --- Time --------------------------------------------------------------------------------------

void SimDriver::rearm() {
  const auto next = daemon_->next_deadline();
  if (!next) return;
  Instant at = std::max(*next, agenda_.now());
  if (wake_at_ && *wake_at_ <= at) return;
  if (options_.late_timers_max > Duration{}) {
    at += Duration{static_cast<Duration::rep>(
        rng_.below(static_cast<std::uint64_t>(options_.late_timers_max.count())))};
    if (wake_at_ && *wake_at_ <= at) return;
  }
  wake_at_ = at;
  agenda_.schedule(at, [this] { on_wake(); });
}

void SimDriver::on_wake() {
  if (!wake_at_ || *wake_at_ > agenda_.now()) return;  // Replaced by an earlier one.
  const auto on_due = [this] {
    wake_at_.reset();
    input([](Daemon& daemon, Instant now) { daemon.on_deadline(now); });
  };
  // One thread does everything: timers come after the messages that were there before.
  const Instant free = network_.busy_until(machine_);
  if (free > agenda_.now()) return agenda_.schedule(free, on_due);
  on_due();
}

void SimDriver::freeze_until(Instant at) {
  if (!is_running()) return;
  frozen_until_ = std::max(frozen_until_, at);
  agenda_.schedule(at, [this] { thaw(); });
}

void SimDriver::thaw() {
  if (agenda_.now() < frozen_until_) return;
  for (const Input& call : std::exchange(frozen_, {})) input(call);
}

// --- The network -------------------------------------------------------------------------------

void SimDriver::on_link_up(LinkId link, bool dialled) {
  input([=](Daemon& daemon, Instant now) { daemon.on_link_up(now, link, dialled); });
}

void SimDriver::on_link_down(LinkId link) {
  input([=](Daemon& daemon, Instant now) { daemon.on_link_down(now, link); });
}

void SimDriver::on_dial_failed(ProcessorId peer, bool refused) {
  input([=](Daemon& daemon, Instant now) {
    daemon.on_dial_failed(now, peer, refused, refused ? "connection refused" : "no answer");
  });
}

void SimDriver::on_frame(LinkId link, runtime::Frame frame) {
  saboteur_.on_received(link, frame);
  input([link, frame = std::move(frame)](Daemon& daemon, Instant now) mutable {
    daemon.on_frame(now, link, std::move(frame));
  });
}

void SimDriver::on_link_drained(LinkId link) {
  input([=](Daemon& daemon, Instant now) { daemon.on_link_drained(now, link); });
}

void SimDriver::on_inquired(const runtime::View& view) {
  input([=](Daemon& daemon, Instant now) { daemon.on_inquired(now, view); });
}

// --- Tools -------------------------------------------------------------------------------------

void SimDriver::on_client_message(ClientId client, runtime::ClientRequest request) {
  saboteur_.on_asked(request);
  input([client, request = std::move(request)](Daemon& daemon, Instant now) mutable {
    daemon.on_client_message(now, client, std::move(request));
  });
}

void SimDriver::plant(const std::vector<TreeView>& views) {
  input([views](Daemon& daemon, Instant now) { daemon.plant(now, views); });
}

void SimDriver::on_client_took(ClientId client) {
  has_unread_.erase(client);
  input([this, client](Daemon& daemon, Instant now) {
    // A machine that was frozen meanwhile may have sent it more.
    if (!has_unread_.contains(client)) daemon.on_client_took(now, client);
  });
}

void SimDriver::on_client_broken(ClientId client) {
  has_unread_.erase(client);
  const bool is_silent = saboteur_.waits_for_tools();
  input([=](Daemon& daemon, Instant now) {
    daemon.on_client_down(now, client, {.why = {}, .is_broken = true, .is_silent = is_silent});
  });
}

void SimDriver::drain() {
  input([](Daemon& daemon, Instant now) { daemon.drain(now); });
}

void SimDriver::kill() {
  is_stopped_ = true;
  seats_.clear();
  frozen_.clear();
  if (!is_executing_) daemon_.reset();
}

// --- Application processes ---------------------------------------------------------------------

void SimDriver::spawn(const runtime::Spawn& wanted) {
  Workload* workload = outside_.workload(wanted.spec);
  const JobId job = wanted.job;
  if (workload == nullptr) {
    agenda_.schedule(agenda_.now(), [this, job] {
      input([=](Daemon& daemon, Instant now) {
        daemon.on_process_ended(now, job, {127, 0, false, "no such program"});
      });
    });
    return;
  }
  const ApplicationId application{next_application_++};
  Seat& seat = seats_[application];
  seat.job = job;
  seat.process =
      std::make_unique<Process>(machine_, job, *workload, rng_.fork(to_string(application)));
  agenda_.schedule_in(options_.spawn_delay, [this, application] { on_turn(application); });
}

void SimDriver::signal(const runtime::SignalProcess& wanted) {
  const auto found = std::find_if(seats_.begin(), seats_.end(), [&](const auto& entry) {
    return entry.second.job == wanted.job;
  });
  if (found == seats_.end()) return;
  const ApplicationId application = found->first;
  agenda_.schedule_in(options_.local_delay, [this, application, number = wanted.signal] {
    end_process(application, {0, number, false, {}});
  });
}

void SimDriver::on_turn(ApplicationId application) {
  const auto found = seats_.find(application);
  if (found == seats_.end()) return;
  Seat& seat = found->second;
  constexpr std::size_t kPipeBytes = std::size_t{64} << 10U;
  if (seat.pipe_bytes >= kPipeBytes) {  // It is in write() until the daemon has read.
    agenda_.schedule_in(seat.process->draw_pause(), [this, application] {
      read_pipe(application, /*all=*/false);
      on_turn(application);
    });
    return;
  }
  seat.process->take_turn(agenda_.now());
  if (auto written = seat.process->take_written()) {
    seat.pipe_bytes += written->size();
    seat.pipe.push_back(std::move(*written));
    agenda_.schedule_in(options_.local_delay,
                        [this, application] { read_pipe(application, /*all=*/false); });
  }
  send_local(application, seat);
  if (seat.process->exit()) {
    // After what it sent, on the same connection.
    agenda_.schedule_in(options_.local_delay, [this, application] {
      const auto at = seats_.find(application);
      if (at == seats_.end()) return;
      if (!at->second.to_daemon.empty()) return on_turn(application);  // Held back: later.
      end_process(application, *at->second.process->exit());
    });
    return;
  }
  agenda_.schedule_in(seat.process->draw_pause(), [this, application] { on_turn(application); });
}

void SimDriver::read_pipe(ApplicationId application, bool all) {
  while (is_running()) {
    const auto found = seats_.find(application);
    if (found == seats_.end() || found->second.pipe.empty()) return;
    Seat& seat = found->second;
    if (!all && (held_.contains(seat.job) || daemon_->congested())) return;
    Payload bytes = std::move(seat.pipe.front());
    seat.pipe.pop_front();
    seat.pipe_bytes -= bytes.size();
    input([job = seat.job, bytes = std::move(bytes)](Daemon& daemon, Instant now) mutable {
      daemon.on_output(now, job, false, std::move(bytes));
    });
  }
}

void SimDriver::send_local(ApplicationId application, Seat& seat) {
  std::vector<runtime::ToDaemon> messages = seat.process->take_outputs();
  saboteur_.on_local(messages);
  for (runtime::ToDaemon& message : messages) {
    pass_wire(message);
    seat.to_daemon.push_back(std::move(message));
    agenda_.schedule_in(options_.local_delay,
                        [this, application] { on_local_to_daemon(application); });
  }
}

void SimDriver::on_local_to_daemon(ApplicationId application) {
  const auto found = seats_.find(application);
  if (found == seats_.end() || found->second.to_daemon.empty() || !is_running()) return;
  if (daemon_->congested()) {
    held_back_.push_back(application);
    return;
  }
  runtime::ToDaemon message = std::move(found->second.to_daemon.front());
  found->second.to_daemon.pop_front();
  input([application, message = std::move(message)](Daemon& daemon, Instant now) mutable {
    daemon.on_app_message(now, application, std::move(message));
  });
}

void SimDriver::on_local_to_application(ApplicationId application) {
  const auto found = seats_.find(application);
  if (found == seats_.end() || found->second.to_application.empty()) return;
  Seat& seat = found->second;
  if (saboteur_.delivers_twice()) {
    seat.process->on_message_unfiltered(agenda_.now(), seat.to_application.front());
  } else {
    seat.process->on_message(agenda_.now(), std::move(seat.to_application.front()));
  }
  seat.to_application.pop_front();
  send_local(application, seat);
}

void SimDriver::end_process(ApplicationId application, runtime::Exit exit) {
  read_pipe(application, /*all=*/true);
  const auto found = seats_.find(application);
  if (found == seats_.end()) return;
  const JobId job = found->second.job;
  seats_.erase(found);
  held_.erase(job);
  const auto hung_up = [=](Daemon& daemon, Instant now) { daemon.on_app_down(now, application); };
  const auto ended = [=](Daemon& daemon, Instant now) { daemon.on_process_ended(now, job, exit); };
  if (rng_.below(2) == 0) {
    input(hung_up);
    input(ended);
  } else {
    input(ended);
    input(hung_up);
  }
}

Process* SimDriver::process() {
  for (auto& [application, seat] : seats_) {
    if (seat.process->endpoint().attached() && !seat.process->exit()) return seat.process.get();
  }
  return nullptr;
}

}  // namespace phx::sim
