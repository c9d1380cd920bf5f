#include "runtime/warm_roots.h"

#include <algorithm>
#include <utility>

#include "overlay/planners/tree_styles.h"

namespace phx::runtime {
namespace {

/// Calls `take` with this processor's place in each tree that takes turns with messages of `size`.
template <class Take>
void for_each_place(const overlay::TreeStore& trees, ProcessorId root, SizeClass size, Take take) {
  for (std::uint64_t piece = 0; piece < long_trees(size); ++piece) {
    const TreeView* view = trees.view(trees.in_use(root, planners::kLearnedStyle, piece, size));
    if (view != nullptr) take(*view);
  }
}

}  // namespace

/// Whoever takes part in collectives of a root asks for its tree for short messages first.
void WarmRoots::on_drawn(Instant now, TreeId id) {
  const bool is_short = id.number == learned_number(0, 0);  // and of the usual style
  if (is_short && counts(now, id.root)) drawn_.push_back(id.root);
}

/// The one that was used longest ago makes room, if that is long ago: many in turn are too many.
bool WarmRoots::counts(Instant now, ProcessorId root) {
  if (!used_.contains(root) && used_.size() >= kMost) {
    const auto oldest = std::ranges::min_element(
        used_, [](const auto& a, const auto& b) { return a.second < b.second; });
    if (now - oldest->second < kLong) return false;
    std::erase_if(used_at_, [&](const auto& of) { return of.first.first == oldest->first; });
    used_.erase(oldest);
  }
  used_[root] = now;
  return true;
}

void WarmRoots::on_used(Instant now, TreeId id) {
  if (id.kind != TreeKind::kLearned || planners::style_of(id) != planners::kLearnedStyle) return;
  const SizeClass size = size_of_learned(id.number);
  if (size == 0) return;
  const bool is_new = !used_.contains(id.root);
  if (!counts(now, id.root)) return;
  if (is_new) drawn_.push_back(id.root);  // Its trees were drawn when there was no room for it.
  const auto [last, is_first] = used_at_.try_emplace({id.root, size}, now);
  if (is_first || now - last->second >= kPause) opening_.emplace_back(id.root, size);
  last->second = now;
}

void WarmRoots::on_members(const ProcessorSet& members) {
  std::erase_if(used_, [&](const auto& of) { return !members.contains(of.first); });
  std::erase_if(used_at_, [&](const auto& of) { return !members.contains(of.first.first); });
}

std::set<ProcessorId> WarmRoots::take_children(const overlay::TreeStore& trees) {
  std::set<ProcessorId> children;
  for (const auto& [root, size] : std::exchange(opening_, {})) {
    for_each_place(trees, root, size, [&](const TreeView& view) {
      for (const TreeChild& child : view.children) children.insert(child.id);
    });
  }
  return children;
}

std::map<ProcessorId, std::uint64_t> WarmRoots::take_partners(const overlay::TreeStore& trees) {
  constexpr SizeClass kNear = 1;   // Of these one site sends to all others, ...
  constexpr SizeClass kChain = 4;  // ... and of these each to the next one.
  std::map<ProcessorId, std::uint64_t> partners;
  for (const ProcessorId root : std::exchange(drawn_, {})) {
    for (const SizeClass size : {kNear, kChain}) {
      std::map<ProcessorId, std::uint64_t> along;
      const std::uint64_t part = usual_bytes(kNear) / long_trees(size);
      for_each_place(trees, root, size, [&](const TreeView& view) {
        if (view.parent) along[*view.parent] += part;
        for (const TreeChild& child : view.children) along[child.id] += part;
      });
      for (const auto& [partner, bytes] : along) {
        partners[partner] = std::max(partners[partner], bytes);
      }
    }
  }
  return partners;
}

}  // namespace phx::runtime
