#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/payload.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/network/known_network.h"
#include "runtime/messages/client_end.h"
#include "runtime/messages/config.h"
#include "runtime/messages/effect.h"

namespace phx::planners {
class PlanStore;
}

namespace phx::runtime {

/// What a processor starts from: the answer to its JoinRequest, or first_of_mesh().
struct Birth {
  ProcessorId self;
  JoinReply snapshot;
  /// Of all daemons of this thread; null: one of its own.
  std::shared_ptr<planners::PlanStore> plans = nullptr;
  /// Of a founder: where a mesh should have been, "address:port" [membership/README, "Parts"].
  std::vector<std::string> elsewhere{};
  /// The snapshot of a mesh whose only member is `first` (its id is set to 1).
  [[nodiscard]] static Birth first_of_mesh(Member first);
};

/// One processor of the mesh, without I/O: membership, vnode map, routing, migration, trees,
/// collectives, jobs. A driver (runtime/tcp, runtime/sim) feeds inputs and executes effects.
/// This class only routes between the machines that own the state [runtime/README.md].
///
/// Driver's duties: `now` never goes back; after every input execute take_effects() in order, then
/// call on_deadline() when next_deadline() has come. Links are FIFO and report when they are
/// drained; both ends see on_link_up once the peer's identity is proved. Not thread-safe: one
/// owner.
class Daemon {
 public:
  /// `seed` decides every random choice, so that a run can be repeated.
  Daemon(Birth birth, const DaemonConfig& config, std::uint64_t seed);
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Call once, before any other input.
  void start(Instant now);

  // Links between daemons.
  /// `dialled`: this side opened the connection. The peer's id was proved by the handshake.
  void on_link_up(Instant now, LinkId link, bool dialled);
  void on_link_down(Instant now, LinkId link);
  /// `refused`: the machine answered, but nobody listens there.
  void on_dial_failed(Instant now, ProcessorId peer, bool refused, const std::string& why);
  void on_frame(Instant now, LinkId link, Frame&& frame);
  /// All that was transmitted on this link has left, as far as the driver can see: wanted after
  /// every Transmit with `tell`.
  void on_link_drained(Instant now, LinkId link, std::size_t parts = 1);
  /// Part of a long frame came in or went out: a slow line is not a dead one. Wanted about ten
  /// times a second while it lasts.
  void on_link_activity(Instant now, LinkId link);
  void on_inquired(Instant now, const View& view);

  // Application processes of this machine.
  void on_app_message(Instant now, ApplicationId application, ToDaemon message);
  void on_app_down(Instant now, ApplicationId application);
  void on_process_ended(Instant now, JobId job, const Exit& exit);
  void on_output(Instant now, JobId job, bool is_error, Payload bytes);
  void on_input_taken(Instant now, const InputTaken& taken);

  // Tools and newcomers.
  void on_client_message(Instant now, ClientId client, ClientRequest request);
  /// All that this tool was sent has arrived at its machine: wanted soon after every Reply, or
  /// batch of them; not while something of it waits for the tool to read.
  void on_client_took(Instant now, ClientId client);
  void on_client_down(Instant now, ClientId client, const ClientEnd& end = {});

  /// From now on, collectives of these trees' roots take these trees, and no plans given before,
  /// until the membership changes: plans by somebody who knows the network. Views of kind kPlanned,
  /// numbered from 0 per root. What others have been given is their matter: views are hints.
  void plant(Instant now, const std::vector<TreeView>& views);

  /// From now on trees are drawn over this network, and not over the one that is measured: by
  /// somebody who knows it. All daemons should be given the same. REQUIRES that check() succeeds.
  void know(Instant now, const overlay::KnownNetwork& network);

  /// Leaves the mesh in good order (SIGTERM) as soon as another one stays. Ends with Stop.
  void drain(Instant now);

  /// Ends the mesh: all jobs and all daemons. Ends with Stop.
  void take_down(Instant now);

  /// Does nothing if nothing is due: drivers may wake early.
  void on_deadline(Instant now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  [[nodiscard]] std::vector<Effect> take_effects();
  /// A list of effects that was executed: its room is for the next ones.
  void give_back(std::vector<Effect>&& executed);

  // Queries.
  [[nodiscard]] ProcessorId self() const;
  /// The driver should not read from applications while this holds: a peer does not keep up.
  [[nodiscard]] bool congested() const;
  [[nodiscard]] const View& view() const;
  [[nodiscard]] ProcessorStatus status() const;
  /// The vnodes of `job` that this processor owns now (in transit ones are owned by nobody).
  [[nodiscard]] VnodeSet owned(JobId job) const;
  /// Who owns the vnodes of `job`, as far as it is known here.
  [[nodiscard]] std::vector<Route> owners(JobId job) const;
  /// Aborts if an invariant is broken. For tests and the simulator.
  void check_invariants() const;

 private:
  struct Core;
  std::unique_ptr<Core> core_;
};

}  // namespace phx::runtime
