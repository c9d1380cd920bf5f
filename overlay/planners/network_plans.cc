#include "overlay/planners/network_plans.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "overlay/planners/pair_plans.h"
#include "overlay/planners/planners.h"

namespace phx::planners {

using overlay::coarse_rate;
using overlay::kGigabit;
using overlay::KnownNetwork;

namespace {

/// Widths of narrow ways are told apart if one is so much of the other.
constexpr double kStep = 0.70710678;
constexpr double kMiddle = 0.84089642;  ///< Between a step and the next, as factors go.

/// What is known of those who live and are in a site.
KnownNetwork placed(const KnownNetwork& network, const ProcessorSet& live) {
  ProcessorSet everybody;
  for (const KnownNetwork::Site& site : network.sites)
    everybody = everybody.united(site.processors);
  KnownNetwork result = network.restricted_to(live.common(everybody));
  // As long as nothing is known all are alike.
  if (result.sites.empty()) result.sites.push_back({"", live, std::nullopt});
  return result;
}

/// From half to twice the usual is usual. A tree that is drawn anew costs those who are using it
/// more than what it gains by less.
std::uint64_t coarse(std::optional<std::uint64_t> rate, std::uint64_t usual) {
  if (!rate || (*rate >= usual / 2 && *rate / 2 < usual)) return usual;
  return coarse_rate(*rate);
}

/// Of a way between sites: below 0.59 of what interfaces have it is narrow, and then a half, 0.35,
/// a quarter ... of that, since what may be spread over several ways goes by that part. Above, it
/// is as wide, or faster as interfaces are.
std::uint64_t coarse_way(std::optional<std::uint64_t> rate, std::uint64_t measured,
                         std::uint64_t usual) {
  if (!rate || measured > overlay::kFastestMeasured) return usual;
  if (*rate / 2 >= usual) return coarse_rate(*rate);
  const double part = static_cast<double>(*rate) / static_cast<double>(measured);
  if (part >= kStep * kMiddle) return usual;
  double step = kStep * kStep;
  while (part < step * kMiddle) step *= kStep;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(step * static_cast<double>(usual)), 1);
}

/// Faster than usual in both directions, as most of its site.
ProcessorSet fast_ones(const KnownNetwork& network, std::uint64_t usual) {
  ProcessorSet all;
  for (const KnownNetwork::Site& site : network.sites) {
    ProcessorSet fast;
    for (const ProcessorId one : site.processors.ids()) {
      const KnownNetwork::Ability ability = network.ability(one);
      const auto out = ability.out_bytes_per_second.value_or(usual);
      const auto in = ability.in_bytes_per_second.value_or(usual);
      if (std::min(out, in) / 2 >= usual) fast.insert(one);
    }
    if (2 * fast.size() > site.processors.size()) all = all.united(fast);
  }
  return all;
}

/// As far as trees go by them. Of one processor that seems faster than its site no tree makes use.
KnownNetwork with_rates(KnownNetwork network) {
  KnownNetwork::Ability& usual = network.usual;
  const std::uint64_t measured_out = usual.out_bytes_per_second.value_or(kGigabit);
  const std::uint64_t measured_in = usual.in_bytes_per_second.value_or(kGigabit);
  const std::uint64_t out = coarse_rate(measured_out);
  const std::uint64_t in = coarse_rate(measured_in);
  const ProcessorSet fast = fast_ones(network, std::max(out, in));
  usual.out_bytes_per_second = out;
  usual.in_bytes_per_second = in;
  for (auto one = network.odd.begin(); one != network.odd.end();) {
    KnownNetwork::Ability& its = one->second;
    its.out_bytes_per_second = coarse(its.out_bytes_per_second, out);
    its.in_bytes_per_second = coarse(its.in_bytes_per_second, in);
    if (!fast.contains(one->first)) {
      its.out_bytes_per_second = std::min(*its.out_bytes_per_second, out);
      its.in_bytes_per_second = std::min(*its.in_bytes_per_second, in);
    }
    const bool is_usual = !its.overhead && !its.wait && its.out_bytes_per_second == out &&
                          its.in_bytes_per_second == in;
    one = is_usual ? network.odd.erase(one) : std::next(one);
  }
  for (auto& [ends, way] : network.between) {
    way.bytes_per_second =
        coarse_way(way.bytes_per_second, std::min(measured_out, measured_in), std::min(out, in));
  }
  return network;
}

/// Short messages do not feel bandwidth, so their trees stay as they are when it changes.
KnownNetwork without_rates(KnownNetwork network) {
  for (auto& [processor, ability] : network.odd) ability = {{}, {}, {}, ability.wait};
  std::erase_if(network.odd, [](const auto& one) { return !one.second.wait; });
  network.usual.out_bytes_per_second = network.usual.in_bytes_per_second = kGigabit;
  for (auto& [ends, way] : network.between) way.bytes_per_second = kGigabit;
  return network;
}

}  // namespace

NetworkPlans::NetworkPlans(KnownNetwork network, ProcessorSet live)
    : NetworkPlans(network, placed(network, live), live) {}

NetworkPlans::NetworkPlans(const KnownNetwork& whole, const KnownNetwork& living, ProcessorSet live)
    : network_(whole),
      live_(std::move(live)),
      costs_(without_rates(living)),
      long_costs_(with_rates(living)),
      longest_(costs_.longest()),
      leaves_(live_.minus(living.processors()).ids()) {}

NetworkPlans::Place NetworkPlans::place_of(ProcessorId id) const {
  if (const auto position = costs_.position(id)) return static_cast<Place>(*position);
  const auto found = std::lower_bound(leaves_.begin(), leaves_.end(), id);
  return static_cast<Place>(costs_.size() + static_cast<std::size_t>(found - leaves_.begin()));
}

ProcessorId NetworkPlans::id_of(Place place) const {
  return place < costs_.size() ? costs_.id(place) : leaves_[place - costs_.size()];
}

NetworkPlans::Steps NetworkPlans::steps_of(const PlannedTree& tree) const {
  Steps steps;
  steps.reserve(tree.size());
  for (const Edge& edge : tree) steps.emplace_back(place_of(edge.from), place_of(edge.to));
  return steps;
}

Plan NetworkPlans::make_plan(const Kind& kind, Place root) const {
  const Planner* planner = planner_of(kind.style);
  const bool is_short = planner == nullptr && kind.size == 0;
  const Task task{is_short ? costs_ : long_costs_, root, usual_bytes(kind.size)};
  if (is_short) return plan_greedy(task);
  if (planner == nullptr) return kind.in_ranges ? plan_two_tree(task) : plan_striped(task);
  return planner->from_pairs == nullptr ? planner->make(task) : plan_from_pairs(*planner, task);
}

const NetworkPlans::Steps& NetworkPlans::plan_of(Place root, std::uint32_t number) {
  const std::uint32_t turn = number % kLearnedTrees;
  Kind kind{number / kLearnedTrees, size_of_learned(turn), has_ranges(turn)};
  if (planner_of(kind.style) == nullptr || costs_.size() > kScheduledMax) {
    kind.style = kLearnedStyle;
    // Everybody must take the same one of the class.
    const Costs& costs = kind.size == 0 ? costs_ : long_costs_;
    Place first = 0;
    while (costs.class_of(first) != costs.class_of(root)) ++first;
    root = first;
  }
  const auto [at, is_new] = plans_.try_emplace({kind, root});
  if (is_new) {
    const Plan plan = make_plan(kind, root);
    for (const PlannedTree& tree : plan.trees) at->second.push_back(steps_of(tree));
  }
  return at->second[turn % at->second.size()];
}

Duration NetworkPlans::round_trip(ProcessorId from, ProcessorId to) const {
  return round_trip(place_of(from), place_of(to));
}

/// Who is not placed is a site of its own.
ProcessorId NetworkPlans::first_of_site(ProcessorId id) const {
  const auto position = costs_.position(id);
  return position ? costs_.id(costs_.sites()[costs_.site(*position)].front()) : id;
}

bool NetworkPlans::may_span(ProcessorId from, ProcessorId to) const {
  const auto key = [this](ProcessorId a, ProcessorId b) {
    return std::tuple(round_trip(a, b), std::min(a, b), std::max(a, b));
  };
  const std::array way = {from, first_of_site(from), first_of_site(to), to};
  for (std::size_t i = 1; i < way.size(); ++i) {
    const bool is_edge = way[i - 1] != way[i];
    if (is_edge && !(key(way[i - 1], way[i]) < key(from, to))) return true;
  }
  return false;
}

/// Of who is not placed nothing is known: as far as the farthest of the others.
Duration NetworkPlans::round_trip(Place from, Place to) const {
  if (std::max(from, to) >= costs_.size()) return longest_;
  return costs_.latency(from, to) + costs_.latency(to, from);
}

/// Follows a tree from its root, and keeps what one processor has to know of it.
class NetworkPlans::Watcher {
 public:
  Watcher(const NetworkPlans& plans, Place self)
      : plans_(plans),
        self_(self),
        distance_(plans.costs_.size() + plans.leaves_.size()),
        branch_(distance_.size(), kNone) {}

  /// Parents come before their children.
  void follow(Place from, Place to) {
    distance_[to] = distance_[from] + plans_.round_trip(from, to);
    if (to == self_) {
      view_.parent = plans_.id_of(from);
      view_.distance_to_root = distance_[to];
    }
    if (from == self_) {
      branch_[to] = static_cast<std::uint32_t>(below_.size());
      view_.children.push_back({plans_.id_of(to), {}});
      below_.push_back({plans_.id_of(to)});
    } else if (branch_[from] != kNone) {
      branch_[to] = branch_[from];
      below_[branch_[from]].push_back(plans_.id_of(to));
    }
  }
  [[nodiscard]] TreeView view(TreeId id) {
    view_.id = id;
    view_.version = 1;
    for (std::size_t i = 0; i < below_.size(); ++i) {
      std::sort(below_[i].begin(), below_[i].end());
      for (const ProcessorId each : below_[i]) view_.children[i].below.insert(each);
    }
    return std::move(view_);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  const NetworkPlans& plans_;
  Place self_;
  std::vector<Duration> distance_;     ///< To the root.
  std::vector<std::uint32_t> branch_;  ///< Below which child of `self_`.
  std::vector<std::vector<ProcessorId>> below_;
  TreeView view_;
};

TreeView NetworkPlans::view(TreeId id, ProcessorId self) {
  Watcher watcher(*this, place_of(self));
  const Place root = place_of(id.root);
  const Place placed = root < costs_.size() ? root : 0;
  if (placed != root) watcher.follow(root, placed);  // which passes it on
  const Steps& plan = plan_of(placed, id.number);
  // Its root and this one have the same costs.
  const Place planned = plan.empty() ? placed : plan.front().first;
  const auto actual = [&](Place in_plan) {
    if (in_plan == planned) return placed;
    return in_plan == placed ? planned : in_plan;
  };
  for (const auto& [from, to] : plan) watcher.follow(actual(from), actual(to));
  if (leaves_.empty()) return watcher.view(id);
  std::vector<Place> order{placed};
  for (const auto& [from, to] : plan) order.push_back(actual(to));
  // The last of a plan have nobody below them, as a rule, so what they have to send is still free;
  // for short messages that is nothing, and the first have them first.
  if (size_of_learned(id.number % kLearnedTrees) != 0) std::reverse(order.begin(), order.end());
  hang_leaves(order, root, watcher);
  return watcher.view(id);
}

/// Dealt out in this order.
void NetworkPlans::hang_leaves(const std::vector<Place>& plan, Place root, Watcher& watcher) const {
  std::size_t turn = 0;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const auto leaf = static_cast<Place>(costs_.size() + i);
    if (leaf != root) watcher.follow(plan[turn++ % plan.size()], leaf);
  }
}

std::shared_ptr<NetworkPlans> PlanStore::of(const KnownNetwork& network, const ProcessorSet& live) {
  for (auto known = known_.begin(); known != known_.end();) {
    const auto plans = known->lock();
    if (plans == nullptr) {
      known = known_.erase(known);
      continue;
    }
    if (plans->live() == live && plans->network() == network) {
      known_.splice(known_.begin(), known_, known);
      return plans;
    }
    ++known;
  }
  auto made = std::make_shared<NetworkPlans>(network, live);
  known_.push_front(made);
  if (known_.size() > kMost) known_.pop_back();
  return made;
}

}  // namespace phx::planners
