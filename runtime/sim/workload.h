#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "runtime/messages/local_messages.h"
#include "runtime/sim/ledger.h"
#include "runtime/sim/network_model.h"

namespace phx::sim {

/// What reductions combine.
enum class Sums : std::uint8_t {
  kDrawn,           ///< Integers, by different operators, and user-defined ones.
  kDoubles,         ///< Sums of floating-point numbers, ...
  kOrderedDoubles,  ///< ... whose bits must be as expected.
};

/// What the vnodes of a synthetic job do before it is complete.
struct WorkloadOptions {
  std::uint64_t vnodes = 16;
  std::uint32_t processors_max = 0;  ///< Of the job; 0: all.
  bool balance = true;
  bool detached = false;  ///< It goes on while no tool follows it.

  std::uint32_t messages = 0;    ///< Each vnode sends so many, to random vnodes.
  std::uint32_t broadcasts = 0;  ///< So many in all, from random vnodes.
  std::uint32_t reductions = 0;  ///< So many rounds; half of them to all (allreduce).
  Sums sums = Sums::kDrawn;
  std::uint64_t targets = 0;         ///< Of reductions: the first vnodes; 0: all.
  std::size_t message_bytes = 1024;  ///< Most are shorter, a few take several pieces.
  bool has_equal_sizes = false;      ///< All have `message_bytes`.
  std::uint64_t takes_max = 0;       ///< A process takes so many messages per turn; 0: all.
  /// At the end all vnodes take part in one more allreduce, and each process leaves some time later
  /// whether or not its result is there, as from a loop over safe points. REQUIRES that none moves.
  bool has_last_vote = false;
  std::size_t long_elements = 600;                    ///< Of the longest reductions, 8 bytes each.
  std::size_t state_bytes = 2048;                     ///< Of a vnode, at most.
  std::function<std::size_t(VnodeId)> state_of = {};  ///< Instead of a drawn size up to that one.
  std::size_t piece_bytes = 4096;                     ///< Of the endpoints.
  // Of the endpoints, too: credit before any was given, window of one flow, what a process takes in
  // without being asked for it, and what it keeps for its receivers.
  std::uint64_t unasked_bytes = std::uint64_t{64} << 10U;
  std::uint64_t window_bytes = std::uint64_t{16} << 20U;
  std::uint64_t inbox_bytes = std::uint64_t{64} << 20U;
  std::uint64_t outbox_bytes = std::uint64_t{1} << 30U;
  std::uint64_t slack_bytes = std::uint64_t{16} << 20U;  ///< Of broadcasts.
  /// How far contributions of a vnode go ahead: in bytes, and so many in any case.
  std::uint64_t contribution_bytes = std::uint64_t{64} << 10U;
  std::uint64_t contributions_ahead = 8;
  bool ignores_window = false;   ///< A planted fault: they go ahead as far as they like.
  std::size_t output_bytes = 0;  ///< A process writes less than this per turn; 0: nothing.

  Duration pause_min = 1ms;  ///< Between two turns of a process.
  Duration pause_max = 5ms;
  double send_chance = 0.2;        ///< Per vnode and turn.
  double safe_point_chance = 0.4;  ///< Per turn.
  Duration explicit_moves{};       ///< Mean time between releases by the application; 0: none.
  /// The job does not end before; quotas are spread over this time.
  Duration lasts{};
  /// Hears whatever reaches a process, when it does; may be left out.
  std::function<void(Instant, MachineId, const runtime::ToApplication&)> on_arrival = {};
};

/// One reduction round of a job: the same for every vnode.
struct Round {
  std::uint64_t number = 0;
  VnodeId target;
  collectives::ReductionKind kind;
  std::size_t elements = 1;
};

/// What the processes of one synthetic job have in common: the plan, drawn from the seed, and the
/// book of what was done. Not thread-safe.
class Workload {
 public:
  Workload(const WorkloadOptions& options, std::uint64_t seed, Violations& violations);

  [[nodiscard]] const WorkloadOptions& options() const { return options_; }
  [[nodiscard]] Ledger& ledger() { return ledger_; }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }

  // The plan.
  [[nodiscard]] Round round(std::uint64_t number) const;
  /// What `vnode` contributes to `round`.
  [[nodiscard]] Payload contribution(const Round& round, VnodeId vnode) const;
  /// Of all contributions together.
  [[nodiscard]] const Payload& expected(const Round& round);
  /// Broadcasts that `root` starts.
  [[nodiscard]] std::uint32_t broadcasts_of(VnodeId root) const { return broadcasts_[root.value]; }

  // Progress.
  void on_done() { ++done_; }  ///< A vnode has done all it was to do.
  void extend(std::uint32_t rounds) { options_.reductions += rounds; }  ///< More of them.
  /// One more round, with this target instead of a drawn one.
  void order_round(VnodeId target, const collectives::ReductionKind& kind,
                   std::size_t elements = 1);
  /// So many more messages of `message_bytes`, as fast as there is room for them.
  void order_messages(VnodeId from, VnodeId to, std::uint64_t count) {
    if (count > 0) orders_[from].emplace_back(to, count);
  }
  void drop_orders() { orders_.clear(); }
  /// To whom `from` sends the next one of these; and that it has done so.
  [[nodiscard]] std::optional<VnodeId> next_order(VnodeId from) const;
  void on_order_sent(VnodeId from);
  void order_broadcast(VnodeId root) { order_broadcasts(root, 1); }  ///< One more of `root`.
  void order_broadcasts(VnodeId root, std::uint32_t count) { broadcasts_[root.value] += count; }
  /// `root` broadcasts the end. Each process leaves when it has taken that, whatever else comes.
  void order_end(VnodeId root) { end_root_ = root; }
  [[nodiscard]] bool take_end(VnodeId root);  ///< Whether it has to do so now.
  /// While it is held open, the job is not complete, so that more can be ordered.
  void hold_open(bool is_held) { is_held_open_ = is_held; }
  /// Everything was done, and everything sent has been received.
  [[nodiscard]] bool is_complete(Instant now) const;
  void begin(Instant now) { begun_at_ = now; }
  [[nodiscard]] double share_of_time(Instant now) const;

  // Vnodes released by their application that nobody holds.
  void orphaned(VnodeId vnode) { orphans_.insert(vnode); }
  void adopted(VnodeId vnode) { orphans_.erase(vnode); }
  [[nodiscard]] const VnodeSet& orphans() const { return orphans_; }

 private:
  WorkloadOptions options_;
  Rng rng_;
  Ledger ledger_;
  std::vector<std::uint32_t> broadcasts_;
  std::vector<std::optional<Payload>> expected_;
  std::map<std::uint64_t, Round> ordered_;
  std::map<VnodeId, std::deque<std::pair<VnodeId, std::uint64_t>>> orders_;  ///< Messages to send.
  std::optional<VnodeId> end_root_;  ///< It has to broadcast the end.
  bool is_held_open_ = false;
  std::uint64_t done_ = 0;
  Instant begun_at_{};
  VnodeSet orphans_;
};

}  // namespace phx::sim
