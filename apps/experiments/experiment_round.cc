#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/plot.h"
#include "apps/experiments/results.h"
#include "apps/experiments/round_trial.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/csv.h"
#include "apps/phoenix/texts/table.h"

namespace phx::app {
namespace {

constexpr const char* kTopology =
    "site A 8 150\nsite B 8 150\nsite C 8 150\nlatency A B 2000\nlatency A C 3000\n"
    "latency B C 4000\nlink * * 1000\nnic 1000\noverhead 5\n";
constexpr std::array kStyles = {"learned", "adaptive", "agm",      "mgo",
                                "ecef",    "magpie",   "binomial", "list"};
constexpr Duration kChangeEvery = 200ms;
constexpr int kRoundsOfChanges = 30;

/// Broadcast Round with all kinds of trees, without and with processors that come and go.
class RoundTable {
 public:
  RoundTable(const ExperimentOptions& options, Progress& progress)
      : options_(options), progress_(progress) {}
  int run();

 private:
  [[nodiscard]] Status measure(const std::string& style, bool is_shuffled, bool has_changes);

  const ExperimentOptions& options_;
  Progress& progress_;
  Table table_{{"trees", "roots", "members", "BR ms", "alone ms", "most ms", "BR/alone",
                "past trees %", "moves"}};
  std::vector<Plot::Line> lines_;
  Csv csv_{{"trees", "roots", "members", "br-ms", "alone-ms", "most-ms", "past-percent", "moves"}};
};

Status RoundTable::measure(const std::string& style, bool is_shuffled, bool has_changes) {
  RoundTrialOptions wanted{.topology = overlay::Topology::parse(kTopology).value(),
                           .seed = options_.seed,
                           .is_shuffled = is_shuffled,
                           .rounds = has_changes ? kRoundsOfChanges : 1,
                           .change_every = has_changes ? kChangeEvery : Duration::zero()};
  if (style == "adaptive") {
    wanted.trees = runtime::TreeSource::kAdaptive;
  } else {
    wanted.tree_style = style;
  }
  std::vector<std::string> cells = {style, is_shuffled ? "at random" : "in turn",
                                    has_changes ? "come and go" : "stay"};
  progress_.begin("broadcasts from each vnode, trees " + cells[0] + ", roots " + cells[1] +
                  ", processors that " + cells[2]);
  const auto times = round_trial(wanted);
  if (!times.ok()) return times.error();
  const RoundTrialTimes& t = times.value();
  for (const Duration each : {t.overlapping, t.alone_median, t.alone_most}) {
    cells.push_back(spell_fixed(to_ms(each), 3));
  }
  std::vector<std::string> fields = cells;
  fields.push_back(spell_fixed(t.past_percent, 3));
  fields.push_back(std::to_string(t.moves));
  csv_.add(fields);
  cells.push_back(spell_fixed(to_ms(t.overlapping) / to_ms(t.alone_median), 2));
  cells.push_back(spell_fixed(t.past_percent, 2));
  cells.push_back(std::to_string(t.moves));
  table_.add(std::move(cells));
  if (lines_.empty() || lines_.back().name != style) lines_.push_back({style, {}});
  lines_.back().values.push_back(to_ms(t.overlapping) / to_ms(t.alone_median));
  return success();
}

int RoundTable::run() {
  for (const char* style : kStyles) {
    for (const auto& [is_shuffled, has_changes] :
         {std::pair{false, false}, std::pair{true, false}, std::pair{false, true}}) {
      const Status status = measure(style, is_shuffled, has_changes);
      if (!status.ok()) return fail(std::string(style) + ": " + status.error().what);
    }
  }
  Plot plot{"Broadcast Round: what overlap does to a broadcast", "", "times as long as alone", {}};
  plot.is_dotted = true;
  plot.names = {"in turn", "in random order", "in turn, processors come and go"};
  plot.lines = lines_;
  const std::string name = name_of_results("round", options_);
  const std::string heading = "24 processors in 3 sites, 2 vnodes each, 64 bytes from each vnode\n";
  return show(options_, {name, heading + table_.text(), csv_.text(), {{name, plot}}});
}

}  // namespace

int experiment_round(const ExperimentOptions& options, Progress& progress) {
  return RoundTable(options, progress).run();
}

}  // namespace phx::app
