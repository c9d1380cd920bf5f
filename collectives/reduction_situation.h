#pragma once

#include <optional>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/tree_view.h"

namespace phx::collectives {

/// What the owner knows at the moment of a call. Hints: they may be wrong, then a token makes a
/// detour or a wait ends early.
struct ReductionSituation {
  /// Vnodes held here.
  const VnodeSet& own;
  /// Who is believed to own the target vnode.
  std::optional<ProcessorId> target_owner;
  /// This processor's view of the tree of `target_owner`; null if there is none.
  const TreeView* tree = nullptr;
  /// For each child of `tree`, in its order, the vnodes believed to be below it.
  std::vector<VnodeSet> child_vnodes;
  /// This processor is leaving and holds nothing back.
  bool leaving = false;
  /// Of which tree `tree` is a view. REQUIRES way_of() of the reduction.
  ReductionWay way = kShortWay;
};

}  // namespace phx::collectives
