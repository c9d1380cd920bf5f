#include "runtime/agm_trees.h"

#include <algorithm>
#include <utility>

#include "overlay/planners/tree_styles.h"

namespace phx::runtime {
namespace {

/// Kept of those who are in no view yet [limit].
constexpr std::size_t kEarlyMost = 1024;
/// What is farther is no farther, for a tree.
constexpr Duration kFarthest = 59min;

Duration weight_of(planners::LearnedTrees& known, ProcessorId other) {
  if (!known.may_span(other)) return kForever;
  return std::clamp(known.round_trip(other), Duration{}, kFarthest);
}

}  // namespace

void AgmTrees::begin(planners::LearnedTrees& known, const ProcessorSet& live, Outbox& out) {
  if (tree_ || !live.contains(self_)) return;
  tree_.emplace(self_, mst::SpanningTreeOptions{.theta = 0, .makes_views = true});
  on_change(known, live, out);
}

void AgmTrees::on_change(planners::LearnedTrees& known, const ProcessorSet& live, Outbox& out) {
  if (!tree_) return;
  gone_ = gone_.united(live_).minus(live);
  live_ = live;
  if (!live.contains(self_)) {  // It leaves: the others do without it.
    early_.clear();
    return tree_.reset();
  }
  for (const ProcessorId other : live.ids()) {
    if (other == self_) continue;
    tree_->on_weight(other, weight_of(known, other));
  }
  tree_->on_members(live, out);  // a round that runs begins anew
  if (!tree_->is_conducting()) tree_->adapt(out);
  // Who is older than the youngest member, and none itself, came and went between two views.
  const ProcessorId youngest{live_.ranges().back().last};
  std::erase_if(early_,
                [&](const auto& one) { return one.from < youngest && !live_.contains(one.from); });
  for (auto& [from, message] : std::exchange(early_, {})) on_message(from, message, out);
}

void AgmTrees::on_message(ProcessorId from, const mst::Message& message, Outbox& out) {
  if (!tree_ || gone_.contains(from)) return;
  if (live_.contains(from)) return tree_->on_message(from, message, out);
  if (early_.size() < kEarlyMost) early_.push_back({from, message});
}

std::optional<TreeView> AgmTrees::view(TreeId id) const {
  const bool is_ours =
      id.kind == TreeKind::kLearned && planners::style_of(id) == planners::agm_style();
  if (!is_ours || !tree_) return std::nullopt;
  std::optional<TreeView> view = tree_->view(id.root);
  if (!view) return std::nullopt;
  view->id = id;
  // Who has left since the last round would be sent what is for those behind it.
  std::erase_if(view->children, [&](const TreeChild& child) { return !live_.contains(child.id); });
  if (view->parent && !live_.contains(*view->parent)) view->parent.reset();
  return view;
}

}  // namespace phx::runtime
