#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/experiments/agm_trial.h"
#include "apps/experiments/experiments.h"
#include "apps/experiments/plot.h"
#include "apps/experiments/results.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/pair_plans.h"
#include "overlay/planners/pairs/collective_times.h"
#include "overlay/planners/pairs/pair_planners.h"
#include "overlay/planners/pairs/random_clusters.h"
#include "overlay/planners/planners.h"
#include "overlay/planners/tree_styles.h"
#include "runtime/sim/trial.h"

namespace phx::app {
namespace {

constexpr const char* kOurs = "learned";
constexpr const char* kOursAsPlan = "greedy (ours)";
constexpr const char* kOursInMesh = "greedy, told what a mesh measures";

/// A network on which somebody published figures, in small.
struct Ground {
  std::string name;
  overlay::Topology topology;
  std::size_t root_site = 0;
  std::vector<std::size_t> bytes;
  Duration learn = 10s;  ///< Until all is measured, and connections are made.
};

std::vector<Ground> grounds() {
  const auto sites = [](const std::string& text) { return overlay::Topology::parse(text).value(); };
  // Of [Saito08]: MagPIe and MPICH for short messages, List for long ones; a third of the size.
  const auto three = sites(
      "site A 16 150\nsite B 16 150\nsite C 16 150\nlatency A B 2000\nlatency A C 3000\n"
      "latency B C 4000\nlink * * 1000\nnic 1000\noverhead 5\n");
  const auto four = sites(
      "site A 8 100\nsite B 8 100\nsite C 8 100\nsite D 8 100\nlatency * * 5000\n"
      "link * * 200\nnic 1000\noverhead 5\n");
  return {{"three sites", three, 0, {64, std::size_t{1} << 20U}},
          {"AGM's six sites", agm_topology(), 3, {64}, 60s},
          {"four sites, narrow ways", four, 0, {std::size_t{1} << 20U}}};
}

/// Phoenix's own trees and those of all others: one after the other on the same network, by real
/// daemons that have to measure it; and where these cannot be (overheads of half a second), as
/// plans that are told the same.
class Summary {
 public:
  Summary(const ExperimentOptions& options, Progress& progress)
      : options_(options), progress_(progress) {}
  int run();

 private:
  [[nodiscard]] Status measure(const Ground& ground, std::size_t bytes);
  /// A broadcast, and a reduction to the same root.
  using Times = std::pair<Duration, Duration>;
  [[nodiscard]] std::optional<Times> times_of(const Ground& ground, std::size_t bytes,
                                              const std::string& style) const;
  void compare_plans();
  void add(const std::string& ground, std::size_t bytes, const std::string& trees, double cast_ms,
           double ours_ms, std::optional<double> sum_ms);
  [[nodiscard]] Plot plot() const;

  const ExperimentOptions& options_;
  Progress& progress_;
  Table table_{{"network", "bytes", "trees", "broadcast ms", "/ ours", "reduction ms"}};
  Csv csv_{{"network", "bytes", "trees", "broadcast-ms", "reduction-ms"}};
  std::vector<std::string> columns_;                             ///< Networks, with the size.
  std::map<std::string, std::map<std::size_t, double>> ratios_;  ///< To ours; by trees, column.
};

void Summary::add(const std::string& ground, std::size_t bytes, const std::string& trees,
                  double cast_ms, double ours_ms, std::optional<double> sum_ms) {
  const std::string sum = sum_ms ? spell_fixed(*sum_ms, 2) : "";
  const std::string column = ground + ", " + spell_bytes(bytes);
  if (columns_.empty() || columns_.back() != column) columns_.push_back(column);
  ratios_[trees == kOursAsPlan ? kOurs : trees][columns_.size() - 1] = cast_ms / ours_ms;
  table_.add({ground, std::to_string(bytes), trees, spell_fixed(cast_ms, 2),
              spell_fixed(cast_ms / ours_ms, 2), sum});
  csv_.add({ground, std::to_string(bytes), trees, spell_fixed(cast_ms, 4), sum});
}

/// Of those in the table: ours by another name, and those that are told latencies only.
bool is_drawn(const std::string& trees) {
  return trees != "greedy" && trees != "two-tree" && trees != kOursInMesh &&
         !trees.ends_with("-latency");
}

/// One point for each kind of trees in each network; more than ten times ours is at the top.
Plot Summary::plot() const {
  constexpr double kMostRatio = 10;
  Plot plot;
  plot.title = "Broadcasts along each kind of trees, in the networks that others were made for";
  plot.up = "times the time of ours (10: or more)";
  plot.names = columns_;
  plot.is_dotted = true;
  plot.most = kMostRatio;
  for (const auto& [trees, ratios] : ratios_) {
    if (!is_drawn(trees)) continue;
    Plot::Line line{trees, std::vector<double>(columns_.size())};
    for (const auto& [column, ratio] : ratios) line.values[column] = ratio;
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

/// The fourth ones: connections along the tree are made, and were not idle for so long that they
/// are closed; ways are warm.
std::optional<Summary::Times> Summary::times_of(const Ground& ground, std::size_t bytes,
                                                const std::string& style) const {
  sim::TrialOptions wanted{.topology = ground.topology,
                           .seed = options_.seed,
                           .bytes = bytes,
                           .piece_bytes = std::size_t{16} << 10U,
                           .unasked_bytes = std::max<std::uint64_t>(bytes, 65536)};
  if (style == "adaptive") {
    wanted.trees = runtime::TreeSource::kAdaptive;
  } else {
    wanted.tree_style = style;
  }
  sim::Trial trial(wanted);
  if (!trial.start()) return std::nullopt;
  const overlay::Placing placing = trial.placing();
  std::size_t root = 0;
  while (placing[root] != ground.root_site) ++root;
  const ProcessorId id{static_cast<std::uint32_t>(root + 1)};
  const sim::Trial::Shape shape{.elements = std::max<std::size_t>(bytes / 8, 1)};
  constexpr Duration kPause = 2s;
  for (const Duration pause : {ground.learn, ground.learn, kPause}) {
    if (!trial.broadcast(id) || !trial.reduce(id, shape)) return std::nullopt;
    trial.cluster().run_for(pause);
  }
  const auto cast = trial.broadcast(id);
  const auto sum = trial.reduce(id, shape);
  if (!cast || !sum || !trial.cluster().violations().all().empty()) return std::nullopt;
  return Times(cast->time, sum->time);
}

Status Summary::measure(const Ground& ground, std::size_t bytes) {
  std::vector<std::string> styles = {kOurs, "adaptive"};
  for (const std::string_view style : planners::tree_styles()) {
    if (style != kOurs) styles.emplace_back(style);
  }
  double ours = 0;
  for (const std::string& style : styles) {
    progress_.begin(ground.name + ", " + counted(bytes, "byte") + ", " + style);
    const auto times = times_of(ground, bytes, style);
    if (!times) return Error{ErrorCode::kAborted, style + ": it does not end, or is wrong"};
    const double cast_ms = to_ms(times->first);
    if (style == kOurs) ours = cast_ms;
    add(ground.name, bytes, style, cast_ms, ours, to_ms(times->second));
  }
  return success();
}

/// Our plan, as other planners have theirs.
planners::PairTree own_tree(const overlay::KnownNetwork& known, std::size_t root,
                            std::uint64_t bytes) {
  const planners::Costs costs(known);
  const planners::Plan plan = planners::plan_greedy({costs, root, bytes});
  planners::PairTree tree{root, {}};
  for (const planners::Edge& edge : plan.trees.at(0)) {
    tree.hops.emplace_back(*costs.position(edge.from), *costs.position(edge.to));
  }
  return tree;
}

/// What a mesh learns of it for short messages: latencies, and one overhead for all.
overlay::KnownNetwork as_measured(overlay::KnownNetwork known) {
  Duration sum{};
  for (const auto& [id, ability] : known.odd) sum += ability.overhead.value_or(Duration{});
  known.usual.overhead = sum / static_cast<Duration::rep>(known.odd.size());
  known.odd.clear();
  for (auto& [ends, way] : known.pairs) way.bytes_per_second = overlay::kUnlimited;
  return known;
}

/// MGO's own networks: overheads of 50 to 500 ms, ways of some hundred bytes per second.
void Summary::compare_plans() {
  constexpr std::size_t kProcessors = 64;
  constexpr std::uint64_t kNetworks = 10;
  constexpr std::uint64_t kBytes = 1000;
  std::map<std::string, double> sums;
  double ours = 0;
  for (std::uint64_t i = 0; i < kNetworks; ++i) {
    const auto drawn = planners::random_clusters(kProcessors, options_.seed + i);
    const planners::Charge charge{drawn.network, planners::CostModel::kOverlapped, kBytes};
    const auto time_of = [&](const planners::PairTree& tree) {
      return to_ms(
          planners::last_of(planners::times_of(planners::Collective::kBroadcast, tree, charge)));
    };
    const overlay::KnownNetwork known = planners::known_network(drawn.network);
    ours += time_of(own_tree(known, drawn.root, kBytes));
    sums[kOursInMesh] += time_of(own_tree(as_measured(known), drawn.root, kBytes));
    for (const planners::PairPlanner& planner : planners::all_pair_planners()) {
      for (const bool all : {true, false}) {
        const auto knows =
            all ? planners::CostModel::kOverlapped : planners::CostModel::kLatencyOnly;
        const auto tree =
            planners::one_to_many(planner, drawn.network, {knows, kBytes, drawn.root});
        sums[std::string(planner.name) + (all ? "" : "-latency")] += time_of(tree);
      }
    }
  }
  const std::string name = "MGO's clusters (plans)";
  add(name, kBytes, kOursAsPlan, ours / kNetworks, ours / kNetworks, std::nullopt);
  for (const auto& [planner, sum] : sums) {
    add(name, kBytes, planner, sum / kNetworks, ours / kNetworks, std::nullopt);
  }
}

int Summary::run() {
  for (const Ground& ground : grounds()) {
    for (const std::size_t bytes : ground.bytes) {
      if (const Status status = measure(ground, bytes); !status.ok()) {
        return fail(status.error().what);
      }
    }
  }
  progress_.begin("plans for MGO's clusters");
  compare_plans();
  const std::string name = name_of_results("summary", options_);
  return show(options_, {name, table_.text(), csv_.text(), {{name, plot()}}});
}

}  // namespace

int experiment_summary(const ExperimentOptions& options, Progress& progress) {
  return Summary(options, progress).run();
}

}  // namespace phx::app
