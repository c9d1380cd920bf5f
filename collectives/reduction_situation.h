#pragma once

#include <cstddef>
#include <functional>
#include <optional>

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
  /// The vnodes believed to be below a child of `tree`, by its place there. To find that out costs
  /// as much as the map is long: a call asks only for the first child it has to wait for.
  std::function<VnodeSet(std::size_t child)> below;
  /// This processor is leaving and holds nothing back.
  bool leaving = false;
  /// Of which tree `tree` is a view. REQUIRES way_of() of the reduction.
  ReductionWay way = kShortWay;
};

}  // namespace phx::collectives
