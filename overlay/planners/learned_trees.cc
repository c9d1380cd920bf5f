#include "overlay/planners/learned_trees.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "overlay/planners/planners.h"

namespace phx::planners {

using overlay::KnownNetwork;

void LearnedTrees::on_network(const KnownNetwork& network) {
  network_ = network;
  costs_.reset();
  plans_.clear();
}

void LearnedTrees::on_members(const ProcessorSet& live) {
  live_ = live;
  costs_.reset();
  plans_.clear();
}

KnownNetwork LearnedTrees::living() const {
  KnownNetwork result = network_.restricted_to(live_);
  // As long as nothing is known all are alike.
  if (result.sites.empty()) result.sites.push_back({"", live_, std::nullopt});
  return result;
}

namespace {

// What is not known yet is like a usual network.
constexpr std::uint64_t kGigabit = 125'000'000;

void assume_rates(KnownNetwork& network) {
  KnownNetwork::Ability& usual = network.usual;
  usual.out_bytes_per_second = usual.out_bytes_per_second.value_or(kGigabit);
  usual.in_bytes_per_second = usual.in_bytes_per_second.value_or(kGigabit);
  for (auto& [ends, way] : network.between) {
    way.bytes_per_second = way.bytes_per_second.value_or(kGigabit);
  }
}

/// Short messages do not feel bandwidth, so their trees stay as they are when it changes.
KnownNetwork without_rates(KnownNetwork network) {
  network.odd.clear();
  network.usual.out_bytes_per_second = network.usual.in_bytes_per_second = kGigabit;
  for (auto& [ends, way] : network.between) way.bytes_per_second = kGigabit;
  return network;
}

}  // namespace

void LearnedTrees::prepare() {
  if (costs_) return;
  KnownNetwork network = living();
  ProcessorSet placed;
  for (const KnownNetwork::Site& site : network.sites) placed = placed.united(site.processors);
  unplaced_ = live_.minus(placed).ids();
  costs_.emplace(without_rates(network));
  assume_rates(network);
  long_costs_.emplace(network);
}

const PlannedTree& LearnedTrees::plan_of(std::size_t root, std::uint32_t number) {
  const SizeClass size = size_of_learned(number);
  const Costs& costs = size == 0 ? *costs_ : *long_costs_;
  const auto [at, is_new] = plans_.try_emplace({size, costs.class_of(root)});
  if (is_new) {
    // Everybody must take the same one of the class.
    std::size_t first = 0;
    while (costs.class_of(first) != costs.class_of(root)) ++first;
    const Task task{costs, first, usual_bytes(size)};
    at->second = (size == 0 ? plan_greedy(task) : plan_two_tree(task)).trees;
  }
  return at->second[number % at->second.size()];
}

/// Parents come before their children.
PlannedTree LearnedTrees::tree_of(TreeId id) {
  const ProcessorId root = id.root;
  PlannedTree tree;
  const auto position = costs_->position(root);
  const std::size_t first = position.value_or(0);
  const ProcessorId placed = costs_->id(first);
  if (!position) tree.push_back({root, placed});  // which passes it on
  const PlannedTree& plan = plan_of(first, id.number);
  // Its root and this one have the same costs.
  const ProcessorId planned = plan.empty() ? placed : plan.front().from;
  const auto actual = [&](ProcessorId in_plan) {
    if (in_plan == planned) return placed;
    return in_plan == placed ? planned : in_plan;
  };
  std::vector<ProcessorId> reached{placed};
  for (const Edge& edge : plan) {
    tree.push_back({actual(edge.from), actual(edge.to)});
    reached.push_back(actual(edge.to));
  }
  std::size_t turn = 0;
  for (const ProcessorId leaf : unplaced_) {
    if (leaf != root) tree.push_back({reached[turn++ % reached.size()], leaf});
  }
  return tree;
}

std::optional<TreeView> LearnedTrees::view(TreeId id) {
  if (id.kind != TreeKind::kLearned || id.number >= kLearnedTrees) return std::nullopt;
  if (!live_.contains(id.root) || !live_.contains(self_)) return std::nullopt;
  prepare();
  TreeView view;
  view.id = id;
  view.version = 1;
  std::map<ProcessorId, Duration> distance;   // of those that have children, and this one
  std::map<ProcessorId, std::size_t> branch;  // below which child of this one
  std::vector<std::vector<ProcessorId>> below;
  for (const Edge& edge : tree_of(id)) {
    const Duration far = distance[edge.from] + round_trip(edge);
    distance[edge.to] = far;
    if (edge.to == self_) {
      view.parent = edge.from;
      view.distance_to_root = far;
    }
    if (edge.from == self_) {
      branch[edge.to] = below.size();
      view.children.push_back({edge.to, {}});
      below.push_back({edge.to});
    } else if (const auto above = branch.find(edge.from); above != branch.end()) {
      const std::size_t which = above->second;
      branch[edge.to] = which;
      below[which].push_back(edge.to);
    }
  }
  for (std::size_t i = 0; i < below.size(); ++i) {
    std::sort(below[i].begin(), below[i].end());
    for (const ProcessorId processor : below[i]) view.children[i].below.insert(processor);
  }
  return view;
}

/// Of who is not placed nothing is known: as far as the farthest of the others.
Duration LearnedTrees::round_trip(const Edge& edge) const {
  const auto from = costs_->position(edge.from);
  const auto to = costs_->position(edge.to);
  if (!from || !to) return costs_->longest();
  return costs_->latency(*from, *to) + costs_->latency(*to, *from);
}

}  // namespace phx::planners
