#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/plot.h"
#include "apps/experiments/results.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/pairs/collective_times.h"
#include "overlay/planners/pairs/pair_planners.h"
#include "overlay/planners/pairs/random_clusters.h"

namespace phx::app {
namespace {

using planners::Collective;
using planners::CostModel;

constexpr std::uint64_t kShort = 1000;
constexpr std::uint64_t kLong = 100'000;

/// A planner, and what it is told.
struct Setting {
  std::string_view label;
  std::string_view planner;
  CostModel knows;
};
/// Those of the paper's table first, as it was most likely made.
constexpr std::array kSettings = {Setting{"FT", "flat", CostModel::kLatencyOnly},
                                  Setting{"BT", "binomial", CostModel::kLatencyOnly},
                                  Setting{"FEF(L)", "fef", CostModel::kLatencyOnly},
                                  Setting{"FCEF(L)", "ecef", CostModel::kLatencyOnly},
                                  Setting{"LA(L)", "look-ahead", CostModel::kLatencyOnly},
                                  Setting{"MGO", "mgo", CostModel::kOverlapped},
                                  Setting{"MGO(L)", "mgo", CostModel::kLatencyOnly},
                                  Setting{"MGO r1 first", "mgo-r1-first", CostModel::kOverlapped},
                                  Setting{"FNF", "fnf", CostModel::kOverlapped},
                                  Setting{"FEF", "fef", CostModel::kOverlapped},
                                  Setting{"FCEF", "ecef", CostModel::kOverlapped},
                                  Setting{"LA", "look-ahead", CostModel::kOverlapped}};
constexpr std::string_view kBound = "bound";

/// Table 1 of the paper, in ms, and how many networks are drawn here.
struct Published {
  std::size_t processors;
  std::uint64_t networks;
  std::array<double, 6> ms;  ///< In the order of the settings.
};
constexpr std::array kPublished = {
    Published{4, 200, {952.3, 1101.4, 1176.89, 1089.23, 1080.26, 868.15}},
    Published{8, 200, {1875.86, 1808.43, 2215.94, 1897, 1813.38, 1359.98}},
    Published{16, 200, {3691.08, 2551.2, 3977.41, 2747.5, 2836.58, 1838.55}},
    Published{32, 200, {7035.98, 3307.44, 6206.96, 3396.18, 3540.57, 1964.7}},
    Published{64, 100, {13647.26, 3900.3, 10209.58, 4185.06, 4360.98, 2067.95}},
    Published{128, 50, {26685.98, 4825.95, 15130.92, 4567.74, 5071.14, 2139.8}},
    Published{256, 20, {53447.26, 5962.87, 21916.77, 5116.04, 5561.21, 2242.4}},
    Published{512, 8, {105479.94, 7150.52, 32858.43, 5626.32, 5789.99, 2265.62}}};

const planners::PairPlanner& planner_of(const Setting& setting) {
  std::size_t at = 0;
  const auto all = planners::all_pair_planners();
  while (all[at].name != setting.planner) ++at;
  return all[at];
}

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::kBroadcast:
      return "broadcast";
    case Collective::kScatter:
      return "scatter";
    case Collective::kGather:
      return "gather";
    case Collective::kAllgather:
      return "allgather";
  }
  return "";
}

/// Table 1 of the MGO paper in random networks, beside the published figures.
class MgoTable {
 public:
  MgoTable(const ExperimentOptions& options, Progress& progress)
      : options_(options), progress_(progress) {}

  int run();

 private:
  /// Collective, bytes, blocking, processors, label.
  using Key = std::tuple<Collective, std::uint64_t, bool, std::size_t, std::string_view>;

  void draw(std::size_t processors, std::uint64_t seed);
  void measure(const planners::RandomNetwork& random, const Setting& setting, std::uint64_t bytes);
  void add(const Key& key, Duration time) {
    auto& [sum, count] = sums_[key];
    sum += time;
    ++count;
  }
  [[nodiscard]] double mean(const Key& key) const {
    const auto& [sum, count] = sums_.at(key);
    return to_ms(sum) / static_cast<double>(count);
  }
  [[nodiscard]] double short_broadcast(std::size_t processors, std::string_view label) const {
    return mean({Collective::kBroadcast, kShort, false, processors, label});
  }
  [[nodiscard]] std::string times() const;
  [[nodiscard]] std::string gains() const;
  [[nodiscard]] std::string told_the_same() const;
  [[nodiscard]] std::string csv() const;
  [[nodiscard]] Plot plot() const;

  const ExperimentOptions& options_;
  Progress& progress_;
  std::map<Key, std::pair<Duration, std::uint64_t>> sums_;
};

void MgoTable::measure(const planners::RandomNetwork& random, const Setting& setting,
                       std::uint64_t bytes) {
  const planners::PairOrder order{setting.knows, bytes, random.root};
  const planners::PairNetwork& network = random.network;
  const auto down = planners::one_to_many(planner_of(setting), network, order);
  const auto up = planners::many_to_one(planner_of(setting), network, order);
  for (const CostModel model : {CostModel::kOverlapped, CostModel::kBlocking}) {
    for (const Collective collective : {Collective::kBroadcast, Collective::kScatter,
                                        Collective::kGather, Collective::kAllgather}) {
      if (bytes == kLong && collective != Collective::kBroadcast) continue;  // As in the paper.
      const auto all = planners::times_of(collective, {up, down}, {network, model, bytes});
      add({collective, bytes, model == CostModel::kBlocking, network.size(), setting.label},
          planners::last_of(all));
    }
  }
}

void MgoTable::draw(std::size_t processors, std::uint64_t seed) {
  const planners::RandomNetwork random = planners::random_clusters(processors, seed);
  for (const Setting& setting : kSettings) {
    for (const std::uint64_t bytes : {kShort, kLong}) measure(random, setting, bytes);
  }
  for (const std::uint64_t bytes : {kShort, kLong}) {
    const planners::PairCosts costs(random.network, CostModel::kOverlapped, bytes);
    add({Collective::kBroadcast, bytes, false, processors, kBound},
        planners::shortest_path_bound(costs, random.root));
  }
}

std::string MgoTable::times() const {
  std::vector<std::string> titles{"processors"};
  for (std::size_t i = 0; i < kPublished[0].ms.size(); ++i) {
    titles.emplace_back(kSettings[i].label);
    titles.emplace_back("published");
  }
  Table table(std::move(titles));
  for (const Published& row : kPublished) {
    std::vector<std::string> cells{std::to_string(row.processors)};
    for (std::size_t i = 0; i < row.ms.size(); ++i) {
      cells.push_back(spell_fixed(short_broadcast(row.processors, kSettings[i].label), 0));
      cells.push_back(spell_fixed(row.ms[i], 0));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

/// By how much MGO is shorter than each other one, in percent.
std::string MgoTable::gains() const {
  constexpr double kPercent = 100;
  const std::size_t others = kPublished[0].ms.size() - 1;
  std::vector<std::string> titles{"processors"};
  for (std::size_t i = 0; i < others; ++i) {
    titles.emplace_back(kSettings[i].label);
    titles.emplace_back("published");
  }
  for (const std::string_view label : {"FCEF", "LA"}) titles.emplace_back(label);
  Table table(std::move(titles));
  for (const Published& row : kPublished) {
    std::vector<std::string> cells{std::to_string(row.processors)};
    const double mgo = short_broadcast(row.processors, "MGO");
    const auto gain = [&](double mine, double other) {
      return spell_fixed(kPercent * (1 - mine / other), 1);
    };
    for (std::size_t i = 0; i < others; ++i) {
      cells.push_back(gain(mgo, short_broadcast(row.processors, kSettings[i].label)));
      cells.push_back(gain(row.ms.back(), row.ms[i]));
    }
    for (const std::string_view label : {"FCEF", "LA"}) {
      cells.push_back(gain(mgo, short_broadcast(row.processors, label)));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string MgoTable::told_the_same() const {
  std::vector<std::string> titles{"processors"};
  for (std::size_t i = kPublished[0].ms.size() - 1; i < kSettings.size(); ++i) {
    titles.emplace_back(kSettings[i].label);
  }
  titles.emplace_back(kBound);
  Table table(std::vector<std::string>{titles});
  for (const Published& row : kPublished) {
    std::vector<std::string> cells{std::to_string(row.processors)};
    for (std::size_t i = 1; i < titles.size(); ++i) {
      cells.push_back(spell_fixed(short_broadcast(row.processors, titles[i]), 0));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string MgoTable::csv() const {
  Csv csv({"collective", "bytes", "model", "processors", "planner", "networks", "mean-ms"});
  for (const auto& [key, sum] : sums_) {
    const auto& [collective, bytes, is_blocking, processors, label] = key;
    csv.add({std::string(name_of(collective)), std::to_string(bytes),
             is_blocking ? "blocking" : "overlapped", std::to_string(processors),
             std::string(label), std::to_string(sum.second), spell_fixed(mean(key), 2)});
  }
  return csv.text();
}

/// The short broadcast, by processors.
Plot MgoTable::plot() const {
  constexpr double kLeastMs = 500;
  Plot plot;
  plot.title = "Broadcasts of 1 kB in random clusters; (L): told latencies only";
  plot.across = "processors";
  plot.up = "ms until the last has it";
  plot.least = kLeastMs;
  for (const Published& row : kPublished) plot.names.push_back(std::to_string(row.processors));
  for (const auto& setting : kSettings) {
    Plot::Line line{std::string(setting.label), {}};
    for (const Published& row : kPublished) {
      line.values.push_back(short_broadcast(row.processors, setting.label));
    }
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

int MgoTable::run() {
  for (const Published& row : kPublished) {
    progress_.begin(counted(row.networks, "network") + " of " + std::to_string(row.processors) +
                    " processors");
    for (std::uint64_t i = 0; i < row.networks; ++i) draw(row.processors, options_.seed + i);
  }
  const std::string text =
      "Short broadcast (1 kB), ms until the last has it. (L): planned with latencies only.\n" +
      times() + "\nGain of MGO in percent; FCEF and LA without (L) know as much as MGO.\n" +
      gains() + "\nAll told everything but MGO(L), ms; bound by shortest paths.\n" +
      told_the_same();
  const std::string name = name_of_results("mgo", options_);
  return show(options_, {name, text, csv(), {{name, plot()}}});
}

}  // namespace

int experiment_mgo(const ExperimentOptions& options, Progress& progress) {
  return MgoTable(options, progress).run();
}

}  // namespace phx::app
