#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "collectives/accumulator.h"
#include "collectives/contributed_elsewhere.h"
#include "collectives/messages.h"
#include "collectives/passed_numbers.h"
#include "collectives/reduction_options.h"
#include "collectives/reduction_situation.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"

namespace phx::collectives {

/// One processor's part of all reductions of ONE job: it holds contributions on their way up the
/// tree until everybody below it has contributed, combines them, and passes them on. A machine
/// without a network: the owner hands tokens in and executes what is written to the outbox.
/// [Saito08 E2, G16]; states, the argument for exactness and the message table are in the README.
///
/// Guarantees: as long as the line is the same, every contribution that comes in goes out exactly
/// once, to exactly one place, at the latest `wait_max` later (pieces of long values: or
/// `wait_long` after another one was passed on in time) if the owner keeps the timers. Into the
/// tree goes at most one token per reduction (as long as it is remembered) that carries something,
/// so contributions cannot circulate, whatever the trees are. Whoever has nothing to pass on says
/// so by an empty token. Not guaranteed: that what goes on is complete. Thread rule: one owner.
class Reduction {
 public:
  /// For the owner of the target vnode: deliver here, or route it point-to-point. Final: such a
  /// token never returns to a tree.
  struct ToTarget {
    ReductionToken token;
    friend bool operator==(const ToTarget&, const ToTarget&) = default;
  };
  /// Something that correct programs on correct processors do not produce. The contribution
  /// concerned went on to the target, whose owner decides.
  struct Anomaly {
    enum class Kind : std::uint8_t { kOverlap, kOtherKind, kUnfitValue };
    Kind kind = Kind::kOverlap;
    ReductionId id;
    VnodeSet vnodes;
    friend bool operator==(const Anomaly&, const Anomaly&) = default;
  };
  using Report = std::variant<ToTarget, Anomaly>;
  using Outbox = phx::Outbox<ReductionToken, ReductionId, Report>;

  using Situation = ReductionSituation;

  explicit Reduction(ProcessorId self, const ReductionOptions& options = {});

  // Inputs. `now` never goes back between calls. REQUIRES `below` if there are children.
  /// So many processors have died now: what is held or was passed on is void, and comes anew.
  void on_line(std::uint64_t line, Outbox& out);
  /// A vnode has moved here; per target, the number of the contribution that it makes next. The
  /// owner then hands in an empty token for what it contributed last, so that others learn of it.
  void on_arrived(VnodeId vnode, const std::map<VnodeId, std::uint64_t>& next_numbers) {
    elsewhere_.on_arrived(vnode, next_numbers);
  }
  /// A token from processor `from`, or from an application process here (empty). REQUIRES that it
  /// is of no higher line than line(); one of a lower line is dropped.
  void on_token(Instant now, std::optional<ProcessorId> from, ReductionToken token,
                const Situation& situation, Outbox& out);
  /// Tree or ownership changed: what is held may be complete now. To be called for all of held();
  /// with `leaving` set it passes everything on.
  void on_situation(Instant now, const ReductionId& id, const Situation& situation, Outbox& out);
  /// The same: a new parent need not wait for what went to the old one [Saito08 G16 d]. To be
  /// called for all of targets_lately() and the ways() to them, with what a Situation has of
  /// these names.
  void on_situation(Instant now, VnodeId target, std::optional<ProcessorId> target_owner,
                    const TreeView* tree, Outbox& out, ReductionWay way = kShortWay) {
    answer(now, {target, way}, parent(target_owner, tree), out);
  }
  /// Passes on what is there, if it is time.
  void on_timer(Instant now, const ReductionId& id, const Situation& situation, Outbox& out);

  // Queries.
  [[nodiscard]] std::uint64_t line() const { return line_; }
  /// Of the values held.
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_; }
  [[nodiscard]] std::vector<ReductionId> held() const;
  /// To which something was passed on so lately that somebody may still wait for it.
  [[nodiscard]] std::vector<VnodeId> targets_lately(Instant now) const {
    return passed_.targets_since(now - options_.wait_max);
  }
  /// Along which something was passed on towards `target`.
  [[nodiscard]] std::vector<ReductionWay> ways(VnodeId target) const {
    return passed_.ways(target);
  }
  /// Along which tree it goes, or will go with this token.
  [[nodiscard]] ReductionWay way_of(const ReductionId& id) const;
  [[nodiscard]] ReductionWay way_of(const ReductionToken& token) const;
  /// Anomalies reported so far.
  [[nodiscard]] std::uint64_t anomalies() const { return anomalies_; }
  /// The longest wait between first and last contribution seen lately; waits last 5/4 of it.
  [[nodiscard]] Duration skew() const { return skew_; }
  void check_invariants() const;

 private:
  /// A reduction that is waited for.
  struct Held {
    Accumulator sum;
    std::set<ProcessorId> heard;  ///< Processors that will send nothing more into the tree.
    Instant since;                ///< When the first contribution came, or the first token.
    Instant deadline;
    std::optional<Instant> armed = std::nullopt;  ///< The owner runs a timer for it.
    ReductionWay way = kShortWay;
  };
  using HeldMap = std::map<ReductionId, Held>;

  [[nodiscard]] Duration wait(const Situation& situation) const;
  /// Where tokens go; empty: to the target.
  [[nodiscard]] std::optional<ProcessorId> parent(std::optional<ProcessorId> target_owner,
                                                  const TreeView* tree) const;
  [[nodiscard]] bool has_all(const ReductionId& id, const Held& held,
                             const Situation& situation) const;
  [[nodiscard]] HeldMap::iterator hold(Instant now, const ReductionToken& token, bool is_empty,
                                       const Situation& situation);
  /// Adds to the sum; what cannot be added goes to the target by itself.
  void take(Held& held, ReductionToken token, VnodeSet covered, Outbox& out);
  void pass_late(Instant now, ReductionToken token, Outbox& out);
  /// Tells `parent` what it need not wait for, unless it knows.
  void answer(Instant now, std::pair<VnodeId, ReductionWay> along,
              std::optional<ProcessorId> parent, Outbox& out);
  /// When the time of `held` is up: later, as long as others of the same target are passed on.
  [[nodiscard]] Instant patience(VnodeId target, const Held& held) const;
  /// Removes `at` and sends it on.
  void pass(Instant now, HeldMap::iterator at, const Situation& situation, Outbox& out);

  ProcessorId self_;
  ReductionOptions options_;
  std::uint64_t line_ = 0;  ///< Of all that is below.
  HeldMap held_;
  PassedNumbers passed_;  ///< Forgotten targets are harmless: see the README.
  ContributedElsewhere elsewhere_;
  std::uint64_t held_bytes_ = 0;  ///< Sum over `held_`.
  Duration skew_{};
  std::uint64_t anomalies_ = 0;
};

}  // namespace phx::collectives
