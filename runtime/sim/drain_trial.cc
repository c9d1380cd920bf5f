#include "runtime/sim/drain_trial.h"

#include <utility>
#include <vector>

#include "collectives/redistribution/ways.h"
#include "runtime/sim/exchange_run.h"

namespace phx::sim {
namespace {

using redistribution::MessageGraph;

class DrainTrial {
 public:
  explicit DrainTrial(const DrainTrialOptions& options)
      : options_(options), cluster_(cluster_options(options)) {}

  std::optional<DrainTrialResult> run() {
    if (!start()) return std::nullopt;
    const std::vector<MachineId> before = holders();
    const Instant begin = cluster_.now();
    for (const MachineId leaver : options_.leavers) cluster_.drain(leaver);
    const auto is_over = [this] {
      for (std::uint64_t v = 0; v < options_.vnodes; ++v) {
        const auto holder = job_->ledger().holder(VnodeId{v});
        if (!holder || options_.leavers.contains(*holder)) return false;
      }
      return true;
    };
    if (!cluster_.run_until(is_over, 3600s)) return std::nullopt;
    DrainTrialResult result;
    result.time = cluster_.now() - begin;
    const MessageGraph moved = graph(before, holders());
    result.bytes = redistribution::bounds_of(moved).total;
    result.bound = redistribution::least_time(moved, ways());
    job_->hold_open(false);
    const auto& end = cluster_.result(*job_);
    if (!cluster_.run_until([&] { return end.has_value(); }, 60s)) return std::nullopt;
    if (end->code != 0 || !cluster_.violations().all().empty()) return std::nullopt;
    return result;
  }

 private:
  static ClusterOptions cluster_options(const DrainTrialOptions& options) {
    ClusterOptions cluster;
    cluster.topology = options.topology;
    cluster.seed = options.seed;
    cluster.daemon.state_receivers = options.receivers;
    cluster.daemon.share_rule = options.rule;
    return cluster;
  }

  bool start() {
    constexpr Duration kLearn = 20s;
    cluster_.add_all();
    for (const auto& [machine, rate] : options_.interfaces) {
      cluster_.model().set_interface(machine, rate);
    }
    if (!cluster_.stabilize(60s)) return false;
    WorkloadOptions work;
    work.vnodes = options_.vnodes;
    work.state_of = options_.state_of;
    work.pause_min = work.pause_max = 2ms;
    work.safe_point_chance = 1.0;
    work.balance = false;  // What moves afterwards, so that all have as much, is not timed.
    job_ = &cluster_.run_job(work);
    job_->hold_open(true);
    const auto is_held = [this] {
      for (std::uint64_t v = 0; v < options_.vnodes; ++v) {
        if (!job_->ledger().holder(VnodeId{v})) return false;
      }
      return true;
    };
    if (!cluster_.run_until(is_held, 60s)) return false;
    cluster_.run_for(kLearn);
    return true;
  }

  [[nodiscard]] std::vector<MachineId> holders() {
    std::vector<MachineId> all;
    for (std::uint64_t v = 0; v < options_.vnodes; ++v) {
      all.push_back(*job_->ledger().holder(VnodeId{v}));
    }
    return all;
  }

  [[nodiscard]] MessageGraph graph(const std::vector<MachineId>& before,
                                   const std::vector<MachineId>& after) const {
    MessageGraph graph{options_.topology.processors(), {}};
    std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> sums;
    for (std::uint64_t v = 0; v < options_.vnodes; ++v) {
      if (before[v] == after[v]) continue;
      sums[{before[v].value, after[v].value}] += options_.state_of(VnodeId{v});
    }
    for (const auto& [ends, bytes] : sums) {
      if (bytes > 0) graph.messages.push_back({ends.first, ends.second, bytes});
    }
    return graph;
  }

  [[nodiscard]] redistribution::Ways ways() {
    overlay::Placing placing;
    for (std::uint32_t i = 0; i < options_.topology.processors(); ++i) {
      placing.push_back(cluster_.model().site(MachineId{i}));
    }
    redistribution::Ways ways = ways_of(options_.topology, placing);
    for (const auto& [machine, rate] : options_.interfaces) {
      ways.processors[machine.value].out = ways.processors[machine.value].in = rate;
    }
    return ways;
  }

  const DrainTrialOptions& options_;
  Cluster cluster_;
  Workload* job_ = nullptr;
};

}  // namespace

std::optional<DrainTrialResult> run_drain(const DrainTrialOptions& options) {
  return DrainTrial(options).run();
}

}  // namespace phx::sim
