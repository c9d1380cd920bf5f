#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// Who accuses whom, and whom this processor holds for dead. Evidence only: what follows from it is
/// decided by Membership [README, "Accusations"].
class FailureDetector {
 public:
  using Gone = ViewChange::Gone;

  /// An accusation by another one counts for `memory`; it is repeated while its reason lasts.
  FailureDetector(ProcessorId self, Duration memory) : self_(self), memory_(memory) {}

  /// `accuser` cannot reach `accused.id`. However often it says so, it is one accuser.
  void accuse(Instant now, ProcessorId accuser, const Gone& accused);
  /// This processor reaches it: nothing counts that was said before.
  void trust(ProcessorId id);
  /// From now on held for dead. The first reason is kept.
  void condemn(Gone dead);
  /// `id` is no member any more.
  void forget(ProcessorId id);
  /// ... and so is everybody else who is not in this view.
  void keep_only(const View& view);

  /// Held for dead.
  [[nodiscard]] bool is_suspected(ProcessorId id) const { return suspected_.contains(id); }
  [[nodiscard]] const std::map<ProcessorId, Gone>& suspected() const { return suspected_; }
  /// By this processor's own channel.
  [[nodiscard]] bool is_accused(ProcessorId id) const { return own_.contains(id); }
  [[nodiscard]] const std::map<ProcessorId, Gone>& accused() const { return own_; }
  /// How often this processor has found so, since it last trusted `id`.
  [[nodiscard]] std::uint32_t times_accused(ProcessorId id) const;
  /// Others that accuse `id`, and whose word still counts.
  [[nodiscard]] std::uint32_t other_accusers(Instant now, ProcessorId id) const;
  /// The lowest member that is not held for dead; kNobody if there is none.
  [[nodiscard]] ProcessorId lowest_trusted(const View& view) const;
  /// Who decides about `accused`: the lowest other one that this processor does not accuse.
  [[nodiscard]] ProcessorId judge_of(ProcessorId accused, const View& view) const;
  /// This processor accuses all others, or holds them for dead.
  [[nodiscard]] bool has_nobody_else(const View& view) const;

 private:
  ProcessorId self_;
  Duration memory_;
  std::map<ProcessorId, Gone> suspected_;
  std::map<ProcessorId, Gone> own_;
  std::map<ProcessorId, std::uint32_t> times_;
  std::map<ProcessorId, std::map<ProcessorId, Instant>> others_;  ///< accused -> accuser, when
};

/// The `count` members after `self` in the ring of ids, without `self`: whom it watches.
[[nodiscard]] ProcessorSet ring_successors(ProcessorId self, const View& view, std::uint32_t count);
/// The members before `id` in the ring of ids, the nearest first: those that watch it come first.
[[nodiscard]] std::vector<ProcessorId> ring_predecessors(ProcessorId id, const View& view);
/// Both run on one machine, so that what one finds there is true for all.
[[nodiscard]] bool share_machine(const Member& a, const Member& b);
/// The others that run on the machine of `self`.
[[nodiscard]] ProcessorSet fellows_of(ProcessorId self, const View& view);
/// All that share one with somebody, by machine.
[[nodiscard]] std::vector<ProcessorSet> shared_machines(const View& view);

}  // namespace phx::runtime
