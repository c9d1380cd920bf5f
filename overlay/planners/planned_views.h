#pragma once

#include <map>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/tree_view.h"
#include "overlay/planners/costs.h"
#include "overlay/planners/plan.h"

namespace phx::planners {

/// What each processor has to know of the trees, as a producer of an overlay::TreeStore says it: of
/// tree t the view {root, kPlanned, t}. REQUIRES valid trees over processors of `costs`, whose
/// latencies give the distances to the root.
[[nodiscard]] std::map<ProcessorId, std::vector<TreeView>> planned_views(
    const std::vector<PlannedTree>& trees, ProcessorId root, const Costs& costs);

}  // namespace phx::planners
