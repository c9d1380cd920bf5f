#include "overlay/mst/tree_sides.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace phx::mst {

std::optional<TreeView> view_of(const TreeSides& sides, ProcessorId self, TreeId id,
                                std::uint64_t version) {
  TreeView view{.id = id, .parent = {}, .children = {}, .version = version};
  std::vector<std::pair<Duration, ProcessorId>> order;
  for (const auto& [other, side] : sides) {
    if (side.processors.contains(id.root)) {
      view.parent = other;
      view.distance_to_root = side.weight + side.farthest;
    } else {
      order.emplace_back(-side.weight, other);
    }
  }
  if (!view.parent && id.root != self) return std::nullopt;
  std::sort(order.begin(), order.end());
  for (const auto& [weight, child] : order) {
    view.children.push_back({child, sides.at(child).processors});
  }
  return view;
}

SideSearch::SideSearch(ProcessorId self, const RoundId& round,
                       const std::map<ProcessorId, Duration>& neighbours)
    : self_(self), round_(round) {
  for (const auto& [other, weight] : neighbours) sides_[other].weight = weight;
}

void SideSearch::start(Outbox& out) {
  if (sides_.empty()) return out.report(Known{});
  tell(out);
}

void SideSearch::on_behind(ProcessorId from, const Behind& m, Outbox& out) {
  const auto side = sides_.find(from);
  if (side == sides_.end() || !heard_.insert(from).second) return;
  side->second.processors = m.processors;
  side->second.farthest = m.farthest;
  tell(out);
  if (heard_.size() == sides_.size()) out.report(Known{});
}

void SideSearch::tell(Outbox& out) {
  for (const auto& [to, side] : sides_) {
    const std::size_t others = heard_.size() - heard_.count(to);
    if (others + 1 < sides_.size() || !told_.insert(to).second) continue;
    Behind behind{round_, {self_}, {}};
    for (const auto& [other, its] : sides_) {
      if (other == to) continue;
      behind.processors = behind.processors.united(its.processors);
      behind.farthest = std::max(behind.farthest, its.weight + its.farthest);
    }
    out.send(to, behind);
  }
}

}  // namespace phx::mst
