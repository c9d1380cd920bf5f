#include "apps/experiments/size_sweep.h"

#include <algorithm>
#include <cstdio>

#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/planners.h"
#include "runtime/sim/trial.h"

namespace phx::app {
namespace {

constexpr ProcessorId kRoot{1};
constexpr const char* kBound = "lower bound";
constexpr const char* kFirst = "learned, first";
constexpr const char* kLater = "learned";
constexpr const char* kAdaptive = "adaptive";

/// "64KiB", as all sizes here are whole.
std::string short_size(std::uint64_t bytes) {
  std::string text = spell_bytes(bytes);
  if (const auto tenth = text.find(".0"); tenth != std::string::npos) text.erase(tenth, 2);
  std::erase(text, ' ');
  return text;
}

}  // namespace

SizeSweep::SizeSweep(SweepGround ground, const ExperimentOptions& options, Progress& progress)
    : ground_(std::move(ground)),
      options_(options),
      progress_(progress),
      placing_(overlay::placed_by_site(ground_.topology)),
      network_(overlay::known_network(ground_.topology, placing_)),
      ways_{kBound, kLater, kFirst} {
  if (options.adaptive) ways_.emplace_back(kAdaptive);
  for (const std::string_view plan : ground_.plans) ways_.emplace_back(plan);
}

void SizeSweep::keep(const std::string& way, std::uint64_t bytes, Duration time) {
  times_[{way, bytes}] = time;
  std::fprintf(stderr, "phoenix: %s, %s of %s: %s ms\n", ground_.name.c_str(), way.c_str(),
               spell_bytes(bytes).c_str(), spell_fixed(to_ms(time), 2).c_str());
}

void SizeSweep::begin(std::string_view way, std::uint64_t bytes) {
  progress_.begin(ground_.name + ", " + std::string(way) + " of " + spell_bytes(bytes));
}

void SizeSweep::measure_plans(std::uint64_t bytes) {
  const planners::Costs costs(network_);
  keep(kBound, bytes, planners::lower_bound({costs, *costs.position(kRoot), bytes}));
  for (const std::string_view name : ground_.plans) {
    begin(name, bytes);
    const auto plan = planners::plan(name, network_, kRoot, bytes);
    if (!plan.ok()) continue;  // It is not for so many.
    const auto outcome = ground_.is_reduction
                             ? sim::run_reduction(plan.value(), ground_.topology, placing_)
                             : sim::run_broadcast(plan.value(), ground_.topology, placing_);
    const Duration time = ground_.is_reduction ? outcome.arrivals.at(kRoot) : outcome.last();
    keep(std::string(name), bytes, time);
  }
}

/// By real daemons, which have learned the network: the first one of its root, for which
/// connections are made, and the next one.
Status SizeSweep::measure_own(std::uint64_t bytes) {
  constexpr Duration kLearn = 3s;
  constexpr std::uint64_t kElement = 8;
  const auto broken = [&](const std::string& what) {
    return Error{ErrorCode::kAborted, ground_.name + ", " + spell_bytes(bytes) + ": " + what};
  };
  sim::Trial trial({.topology = ground_.topology,
                    .seed = options_.seed,
                    .bytes = static_cast<std::size_t>(bytes),
                    .piece_bytes = std::size_t{256} << 10U,
                    .pause = ground_.is_reduction ? 100us : 1ms,
                    .learn = kLearn});
  begin(kLater, bytes);
  if (!trial.start()) return broken("the simulated mesh does not form");
  for (const char* way : {kFirst, kLater}) {
    const auto elements = static_cast<std::size_t>((bytes + kElement - 1) / kElement);
    const auto round =
        ground_.is_reduction ? trial.reduce(kRoot, {elements}) : trial.broadcast(kRoot);
    if (!round) return broken("a collective does not end");
    keep(way, bytes, round->time);
  }
  const auto violations = trial.cluster().violations().all();
  return violations.empty() ? success() : broken(violations.front());
}

/// The same along trees by local rules, which had time to settle after the first one.
Status SizeSweep::measure_adaptive(std::uint64_t bytes) {
  constexpr Duration kSettleTime = 25s;
  sim::Trial trial({.topology = ground_.topology,
                    .seed = options_.seed,
                    .bytes = static_cast<std::size_t>(bytes),
                    .piece_bytes = std::size_t{256} << 10U,
                    .learn = 3s,
                    .trees = runtime::TreeSource::kAdaptive});
  begin(kAdaptive, bytes);
  const Error failed{ErrorCode::kAborted, "a broadcast along trees by local rules does not end"};
  if (!trial.start() || !trial.broadcast(kRoot)) return failed;
  trial.cluster().run_for(kSettleTime);
  if (!trial.broadcast(kRoot)) return failed;
  const auto round = trial.broadcast(kRoot);
  if (!round) return failed;
  keep(kAdaptive, bytes, round->time);
  const auto violations = trial.cluster().violations().all();
  return violations.empty() ? success() : Error{ErrorCode::kAborted, violations.front()};
}

Status SizeSweep::run() {
  for (const std::uint64_t bytes : ground_.sizes) {
    measure_plans(bytes);
    if (bytes > ground_.own_most) continue;
    if (const Status status = measure_own(bytes); !status.ok()) return status;
    if (!options_.adaptive) continue;
    if (const Status status = measure_adaptive(bytes); !status.ok()) return status;
  }
  return success();
}

double SizeSweep::bandwidth(std::uint64_t bytes, Duration time) const {
  constexpr double kMicroseconds = 1000;  // of a millisecond: bytes per us are MB/s
  return static_cast<double>(bytes) * static_cast<double>(placing_.size()) /
         (to_ms(time) * kMicroseconds);
}

std::string SizeSweep::spell(const std::string& way, std::uint64_t bytes) const {
  const auto found = times_.find({way, bytes});
  if (found == times_.end()) return "-";
  const double ms = to_ms(found->second);
  return spell_fixed(ms, ms < 100 ? 2 : 0);
}

std::pair<std::string, Duration> SizeSweep::best_plan(std::uint64_t bytes) const {
  std::pair<std::string, Duration> best{"", kForever};
  for (const std::string_view name : ground_.plans) {
    const auto found = times_.find({std::string(name), bytes});
    if (found != times_.end() && found->second < best.second) {
      best = {std::string(name), found->second};
    }
  }
  return best;
}

std::string SizeSweep::table() const {
  std::vector<std::string> titles{"ms"};
  for (const std::uint64_t bytes : ground_.sizes) titles.push_back(short_size(bytes));
  Table table(std::move(titles));
  const auto add = [&](const std::string& title, const auto& cell) {
    std::vector<std::string> cells{title};
    for (const std::uint64_t bytes : ground_.sizes) cells.push_back(cell(bytes));
    table.add(std::move(cells));
  };
  for (const std::string& way : ways_) {
    add(way, [&](std::uint64_t bytes) { return spell(way, bytes); });
  }
  add("best plan", [&](std::uint64_t bytes) { return best_plan(bytes).first; });
  const auto ratio = [&](std::uint64_t bytes, Duration other) {
    const auto own = times_.find({kLater, bytes});
    return own == times_.end() ? "-" : spell_fixed(to_ms(own->second) / to_ms(other), 2);
  };
  add("learned / it", [&](std::uint64_t bytes) { return ratio(bytes, best_plan(bytes).second); });
  add("learned / bound", [&](std::uint64_t bytes) {
    return ratio(bytes, times_.at({kBound, bytes}));
  });
  return table.text();
}

std::string SizeSweep::csv() const {
  Csv csv({"figure", "way", "bytes", "ms", "megabytes-per-second"});
  for (const std::string& way : ways_) {
    for (const std::uint64_t bytes : ground_.sizes) {
      const auto found = times_.find({way, bytes});
      if (found == times_.end()) continue;
      csv.add({ground_.name, way, std::to_string(bytes), spell_fixed(to_ms(found->second), 4),
               spell_fixed(bandwidth(bytes, found->second), 3)});
    }
  }
  return csv.text();
}

Plot SizeSweep::plot() const {
  Plot plot;
  plot.title = ground_.title;
  plot.across = "bytes";
  plot.up = "MB/s: bytes x processors / time";
  for (const std::uint64_t bytes : ground_.sizes) plot.names.push_back(short_size(bytes));
  for (const std::string& way : ways_) {
    Plot::Line line{way == kBound ? "upper bound" : way, {}};  // of the bandwidth
    for (const std::uint64_t bytes : ground_.sizes) {
      const auto found = times_.find({way, bytes});
      if (found == times_.end()) break;
      line.values.push_back(bandwidth(bytes, found->second));
    }
    plot.lines.push_back(std::move(line));
  }
  plot.least = plot.decade();
  return plot;
}

Results SizeSweep::results() const {
  const std::string name = name_of_results(ground_.name, options_);
  return {name, ground_.title + "\n" + table(), csv(), {{name, plot()}}};
}

}  // namespace phx::app
