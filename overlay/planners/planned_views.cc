#include "overlay/planners/planned_views.h"

#include <cstdint>
#include <iterator>

#include "overlay/base/check.h"

namespace phx::planners {
namespace {

using Views = std::map<ProcessorId, TreeView>;

Views views_of(const PlannedTree& tree, TreeId id, const Costs& costs) {
  Views views;
  views[id.root].id = id;
  for (const Edge& edge : tree) {
    const auto from = costs.position(edge.from);
    const auto to = costs.position(edge.to);
    PHX_CHECK(from && to);
    TreeView& below = views[edge.to];
    below.id = id;
    below.parent = edge.from;
    below.distance_to_root =
        views[edge.from].distance_to_root + costs.latency(*from, *to) + costs.latency(*to, *from);
    views[edge.from].children.push_back({edge.to, ProcessorSet{edge.to}});
  }
  // Children come after their parents, so backwards their sets are complete. Those of one parent
  // come in the order of its edges.
  std::map<ProcessorId, ProcessorSet> below;
  std::map<ProcessorId, std::size_t> seen;  // From the last child on.
  for (auto edge = tree.rbegin(); edge != tree.rend(); ++edge) {
    std::vector<TreeChild>& children = views[edge->from].children;
    TreeChild& child = children[children.size() - ++seen[edge->from]];
    PHX_CHECK(child.id == edge->to);
    child.below = child.below.united(below[edge->to]);
    below[edge->from] = below[edge->from].united(below[edge->to]).united(ProcessorSet{edge->to});
  }
  for (auto& [processor, view] : views) view.version = 1;
  return views;
}

}  // namespace

std::map<ProcessorId, std::vector<TreeView>> planned_views(const std::vector<PlannedTree>& trees,
                                                           ProcessorId root, const Costs& costs) {
  std::map<ProcessorId, std::vector<TreeView>> result;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const TreeId id{root, TreeKind::kPlanned, static_cast<std::uint32_t>(i)};
    for (auto& [processor, view] : views_of(trees[i], id, costs)) {
      result[processor].push_back(std::move(view));
    }
  }
  return result;
}

}  // namespace phx::planners
