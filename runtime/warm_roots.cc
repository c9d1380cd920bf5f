#include "runtime/warm_roots.h"

#include <utility>

#include "overlay/planners/tree_styles.h"

namespace phx::runtime {

/// Whoever takes part in collectives of a root asks for its tree for short messages first.
void WarmRoots::on_drawn(TreeId id) {
  const bool is_short = id.number == learned_number(0, 0);  // and of the usual style
  if (!is_short || (!used_.contains(id.root) && used_.size() >= kMost)) return;
  used_.insert(id.root);
  drawn_.push_back(id.root);
}

std::set<ProcessorId> WarmRoots::take_partners(const overlay::TreeStore& trees) {
  constexpr SizeClass kNear = 1;   // Of these one site sends to all others, ...
  constexpr SizeClass kChain = 4;  // ... and of these each to the next one.
  std::set<ProcessorId> partners;
  for (const ProcessorId root : std::exchange(drawn_, {})) {
    for (const SizeClass size : {kNear, kChain}) {
      for (std::uint64_t piece = 0; piece < long_trees(size); ++piece) {
        const TreeView* view = trees.view(trees.in_use(root, planners::kLearnedStyle, piece, size));
        if (view == nullptr) continue;
        if (view->parent) partners.insert(*view->parent);
        for (const TreeChild& child : view->children) partners.insert(child.id);
      }
    }
  }
  return partners;
}

}  // namespace phx::runtime
