#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/networks.h"
#include "apps/experiments/plot.h"
#include "apps/experiments/results.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/planners.h"
#include "runtime/sim/trial.h"

namespace phx::app {
namespace {

/// How one kind of tree did.
struct Way {
  std::string name;
  sim::Trial::Round round;
};

std::string in_ms(Duration time) {
  return spell_fixed(to_ms(time), 2);
}

Duration mean_of(const sim::Trial::Round& round) {
  Duration sum{};
  for (const auto& [id, arrival] : round.arrivals) sum += arrival;
  const auto count = static_cast<Duration::rep>(std::max<std::size_t>(round.arrivals.size(), 1));
  return sum / count;
}

sim::TrialOptions trial_options(std::uint64_t seed) {
  return {.topology = overlay::Topology::parse(kThreeSites).value(), .seed = seed, .pause = 5ms};
}

/// Figure 6 of the paper of adaptive trees: a short broadcast to 201 processors in 3 sites, by real
/// daemons in the simulator, along each kind of tree; when each processor has it.
class Fig6 {
 public:
  Fig6(const ExperimentOptions& options, Progress& progress)
      : options_(options), progress_(progress), trial_(trial_options(options.seed)) {}

  int run();

 private:
  static constexpr ProcessorId kRoot{1};

  /// False: it does not end.
  bool measure_own();
  bool measure_adaptive();
  bool measure_plan(std::string_view algorithm);
  bool keep(std::string name, std::optional<sim::Trial::Round> round);
  [[nodiscard]] Plot plot() const;
  [[nodiscard]] std::string csv();
  [[nodiscard]] std::string table();

  const ExperimentOptions& options_;
  Progress& progress_;
  sim::Trial trial_;
  Duration bound_{};
  std::vector<Way> ways_;
};

bool Fig6::keep(std::string name, std::optional<sim::Trial::Round> round) {
  if (!round) return false;
  std::fprintf(stderr, "phoenix: %s: %s ms\n", name.c_str(), in_ms(round->time).c_str());
  ways_.push_back({std::move(name), std::move(*round)});
  return true;
}

bool Fig6::measure_own() {
  constexpr Duration kSettle = 2s;
  progress_.begin("broadcasts along learned trees");
  if (!keep("nothing known yet", trial_.broadcast(kRoot))) return false;
  trial_.cluster().run_for(kSettle);
  if (!trial_.broadcast(kRoot)) return false;  // Connections along the tree are made.
  return keep("learned", trial_.broadcast(kRoot));
}

bool Fig6::measure_adaptive() {
  constexpr Duration kSettle = 20s;
  progress_.begin("a broadcast along a latency tree");
  sim::TrialOptions options = trial_options(options_.seed);
  options.trees = runtime::TreeSource::kAdaptive;
  sim::Trial trial(options);
  if (!trial.start() || !trial.broadcast(kRoot)) return false;
  trial.cluster().run_for(kSettle);
  if (!trial.broadcast(kRoot)) return false;
  return keep("latency tree", trial.broadcast(kRoot));
}

bool Fig6::measure_plan(std::string_view algorithm) {
  constexpr std::uint64_t kShort = 1;
  progress_.begin("a broadcast along the plan " + std::string(algorithm));
  const auto network =
      overlay::known_network(trial_.cluster().model().topology(), trial_.placing());
  const auto plan = planners::plan(algorithm, network, kRoot, kShort);
  if (!plan.ok()) return false;
  trial_.plant(planners::trees_of(plan.value()), kRoot);
  if (!trial_.broadcast(kRoot)) return false;
  return keep(std::string(algorithm), trial_.broadcast(kRoot));
}

std::string Fig6::csv() {
  std::vector<std::string> fields{"processor", "site"};
  for (const Way& way : ways_) fields.push_back(way.name);
  Csv csv(fields);
  const overlay::Placing placing = trial_.placing();
  for (std::size_t i = 0; i < placing.size(); ++i) {
    const ProcessorId id{static_cast<std::uint32_t>(i + 1)};
    fields = {to_string(id), trial_.cluster().model().topology().sites[placing[i]].name};
    for (const Way& way : ways_) {
      const auto arrival = way.round.arrivals.find(id);
      const Duration at = arrival == way.round.arrivals.end() ? Duration{} : arrival->second;
      fields.push_back(std::to_string(to_ms(at)));
    }
    csv.add(fields);
  }
  return csv.text();
}

std::string Fig6::table() {
  Table table({"tree", "last ms", "/ bound", "mean ms", "copies", "outside the tree"});
  table.add({"lower bound", in_ms(bound_), "1.00", "-", "-", "-"});
  for (const Way& way : ways_) {
    const std::uint64_t outside = way.round.cost.of("FallbackCopy").messages;
    constexpr double kHundred = 100;
    const double ratio = to_ms(way.round.time) / to_ms(bound_);
    const auto rounded = static_cast<std::int64_t>(ratio * kHundred + 0.5);
    std::string cents = std::to_string(rounded % 100);
    if (cents.size() < 2) cents.insert(0, "0");
    table.add({way.name, in_ms(way.round.time), std::to_string(rounded / 100) + "." + cents,
               in_ms(mean_of(way.round)),
               std::to_string(way.round.cost.of("TreeCopy").messages + outside),
               std::to_string(outside)});
  }
  return table.text();
}

Plot Fig6::plot() const {
  Plot plot;
  plot.title = "A short broadcast to 201 processors in 3 sites";
  plot.across = "processors, the earliest first";
  plot.up = "ms until it has arrived (12: or more)";
  constexpr double kMostMs = 12;
  plot.most = kMostMs;
  for (const Way& way : ways_) {
    Plot::Line line{way.name, {}};
    for (const auto& [id, arrival] : way.round.arrivals) line.values.push_back(to_ms(arrival));
    std::sort(line.values.begin(), line.values.end());
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

int Fig6::run() {
  progress_.begin("a mesh of 201 processors to form");
  if (!trial_.start()) return fail("the simulated mesh does not form");
  const auto network =
      overlay::known_network(trial_.cluster().model().topology(), trial_.placing());
  const planners::Costs costs(network);
  bound_ = planners::lower_bound({costs, *costs.position(kRoot), 1});
  bool is_good = measure_own() && measure_adaptive();
  for (const std::string_view name : {"flat", "binomial", "magpie", "binary", "list", "greedy"}) {
    is_good = is_good && measure_plan(name);
  }
  for (const std::string& violation : trial_.cluster().violations().all()) {
    std::fprintf(stderr, "violation: %s\n", violation.c_str());
    is_good = false;
  }
  if (!is_good) return fail("a broadcast did not end, or a checker found something");
  const std::string name = name_of_results("fig6", options_);
  return show(options_, {name, table(), csv(), {{name, plot()}}});
}

int experiment_fig6(const ExperimentOptions& options, Progress& progress) {
  return Fig6(options, progress).run();
}

}  // namespace

int experiment(const ExperimentOptions& options) {
  using Run = int (*)(const ExperimentOptions&, Progress&);
  const std::map<std::string, Run> all = {
      {"agm", experiment_agm},         {"drain", experiment_drain},
      {"drop", experiment_drop},       {"exchange", experiment_exchange},
      {"fig6", experiment_fig6},       {"fig7", experiment_fig7},
      {"fig8", experiment_fig8},       {"fig9", experiment_fig9},
      {"mgo", experiment_mgo},         {"redistribution", experiment_redistribution},
      {"round", experiment_round},     {"scale", experiment_scale},
      {"sizes", experiment_sizes},     {"slow", experiment_slow},
      {"summary", experiment_summary},
  };
  const auto chosen = all.find(options.name);
  if (chosen == all.end()) {
    std::string names;
    for (const auto& [name, run] : all) names += (names.empty() ? "" : ", ") + name;
    return fail("no experiment '" + options.name + "': " + names, kUsage);
  }
  if (options.name != "sizes" && (options.reduce || !options.topology.empty())) {
    return fail("--topology and --reduce are for sizes, not for " + options.name, kUsage);
  }
  if (options.name != "fig7" && options.adaptive) {
    return fail("--adaptive is for fig7, not for " + options.name, kUsage);
  }
  if (const Status status = try_folder(options.out); !status.ok()) {
    return fail(status.error().what, kUsage);
  }
  Progress progress;
  progress.begin("experiment " + options.name);
  return chosen->second(options, progress);
}

}  // namespace phx::app
