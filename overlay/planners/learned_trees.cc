#include "overlay/planners/learned_trees.h"

#include "overlay/planners/tree_styles.h"

namespace phx::planners {

void LearnedTrees::on_network(const overlay::KnownNetwork& network) {
  network_ = network;
  plans_.reset();
}

void LearnedTrees::on_members(const ProcessorSet& live, const ProcessorSet& leaving) {
  live_ = live;
  leaving_ = leaving;
  plans_.reset();
}

NetworkPlans& LearnedTrees::plans() {
  if (plans_ == nullptr) plans_ = store_->of(network_, live_, leaving_);
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
  const auto is_member = [this](ProcessorId processor) {
    return live_.contains(processor) || leaving_.contains(processor);
  };
  if (live_.empty() || !is_member(id.root) || !is_member(self_)) return std::nullopt;
  return plans().view(id, self_);
}

}  // namespace phx::planners
