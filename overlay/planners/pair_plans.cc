#include "overlay/planners/pair_plans.h"

#include <algorithm>
#include <numeric>

#include "overlay/planners/shapes.h"

namespace phx::planners {

PairNetwork pair_network(const Costs& costs) {
  PairNetwork network(costs.size());
  for (std::size_t from = 0; from < costs.size(); ++from) {
    network.set_overhead(from, costs.overhead(from));
    for (std::size_t to = 0; to < costs.size(); ++to) {
      const std::uint64_t rate = std::min({costs.out(from), costs.rate(from, to), costs.in(to)});
      constexpr double kNanoseconds = 1e9;
      network.set_latency(from, to, costs.latency(from, to));
      if (rate == overlay::kUnlimited) continue;
      network.set_byte_time(from, to, kNanoseconds / static_cast<double>(rate));
    }
  }
  Cluster all{0, Positions(costs.size())};
  std::iota(all.members.begin(), all.members.end(), std::size_t{0});
  network.add_cluster(std::move(all));
  for (const Positions& site : costs.sites()) {
    if (!site.empty()) network.add_cluster({1, site});
  }
  return network;
}

overlay::KnownNetwork known_network(const PairNetwork& network) {
  constexpr double kNanoseconds = 1e9;
  const auto id = [](std::size_t i) { return ProcessorId{static_cast<std::uint32_t>(i + 1)}; };
  overlay::KnownNetwork known;
  known.sites.push_back({"", ProcessorSet::range(id(0), id(network.size() - 1)), Duration{}});
  known.usual = {Duration{}, overlay::kUnlimited, overlay::kUnlimited};
  for (std::size_t from = 0; from < network.size(); ++from) {
    known.odd[id(from)] = {network.overhead(from), overlay::kUnlimited, overlay::kUnlimited};
    for (std::size_t to = 0; to < network.size(); ++to) {
      if (from == to) continue;
      const double rate = kNanoseconds / network.byte_time(from, to);
      known.pairs[{id(from), id(to)}] = {network.latency(from, to),
                                         static_cast<std::uint64_t>(std::max(rate, 1.0))};
    }
  }
  return known;
}

Plan plan_from_pairs(const Planner& planner, const Task& task) {
  const PairNetwork network = pair_network(task.costs);
  const PairCosts costs(network, planner.knows, task.bytes);
  const PairTree tree = planner.from_pairs({costs, network, task.root});
  return tree_plan(task, planner.name, {tree.hops}, /*cut=*/false);
}

}  // namespace phx::planners
