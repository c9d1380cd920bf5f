#include "overlay/planners/learned_trees.h"

#include "overlay/planners/tree_styles.h"

namespace phx::planners {

void LearnedTrees::on_network(const overlay::KnownNetwork& network) {
  network_ = network;
  plans_.reset();
}

void LearnedTrees::on_members(const ProcessorSet& live) {
  live_ = live;
  plans_.reset();
}

NetworkPlans& LearnedTrees::plans() {
  if (plans_ == nullptr) plans_ = store_->of(network_, live_);
  return *plans_;
}

Duration LearnedTrees::round_trip(ProcessorId other) {
  return plans().round_trip(self_, other);
}

bool LearnedTrees::may_span(ProcessorId other) {
  return plans().may_span(self_, other);
}

std::optional<TreeView> LearnedTrees::view(TreeId id) {
  if (id.kind != TreeKind::kLearned || style_of(id) >= tree_styles().size()) {
    return std::nullopt;
  }
  if (!live_.contains(id.root) || !live_.contains(self_)) return std::nullopt;
  return plans().view(id, self_);
}

}  // namespace phx::planners
