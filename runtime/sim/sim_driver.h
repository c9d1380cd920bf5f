#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "overlay/base/rng.h"
#include "runtime/daemon.h"
#include "runtime/sim/agenda.h"
#include "runtime/sim/network.h"
#include "runtime/sim/planted.h"
#include "runtime/sim/process.h"
#include "runtime/sim/wire_hop.h"

namespace phx::sim {

/// How the machines of a simulation behave besides their network.
struct MachineOptions {
  Duration local_delay = 20us;  ///< Between daemon and application, one way.
  Duration spawn_delay = 20ms;  ///< Until a started process attaches.
  Duration late_timers_max{};   ///< Timers fire up to so much too late.
  PlantedFault fault = PlantedFault::kNone;
  bool wire = false;  ///< Messages become bytes and are read back.
};

/// Drives one real Daemon, and the application processes at its machine, in virtual time: what
/// runtime/tcp does with sockets and timers. Not thread-safe.
class SimDriver {
 public:
  /// What the rest of the simulation hears from the machines.
  struct Outside {
    std::function<void(MachineId, const runtime::Note&)> on_note;
    /// False: the tool does not read now; on_client_took() is to follow when it does.
    std::function<bool(MachineId, ClientId, runtime::ClientReply)> on_reply;
    std::function<void(MachineId, ClientId)> on_client_dropped;
    std::function<void(MachineId, const runtime::Stop&)> on_stopped;
    /// A message did not come out of the wire as it went in.
    std::function<void(MachineId, const std::string&)> on_damage;
    /// After every input to the daemon.
    std::function<void(MachineId)> on_step;
    /// Where `endpoints` lead; nobody knows: none.
    std::function<std::optional<MachineId>(const std::vector<std::string>&)> resolve;
    std::function<void(MachineId, MachineId asked)> on_inquire;
    /// The plan of a job; none: its processes cannot be started.
    std::function<Workload*(const runtime::JobSpec&)> workload;
  };

  SimDriver(MachineId machine, Agenda& agenda, Network& network, const Outside& outside,
            const MachineOptions& options, Rng rng);

  /// The daemon comes to life. Once.
  void start(runtime::Birth birth, const runtime::DaemonConfig& config);

  // Inputs from the network.
  void on_link_up(LinkId link, bool dialled);
  void on_link_down(LinkId link);
  void on_dial_failed(ProcessorId peer, bool refused);
  void on_frame(LinkId link, runtime::Frame frame);
  void on_link_drained(LinkId link);
  void on_inquired(const runtime::View& view);

  // Inputs from tools.
  [[nodiscard]] ClientId connect_client() { return ClientId{next_client_++}; }
  void on_client_message(ClientId client, runtime::ClientRequest request);
  void on_client_took(ClientId client);
  void on_client_broken(ClientId client);  ///< The tool may come back.

  void plant(const std::vector<TreeView>& views);  ///< See Daemon::plant().

  // What befalls the machine.
  void drain();
  void kill();  ///< The daemon and its applications end at once.
  /// The daemon does nothing until then; what comes in waits.
  void freeze_until(Instant at);

  // Queries.
  /// Null before start(), and soon after the end.
  [[nodiscard]] const runtime::Daemon* daemon() const { return daemon_.get(); }
  /// What it is, or was, in the mesh; nobody: not yet.
  [[nodiscard]] ProcessorId self() const { return self_; }
  /// Started, and neither stopped nor killed.
  [[nodiscard]] bool is_running() const { return daemon_ && !is_stopped_; }
  /// An attached process of any job, for explicit moves; null if there is none.
  [[nodiscard]] Process* process();
  [[nodiscard]] bool has_processes() const { return !seats_.empty(); }

 private:
  /// A process and the two directions of its connection with the daemon.
  struct Seat {
    JobId job;
    std::unique_ptr<Process> process;
    std::deque<runtime::ToDaemon> to_daemon;
    std::deque<runtime::ToApplication> to_application;
    std::deque<Payload> pipe;  ///< Written, and not read by the daemon.
    std::size_t pipe_bytes = 0;
  };
  using Input = std::function<void(runtime::Daemon&, Instant)>;

  template <class Call>
  void input(Call call);
  void execute_effects();
  void execute(runtime::Effect& effect);
  void rearm();
  void on_wake();
  void thaw();
  void spawn(const runtime::Spawn& wanted);
  void signal(const runtime::SignalProcess& wanted);
  void on_turn(ApplicationId application);
  /// Gives the daemon what the process has written; `all`: also while it is held up.
  void read_pipe(ApplicationId application, bool all);
  void on_local_to_daemon(ApplicationId application);
  void on_local_to_application(ApplicationId application);
  void send_local(ApplicationId application, Seat& seat);
  /// Replaces `message` by what the other end would read; does nothing without `wire`.
  template <class M>
  void pass_wire(M& message);
  /// By value: the process that says how it ended goes away in here.
  void end_process(ApplicationId application, runtime::Exit exit);

  MachineId machine_;
  Agenda& agenda_;
  Network& network_;
  const Outside& outside_;
  MachineOptions options_;
  Rng rng_;
  Saboteur saboteur_;
  std::optional<WireHop> wire_;
  ProcessorId self_;
  std::unique_ptr<runtime::Daemon> daemon_;
  bool is_stopped_ = false;
  bool is_executing_ = false;
  std::optional<Instant> wake_at_;  ///< The earliest wake-up on the agenda.
  Instant frozen_until_{};
  std::vector<Input> frozen_;  ///< Came while frozen.
  std::map<ApplicationId, Seat> seats_;
  std::vector<ApplicationId> held_back_;  ///< One per message that waits for the congestion to end.
  std::set<JobId> held_;                  ///< Whose output is not read.
  std::uint32_t next_application_ = 1;
  std::uint32_t next_client_ = 1;
  std::vector<ClientId> took_;  ///< Have read what the effects being executed sent them.
  std::set<ClientId> has_unread_;
};

}  // namespace phx::sim
