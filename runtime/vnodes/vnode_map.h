#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/owner_group.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// Who owned each vnode of one job, as far as this processor has heard: for every vnode the pair
/// (owner, epoch) with the highest epoch heard. Every pair is truthful ("was, is, or is about to
/// be owner at that epoch"), so following pairs of growing epoch ends at the owner [Saito08 G12].
/// Kept as runs of vnodes with the same pair. Not thread-safe.
class VnodeMap {
 public:
  using Owner = std::pair<ProcessorId, Epoch>;

  /// Equal contiguous shares for `processors` in this order, at epoch 1.
  /// REQUIRES vnodes > 0 and at least one processor.
  VnodeMap(std::uint64_t vnodes, const std::vector<ProcessorId>& processors);

  /// Takes over what is newer than what is known; the rest is ignored. Vnodes beyond the space are
  /// ignored too. Returns the vnodes that changed.
  VnodeSet learn(const Route& route);

  /// Only for the owner itself: each of its runs that touches `vnodes` gets one epoch, the highest
  /// in it, so that what moved in does not stay a run of its own.
  void even_out(ProcessorId owner, const VnodeSet& vnodes);

  [[nodiscard]] std::uint64_t vnodes() const { return vnodes_; }
  [[nodiscard]] bool contains(VnodeId vnode) const { return vnode.value < vnodes_; }
  /// REQUIRES contains(vnode).
  [[nodiscard]] Owner owner(VnodeId vnode) const;
  /// `wanted` cut into groups of one owner and epoch, sorted by owner, then epoch.
  [[nodiscard]] std::vector<collectives::OwnerGroup> groups(const VnodeSet& wanted) const;
  [[nodiscard]] VnodeSet owned_by(ProcessorId processor) const;
  /// The owners of the vnodes just before and just after the range, if they are others.
  [[nodiscard]] std::vector<ProcessorId> beside(const VnodeSet::Range& range) const;
  [[nodiscard]] VnodeSet owned_by_any(const ProcessorSet& processors) const;
  /// How many vnodes each processor owns, by its id; processors without any are left out.
  [[nodiscard]] std::vector<std::pair<ProcessorId, std::uint64_t>> loads() const;
  /// What is known of `wanted`, for others.
  [[nodiscard]] std::vector<Route> routes(const VnodeSet& wanted) const;
  [[nodiscard]] VnodeSet all() const;
  /// Grows with each change of an owner.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  void check_invariants() const;

 private:
  /// Ends where the next one begins.
  struct Run {
    std::uint64_t first = 0;
    Owner owner;
  };
  using Runs = std::vector<Run>;

  void replace(std::uint64_t first, std::uint64_t last, const Owner& owner);
  [[nodiscard]] std::uint64_t last_of(Runs::const_iterator run) const;
  [[nodiscard]] Runs::const_iterator run_of(std::uint64_t vnode) const;

  std::uint64_t vnodes_;
  std::uint64_t changes_ = 0;
  /// What was asked for last, mostly by the owner itself: to look through all runs costs N.
  mutable std::optional<std::pair<ProcessorId, VnodeSet>> last_owned_;
  Runs runs_;  ///< Ascending: 24 bytes each, and there is one per processor of the job at least.
};

}  // namespace phx::runtime
