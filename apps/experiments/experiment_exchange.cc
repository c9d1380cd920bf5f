#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/plot.h"
#include "apps/experiments/results.h"
#include "apps/experiments/thread_time.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"
#include "collectives/redistribution/random_graph.h"
#include "collectives/redistribution/schedulers.h"
#include "runtime/sim/exchange_run.h"

namespace phx::app {
namespace {

using redistribution::MessageGraph;
using redistribution::Pace;
using redistribution::Schedule;

/// What one core of an InfiniBand cluster of the time of the thesis has.
constexpr const char* kCluster = " 5\nnic 2000\noverhead 5\n";
constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;
constexpr std::array kPaces = {std::pair{Pace::kNoBarrier, "no barrier"},
                               std::pair{Pace::kBarrierSend, "barrier send"},
                               std::pair{Pace::kBarrierSendReceive, "barrier send/receive"}};

struct Maker {
  std::string_view name;
  Schedule (*make)(const redistribution::Order& order);
};

std::vector<Maker> makers() {
  std::vector<Maker> all = {{"ranks", redistribution::schedule_ranks},
                            {"rotation", redistribution::schedule_rotation}};
  for (const auto& scheduler : redistribution::all_schedulers()) {
    all.push_back({scheduler.name, scheduler.make});
  }
  return all;
}

/// Of one number of processors: means over graphs, ms.
struct Entry {
  double planning = 0;
  double exchange = 0;         ///< With the best pace.
  std::string_view pace = {};  ///< That.
  std::array<double, kPaces.size()> by_pace = {};
  double bound = 0;
};

/// Figures 6 to 10 of [Kurnysh11]: irregular exchanges by each schedule, in a simulated cluster.
class ExchangeFigures {
 public:
  ExchangeFigures(const ExperimentOptions& options, Progress& progress)
      : options_(options), progress_(progress) {}
  int run();

 private:
  using Row = std::map<std::string_view, Entry>;  ///< By schedule.
  /// Figures of the same graphs: dense or not, and their volume.
  struct Set {
    bool is_dense = false;
    std::uint64_t volume = 0;
    std::vector<Row> rows = {};  ///< By size.
  };

  [[nodiscard]] Row measure(const Set& set, std::size_t processors, std::uint64_t graphs) const;
  void add(const Set& set, std::size_t processors, const Row& row);
  using Value = double (*)(const Entry& entry);
  void draw(const std::string& figure, const Set& set, const char* up, Value value);
  void draw_all(const Set& set);

  /// Processors, and how many graphs are drawn.
  static constexpr std::array<std::pair<int, int>, 6> kSizes = {
      {{8, 20}, {16, 20}, {32, 10}, {64, 5}, {128, 3}, {256, 2}}};

  const ExperimentOptions& options_;
  Progress& progress_;
  Table table_{{"processors", "messages", "MiB", "schedule", "planning CPU ms", "exchange ms",
                "/ bound", "best pace", "sum ms", "barrier send / best"}};
  Csv csv_{{"processors", "messages", "mib", "schedule", "bound-ms", "planning-cpu-ms",
            "no-barrier-ms", "barrier-send-ms", "barrier-send-receive-ms"}};
  std::vector<std::pair<std::string, Plot>> plots_;
};

std::size_t messages_of(bool is_dense, std::size_t processors) {
  const std::size_t wanted = is_dense ? processors * processors / 4 : 4 * processors;
  return std::min(wanted, processors * (processors - 1));
}

ExchangeFigures::Row ExchangeFigures::measure(const Set& set, std::size_t processors,
                                              std::uint64_t graphs) const {
  const auto topology =
      overlay::Topology::parse("site A " + std::to_string(processors) + kCluster).value();
  const overlay::Placing placing = overlay::placed_by_site(topology);
  Row row;
  for (std::uint64_t i = 0; i < graphs; ++i) {
    const MessageGraph graph = redistribution::random_graph(
        {processors, messages_of(set.is_dense, processors), set.volume}, options_.seed + i);
    const Duration bound = redistribution::least_time(graph, sim::ways_of(topology, placing));
    for (const Maker& maker : makers()) {
      row[maker.name].bound += to_ms(bound) / static_cast<double>(graphs);
      const Duration begin = thread_time();
      const Schedule schedule = maker.make({graph, kSetupBytes});
      row[maker.name].planning += to_ms(thread_time() - begin) / static_cast<double>(graphs);
      for (std::size_t pace = 0; pace < kPaces.size(); ++pace) {
        const Duration took =
            sim::run_exchange(schedule, {graph, topology, placing, kPaces[pace].first});
        row[maker.name].by_pace[pace] += to_ms(took) / static_cast<double>(graphs);
      }
    }
  }
  for (auto& [name, entry] : row) {
    const auto best = std::min_element(entry.by_pace.begin(), entry.by_pace.end());
    entry.exchange = *best;
    entry.pace = kPaces[static_cast<std::size_t>(best - entry.by_pace.begin())].second;
  }
  return row;
}

void ExchangeFigures::add(const Set& set, std::size_t processors, const Row& row) {
  for (const auto& [name, entry] : row) {
    std::vector<std::string> fields = {
        std::to_string(processors),         std::to_string(messages_of(set.is_dense, processors)),
        std::to_string(set.volume / kMebi), std::string(name),
        spell_fixed(entry.bound, 4),        spell_fixed(entry.planning, 4)};
    for (const double time : entry.by_pace) fields.push_back(spell_fixed(time, 4));
    csv_.add(fields);
    const double steps = entry.by_pace[1] / entry.exchange;
    table_.add({std::to_string(processors), std::to_string(messages_of(set.is_dense, processors)),
                std::to_string(set.volume / kMebi), std::string(name),
                spell_fixed(entry.planning, 2), spell_fixed(entry.exchange, 1),
                spell_fixed(entry.exchange / entry.bound, 3), std::string(entry.pace),
                spell_fixed(entry.planning + entry.exchange, 1), spell_fixed(steps, 2)});
  }
}

void ExchangeFigures::draw(const std::string& figure, const Set& set, const char* up, Value value) {
  Plot plot;
  plot.title = std::to_string(set.volume / kMebi) + " MiB in " +
               (set.is_dense ? "N^2/4 messages" : "4 N messages") + ", N processors";
  plot.across = "processors";
  plot.up = up;
  for (const auto& [processors, graphs] : kSizes) plot.names.push_back(std::to_string(processors));
  for (const Maker& maker : makers()) {
    Plot::Line line{std::string(maker.name), {}};
    for (const Row& row : set.rows) {
      line.values.push_back(value(row.at(maker.name)));
    }
    plot.lines.push_back(std::move(line));
  }
  constexpr double kNothing = 1e-3;
  plot.least = std::max(plot.decade(), kNothing);
  const std::string stem = set.is_dense ? figure + "-dense" : figure;
  plots_.emplace_back(name_of_results(stem, options_), std::move(plot));
}

/// Planning and volume stand for figures: 6; 7 and 9 with 512 MiB, 8 and 10 with 1 GiB.
void ExchangeFigures::draw_all(const Set& set) {
  const bool is_small = set.volume == 512 * kMebi;
  const auto planning = [](const Entry& entry) { return entry.planning; };
  const auto exchange = [](const Entry& entry) { return entry.exchange; };
  const auto sum = [](const Entry& entry) { return entry.planning + entry.exchange; };
  if (is_small) draw("exchange-fig6", set, "ms of processor time for planning", planning);
  draw(is_small ? "exchange-fig7" : "exchange-fig8", set, "ms for the exchange", exchange);
  draw(is_small ? "exchange-fig9" : "exchange-fig10", set, "ms for planning and the exchange", sum);
}

int ExchangeFigures::run() {
  for (const bool is_dense : {false, true}) {
    for (const std::uint64_t volume : {512 * kMebi, 1024 * kMebi}) {
      Set set{is_dense, volume};
      for (const auto& [processors, graphs] : kSizes) {
        progress_.begin(std::to_string(volume / kMebi) + " MiB among " +
                        std::to_string(processors) + " processors, " +
                        (is_dense ? "N^2/4" : "4 N") + " messages");
        const auto count = static_cast<std::size_t>(processors);
        set.rows.push_back(measure(set, count, static_cast<std::uint64_t>(graphs)));
        add(set, count, set.rows.back());
      }
      draw_all(set);
    }
  }
  const std::string name = name_of_results("exchange", options_);
  return show(options_, {name, table_.text(), csv_.text(), plots_});
}

}  // namespace

int experiment_exchange(const ExperimentOptions& options, Progress& progress) {
  return ExchangeFigures(options, progress).run();
}

}  // namespace phx::app
