#include "overlay/planners/shapes.h"

namespace phx::planners {

/// In the order of ids, counted from the root.
Plan plan_flat(const Task& task) {
  Links links;
  const Positions ranks = from_root(task);
  for (std::size_t i = 1; i < ranks.size(); ++i) links.emplace_back(task.root, ranks[i]);
  return tree_plan(task, "flat", {links}, /*cut=*/false);
}

/// As MPICH for short messages [Thakur03].
Plan plan_binomial(const Task& task) {
  Links links;
  append_binomial(links, from_root(task));
  return tree_plan(task, "binomial", {links}, /*cut=*/false);
}

}  // namespace phx::planners
