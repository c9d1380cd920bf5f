#include "overlay/planners/shapes.h"

namespace phx::planners {

/// [Saito08 s.2.1]. Each way between sites is taken at most once, the longest first.
Plan plan_magpie(const Task& task) {
  Links links;
  const std::vector<Positions> sites = sites_from_root(task);
  for (const Positions& site : sites) {
    if (site.front() != task.root) links.emplace_back(task.root, site.front());
  }
  for (const Positions& site : sites) append_binomial(links, site);
  return tree_plan(task, "magpie", {links}, /*cut=*/false);
}

/// [Saito08 s.5.1.2]
Plan plan_list(const Task& task) {
  Positions order;
  for (const Positions& site : sites_in_chain(task)) {
    order.insert(order.end(), site.begin(), site.end());
  }
  Links links;
  append_chain(links, order);
  return tree_plan(task, "list", {links}, /*cut=*/true);
}

}  // namespace phx::planners
