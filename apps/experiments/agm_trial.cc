#include "apps/experiments/agm_trial.h"

#include <array>
#include <optional>

#include "overlay/mst/agm_network.h"
#include "runtime/sim/trial.h"

namespace phx::app {

overlay::Topology agm_topology() {
  overlay::Topology result = overlay::Topology::uniform(
      std::vector<std::uint32_t>(mst::kAgmSites, mst::kAgmPerSite), overlay::Topology::Link{});
  const auto one_of = [](std::size_t site) {
    return ProcessorId{static_cast<std::uint32_t>(site) * mst::kAgmPerSite + 1};
  };
  for (std::size_t a = 0; a < mst::kAgmSites; ++a) {
    result.sites[a].latency = mst::agm_latency(one_of(a), one_of(a));
    for (std::size_t b = 0; b < mst::kAgmSites; ++b) {
      if (a == b) continue;
      result.links[a * mst::kAgmSites + b].latency = mst::agm_latency(one_of(a), one_of(b));
    }
  }
  return result;
}

namespace {

/// The mesh numbers processors as they come: for each process of the paper one of the same site.
std::vector<ProcessorId> cast_of(const overlay::Placing& placing) {
  std::array<std::size_t, mst::kAgmSites> seen{};
  std::vector<ProcessorId> result(mst::kAgmProcessors);
  for (std::size_t i = 0; i < placing.size(); ++i) {
    const std::size_t process = placing[i] * mst::kAgmPerSite + seen[placing[i]]++;
    result[process] = ProcessorId{static_cast<std::uint32_t>(i + 1)};
  }
  return result;
}

/// The third one: connections along the tree are made by those before, and take some round trips.
std::optional<Duration> time_of(sim::Trial& trial, ProcessorId root) {
  constexpr Duration kConnect = 20s;
  for (int before = 0; before < 2; ++before) {
    if (!trial.broadcast(root)) return std::nullopt;
    trial.cluster().run_for(kConnect);
  }
  const auto round = trial.broadcast(root);
  if (!round) return std::nullopt;
  return round->time;
}

}  // namespace

Result<std::vector<NamedTime>> agm_trial(const std::vector<NamedTree>& trees, std::uint64_t seed) {
  constexpr Duration kSettle = 60s;
  const auto broken = [](const std::string& what) { return Error{ErrorCode::kAborted, what}; };
  sim::Trial trial({.topology = agm_topology(), .seed = seed, .pause = 5ms});
  if (!trial.start()) return broken("the simulated mesh does not form");
  const std::vector<ProcessorId> processors = cast_of(trial.placing());
  const ProcessorId root = processors[mst::kAgmRoot.value - 1];
  if (!trial.broadcast(root)) return broken("a broadcast does not end");
  trial.cluster().run_for(kSettle);
  std::vector<NamedTime> times;
  const auto measure = [&](const std::string& name) {
    const auto time = time_of(trial, root);
    if (time) times.emplace_back(name, *time);
    return time.has_value();
  };
  if (!measure("learned")) return broken("a broadcast does not end");
  for (const auto& [name, tree] : trees) {
    planners::PlanTrees planned{{{}}, 0};
    for (const auto& [from, to] : tree.hops) {
      planned.trees[0].push_back({processors[from], processors[to]});
    }
    trial.plant(planned, root);
    if (!measure(name)) return broken("a broadcast along " + name + " does not end");
  }
  const auto violations = trial.cluster().violations().all();
  if (!violations.empty()) return broken(*violations.begin());
  return times;
}

}  // namespace phx::app
