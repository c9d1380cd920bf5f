#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/rng.h"
#include "runtime/messages/messages.h"
#include "runtime/sim/agenda.h"
#include "runtime/sim/connection.h"
#include "runtime/sim/meter.h"
#include "runtime/sim/network_model.h"
#include "runtime/wire/codec.h"

namespace phx::sim {

/// Connections between simulated daemons. One is FIFO; when it breaks, an unknown suffix of each
/// direction is lost, and its ends notice late and unequally, or not at all. Not thread-safe.
class Network {
 public:
  /// What the machines hear. A call may lead to further calls of the network.
  struct Inputs {
    std::function<void(MachineId, LinkId, bool dialled)> on_link_up;
    std::function<void(MachineId, LinkId)> on_link_down;
    std::function<void(MachineId, ProcessorId peer, bool refused)> on_dial_failed;
    std::function<void(MachineId, LinkId, runtime::Frame)> on_frame;
    /// The last byte of what was transmitted with `tell` has left this machine.
    std::function<void(MachineId, LinkId)> on_drained = {};
  };
  /// How a machine answers those who dial it.
  enum class Answer : std::uint8_t {
    kNothing,  ///< The machine is lost: they wait for their time-out.
    kRefusal,  ///< Nobody listens.
    kLater,    ///< Listens, but is not a member yet: they wait.
    kAccepted,
  };
  /// How a broken connection shows at its two ends.
  enum class Break : std::uint8_t { kBoth, kHalfOpen, kSilent };

  Network(Agenda& agenda, NetworkModel& model, Rng rng)
      : agenda_(agenda), model_(model), rng_(rng) {}
  void set_inputs(Inputs inputs) { inputs_ = std::move(inputs); }

  MachineId add_machine(std::size_t site);
  /// The machine's daemon has this id from now on and accepts connections.
  void open(MachineId machine, ProcessorId self);
  /// Everything sent arrives; then the peers hear that the links are down.
  void close(MachineId machine);
  /// Its process died, or (`lost`) the whole machine.
  void kill(MachineId machine, bool lost);

  // What a daemon asks for.
  /// Ignored while this machine dials that peer already.
  void dial(MachineId from, ProcessorId peer, MachineId to);
  void transmit(MachineId from, LinkId link, runtime::Frame frame, bool tell = false);
  void hang_up(MachineId from, LinkId link);
  // Disturbances.
  /// Breaks one connection, if there is any; which one the seed decides.
  void break_one(Break how);
  /// Nothing crosses between these machines and all others until heal().
  void cut_off(std::set<MachineId> side);
  void heal();
  /// What stands between two machines.
  enum class Barrier : std::uint8_t {
    kRefusal,  ///< Attempts of the first to connect to the second are refused.
    kDrop,     ///< ... get no answer. The reverse works, and so does what is connected.
    kCut,      ///< Nothing passes, in both directions, and what is connected stands still.
  };
  void set_barrier(MachineId from, MachineId to, Barrier barrier);
  void lift_barriers(MachineId a, MachineId b);
  /// A firewall at this machine breaks what is connected, and refuses to connect it, both ways.
  void close_off(MachineId machine);
  void open_again(MachineId machine) { closed_off_.erase(machine); }
  /// The firewall of the machine of these refuses at once what they dial elsewhere, and breaks what
  /// they have; everybody else hears nothing more of them. Empty: of nobody.
  void shut_in(std::set<MachineId> side);
  [[nodiscard]] bool is_cut(MachineId a, MachineId b) const;
  /// The processor of this machine is busy with messages until then; may be past.
  [[nodiscard]] Instant busy_until(MachineId machine) const { return model_.busy_until(machine); }
  /// Frames under way or lost with a connection, for limits.
  [[nodiscard]] std::size_t frames_in_flight() const { return in_flight_; }
  /// What was sent, with the bytes that it takes on the wire.
  [[nodiscard]] const Meter& meter() const { return meter_; }

 private:
  struct Machine {
    Answer answer = Answer::kLater;
    bool is_running = false;
    ProcessorId self;
    std::uint64_t next_link = 1;
    std::map<LinkId, std::uint32_t> links;  ///< Open ones; value: connection * 2 + end.
    std::set<ProcessorId> dialling;
  };

  void on_dial_arrived(MachineId from, ProcessorId peer, MachineId to, Instant give_up);
  void fail_dial(MachineId from, ProcessorId peer, bool refused, Duration after);
  void connect(MachineId from, ProcessorId peer, MachineId to);
  void come_up(std::uint32_t end);
  void go_down(std::uint32_t end);
  void close_end(std::uint32_t end);
  void push(std::uint32_t lane, InFlight item, std::uint64_t bytes);
  [[nodiscard]] Instant send_segment(Instant at, std::uint32_t lane, std::uint32_t bytes);
  void send_waiting(std::uint32_t lane, Instant at);
  void on_confirmed(std::uint32_t lane, std::uint32_t bytes);
  void on_link_stage(std::uint32_t lane, std::uint32_t bytes);
  void on_travel(std::uint32_t lane, std::uint32_t bytes);
  void tell_left(std::uint32_t end, Duration row);
  void on_left(std::uint32_t end);
  void on_arrival(std::uint32_t lane, std::uint32_t bytes);
  void on_inside(std::uint32_t lane, std::uint32_t bytes);
  void on_segment(std::uint32_t lane);
  void break_connection(std::uint32_t connection, Break how,
                        std::optional<std::uint32_t> blind_end = {});
  [[nodiscard]] bool is_shut_in(MachineId from, MachineId to) const;
  [[nodiscard]] std::optional<Barrier> barrier(MachineId from, MachineId to) const;
  void go_on();
  [[nodiscard]] Lane& lane_at(std::uint32_t lane) { return connections_[lane / 2].lanes[lane % 2]; }
  [[nodiscard]] End& end_at(std::uint32_t end) { return connections_[end / 2].ends[end % 2]; }

  Agenda& agenda_;
  NetworkModel& model_;
  Rng rng_;
  Inputs inputs_;
  std::vector<Machine> machines_;
  std::deque<Connection> connections_;  ///< All that ever were.
  std::set<MachineId> cut_off_;
  std::map<std::pair<MachineId, MachineId>, Barrier> barriers_;
  std::set<MachineId> closed_off_, shut_in_;
  std::size_t in_flight_ = 0;
  wire::Encoder encoder_;
  Meter meter_;
};

}  // namespace phx::sim
