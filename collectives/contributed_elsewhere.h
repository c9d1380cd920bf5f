#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"

namespace phx::collectives {

/// What vnodes that moved here had contributed before they came, so that nobody waits here for what
/// was given elsewhere [Saito08 G16 d]. Forgets what is out of date by itself; to know less than
/// there is to know costs a time-out. Thread rule: one owner.
class ContributedElsewhere {
 public:
  /// Pairs of a vnode and a target that are remembered [limit]. When they are reached, all
  /// are forgotten: only those of reductions that go on matter, and these are few.
  static constexpr std::size_t kEntriesMax = 65'536;

  /// `vnode` has come; per target, the number of the contribution that it makes next.
  void on_arrived(VnodeId vnode, const std::map<VnodeId, std::uint64_t>& next_numbers);
  /// `id` was passed on here: vnodes that took part in it here do so in what follows, too.
  void on_passed(const ReductionId& id);

  /// Whether all of `missing` contributed to `id` elsewhere.
  [[nodiscard]] bool covers(const ReductionId& id, const VnodeSet& missing) const;
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  /// Per target: vnode -> the number of its first contribution here.
  std::map<VnodeId, std::map<VnodeId, std::uint64_t>> first_here_;
  std::size_t size_ = 0;  ///< Of all of them together.
};

}  // namespace phx::collectives
