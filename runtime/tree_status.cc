#include "runtime/tree_status.h"

#include <cstdint>
#include <set>

namespace phx::runtime {

std::vector<TreeStatus> known_trees(const overlay::TreeStore& trees, std::uint32_t style,
                                    const TreeQuestion& question) {
  std::vector<TreeStatus> known;
  std::set<TreeId> asked;
  for (std::uint64_t piece = 0;; ++piece) {
    TreeId id = trees.in_use(question.root, style, piece, question.size);
    const TreeId wide{question.root, TreeKind::kBandwidth};
    const bool is_wide = id.kind == TreeKind::kLatency && trees.is_for_bandwidth(question.size);
    const TreeView* wider = is_wide ? trees.view(wide) : nullptr;
    // Whether it is taken already is known at the root only; others tell of their place in it.
    const bool is_root = wider != nullptr && wider->distance_to_root == Duration{};
    if (wider != nullptr) id = is_root ? trees.widest(question.root, question.size) : wide;
    if (!asked.insert(id).second) return known;
    const TreeView* view = trees.view(id);
    if (view == nullptr) continue;
    TreeStatus& one = known.emplace_back();
    one.tree = id;
    one.parent = view->parent.value_or(kNobody);
    one.distance_to_root = view->distance_to_root;
    for (const TreeChild& child : view->children) one.children.push_back(child.id);
  }
}

}  // namespace phx::runtime
