#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "runtime/api/engine.h"
#include "runtime/api/handlers.h"
#include "runtime/api/vnode_state.h"
#include "runtime/endpoint/reserved_results.h"

namespace phx {

/// Moves of vnodes at safe points. A program in step calls pass() everywhere the same number of
/// times. Vnodes then move only at *gatherings*: safe points at which everybody waits until all
/// vnodes are at their new places, because a vnode that arrived in the middle of somebody's step
/// would hold up the step that waits for it. Whether the next safe point is a gathering is voted on
/// by a reduction that runs beside the application's step, so a safe point without moves costs
/// almost nothing; and votes come about every kVotePeriod only, however short the steps are.
///
///     safe point:   0          1     2     ...   k          k+1           k+2
///                   gathering  --    --          vote cast  result: some  --
///                                                           want to move
///                                                           = gathering
///
/// Guarantees: when a gathering ends, no vnode is on its way, and none leaves before the next one.
/// A callback that throws interrupts the safe point: the exception passes through the call, and the
/// next call goes on with the same callback, after those that have returned. Thread rule: pass() is
/// called by one thread at a time; the rest by any.
class Steps {
 public:
  static constexpr Duration kVotePeriod = 20ms;

  /// `reserved`: what only they receive [the engine's mutex].
  Steps(Engine& engine, Handlers& handlers, runtime::ReservedResults& reserved)
      : engine_(engine), handlers_(handlers), reserved_(reserved) {}

  /// Throws Failure (kBadInput) after the first safe point: there are vnodes without that state.
  void add_state(VnodeState state);
  /// A safe point of a program in step. False: over. Throws Failure (kDenied) for a refusal, also
  /// in the middle of a gathering: the next call goes on with the same safe point.
  [[nodiscard]] bool pass();
  /// A safe point of this process alone; waits while it holds nothing. False: over. Throws as
  /// above.
  [[nodiscard]] bool pass_alone();
  /// Lets go and takes in what is due; at a gathering all but `staying`. Throws Failure (kLimit)
  /// for a state too large to move; then the job ends. REQUIRES Handlers::begin_move(), and ends
  /// it.
  void move(const VnodeSet* staying = nullptr);
  // With the engine's mutex:
  /// The program has asked for these.
  void want(const VnodeSet& vnodes) { reclaimed_ = reclaimed_.minus(vnodes); }
  /// The program lets them go although nobody asked.
  void give_up(const VnodeSet& vnodes) { given_up_ = given_up_.united(vnodes); }
  /// Something is to be let go or taken in.
  [[nodiscard]] bool is_move_due(const runtime::Endpoint& endpoint) const {
    return moving_ || !endpoint.next_arrivals().empty() || !endpoint.due().empty();
  }
  /// The process will never hold anything again.
  [[nodiscard]] static bool is_over(const runtime::Endpoint& endpoint);
  /// What assume() was refused, if it was, once.
  [[nodiscard]] std::optional<Failure> take_refusal(runtime::Endpoint& endpoint) const;

 private:
  /// All vnodes have the same of it, by a maximum over all contributions.
  struct Ballot {
    std::uint64_t wants_to_move = 0;
    std::uint64_t step_us = 0;  ///< How long a step takes.
  };
  using Contributed = std::vector<std::pair<VnodeId, std::uint64_t>>;
  enum class Woken { kDone, kMove, kOver, kRefused };
  /// What has been done of a safe point between its beginning and its end.
  struct Moving {
    runtime::SafePoint point;
    std::size_t arrived = 0;            ///< Of the arriving vnodes: so many, and
    std::size_t arrived_states = 0;     ///< so many states of the next one.
    std::map<VnodeId, Payload> packed;  ///< Of the departing vnodes: these, and
    std::vector<Payload> parts;         ///< the first states of the next one.
  };

  [[nodiscard]] bool gather();
  void await_handlers();
  void cast(const VnodeSet& vnodes, const Ballot& ballot);
  void take_results(runtime::Endpoint& endpoint);
  [[nodiscard]] Woken collect(bool movable);  ///< Never kRefused: that is thrown.
  /// Asks for what the program has given up in this gathering.
  void reclaim();
  void begin_round();
  void throw_refusal();
  void note_offered(const runtime::SafePoint& point);
  void report_pause(std::chrono::steady_clock::time_point begin);
  static void report_moves(Report& report, const runtime::SafePoint& point,
                           const std::map<VnodeId, Payload>& packed);
  [[nodiscard]] std::uint64_t step_us() const;
  void pack(VnodeId vnode, Moving& moving) const;
  void unpack(const runtime::Arrival& arrival, Moving& moving) const;

  Engine& engine_;
  Handlers& handlers_;
  runtime::ReservedResults& reserved_;
  std::vector<VnodeState> states_;
  VnodeSet given_up_;   ///< By the program; still here [the engine's mutex].
  VnodeSet offered_;    ///< Given up since this gathering began; not back.
  VnodeSet reclaimed_;  ///< Asked for by reclaim(), not by the program since [the engine's mutex].
  std::chrono::steady_clock::time_point reclaim_at_;  ///< When `offered_` is asked for.
  /// A safe point that was begun and not finished: whether there is one [the engine's mutex].
  std::optional<Moving> moving_;
  std::optional<VnodeSet> gathering_;  ///< One that was begun and not finished: who takes part.
  std::atomic<bool> has_begun_ = false;  ///< With the first safe point.
  bool in_step_ = false;               ///< Not before the first gathering, nor while there is one.
  bool is_voting_ = false;             ///< A vote is under way.
  Contributed vote_;                   ///< Its results that have not come.
  Ballot result_;                      ///< One that has come.
  std::uint64_t left_ = 0;             ///< Safe points before the next vote.
  std::uint64_t passed_ = 0;           ///< Safe points since `round_begin_`.
  std::chrono::steady_clock::time_point round_begin_;
};

}  // namespace phx
