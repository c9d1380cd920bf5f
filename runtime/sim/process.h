#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/rng.h"
#include "runtime/endpoint/endpoint.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"
#include "runtime/sim/network_model.h"
#include "runtime/sim/workload.h"

namespace phx::sim {

/// One process of a synthetic job: a real Endpoint, and an application that works off the plan of
/// its Workload for the vnodes it holds. All that a vnode remembers is in its state, which moves.
/// Not thread-safe.
class Process {
 public:
  Process(MachineId at, JobId job, Workload& workload, Rng rng);

  // Inputs.
  void on_message(Instant now, runtime::ToApplication message);
  /// The same, but what the endpoint drops as a duplicate is received all the same: a planted
  /// fault.
  void on_message_unfiltered(Instant now, const runtime::ToApplication& message);
  /// A turn: receives, acts, declares a safe point; whatever the dice say.
  void take_turn(Instant now);

  [[nodiscard]] std::vector<runtime::ToDaemon> take_outputs() { return endpoint_.take_outputs(); }
  /// What it wrote in this turn, for its standard output.
  [[nodiscard]] std::optional<Payload> take_written() { return std::exchange(written_, {}); }
  /// The process has ended, in this way, after what it has put out.
  [[nodiscard]] const std::optional<runtime::Exit>& exit() const { return exit_; }
  /// Until the next turn.
  [[nodiscard]] Duration draw_pause();
  /// Gives up these vnodes at the next safe point although nobody asked for them.
  void release(const VnodeSet& vnodes);
  /// The same, but only who is told to will ask for them.
  void give_up(const VnodeSet& vnodes) { endpoint_.release(vnodes); }
  void assume(const VnodeSet& vnodes) { endpoint_.assume(vnodes); }
  /// It does nothing until then, and reads nothing, as after SIGSTOP.
  void stop_until(Instant at) { stopped_until_ = at; }
  [[nodiscard]] const runtime::Endpoint& endpoint() const { return endpoint_; }

 private:
  /// The application's state of one vnode, as it is packed: plain bytes, then padding.
  struct State {
    std::uint64_t digest = 0;  ///< Of everything it received and did.
    std::uint32_t sent = 0;
    std::uint32_t broadcasts = 0;
    std::uint64_t round = 0;  ///< Of the reduction it takes part in next, or waits for.
    bool waits = false;       ///< For the result of `round`.
    bool is_done = false;
    std::uint32_t results = 0;  ///< Pieces of the result received.
    std::uint64_t first = 0;    ///< Number of the first piece.
    std::uint64_t pieces = 0;
    std::uint64_t offset = 0;  ///< Bytes of the result received.
    bool is_right = true;
  };

  void read(Instant now, runtime::ToApplication message);
  void receive();
  void act(Instant now, VnodeId vnode, State& state);
  void send_something(Instant now, VnodeId vnode, State& state);
  void send_ordered(VnodeId vnode);
  void reduce(VnodeId vnode, State& state);
  void contribute(VnodeId vnode, State& state, const Round& round);
  void await_result(VnodeId vnode, State& state, const Round& round);
  void fold_user_values(VnodeId vnode, const State& state, const Round& round);
  void check_piece(State& state, const Round& round, const Payload& piece);
  [[nodiscard]] bool leaves(Instant now);
  void check_nothing_left(Instant now);
  void pass_safe_point();
  void adopt_orphans(Instant now);
  [[nodiscard]] std::size_t draw_size();
  [[nodiscard]] Payload pack(VnodeId vnode, const State& state);
  [[nodiscard]] static std::uint64_t mark_of(const Payload& packed);

  MachineId at_;
  Workload& workload_;
  Rng rng_;
  runtime::Endpoint endpoint_;
  std::map<VnodeId, State> states_;
  VnodeSet released_;  ///< Asked for by release(), not yet packed.
  std::uint64_t turns_ = 0;
  Instant adopted_at_{};
  Instant stopped_until_{};
  std::vector<runtime::ToApplication> unread_;  ///< Came while it was stopped.
  std::optional<Payload> written_;
  std::optional<Instant> leaves_at_;  ///< It has taken part in the last vote.
  bool is_told_ = false;              ///< It has taken the broadcast of the end.
  bool is_closing_ = false;           ///< Done, but what it sent has not been received.
  std::optional<runtime::Exit> exit_;
};

}  // namespace phx::sim
