#include "overlay/planners/learned_trees.h"

namespace phx::planners {

void LearnedTrees::on_network(const overlay::KnownNetwork& network) {
  network_ = network;
  plans_.reset();
}

void LearnedTrees::on_members(const ProcessorSet& live) {
  live_ = live;
  plans_.reset();
}

std::optional<TreeView> LearnedTrees::view(TreeId id) {
  if (id.kind != TreeKind::kLearned || id.number >= kLearnedTrees) return std::nullopt;
  if (!live_.contains(id.root) || !live_.contains(self_)) return std::nullopt;
  if (plans_ == nullptr) plans_ = store_->of(network_, live_);
  return plans_->view(id, self_);
}

}  // namespace phx::planners
