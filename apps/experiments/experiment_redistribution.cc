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

namespace phx::app {
namespace {

using redistribution::MessageGraph;
using redistribution::Scheduler;

constexpr std::uint64_t kVolume = std::uint64_t{512} << 20U;

/// Messages for so many processors, and how many graphs are drawn.
struct Size {
  std::size_t processors;
  std::size_t messages;
  std::uint64_t graphs;
};

/// Means over graphs.
struct Score {
  double steps = 0;         ///< Times the bound.
  double cost = 0;          ///< Times the bound.
  double transmission = 0;  ///< The same without setup.
  double parts = 0;         ///< Of each message.
  double planning_ms = 0;   ///< The scheduler's own processor time.
};

/// The schedulers in random graphs as those of the thesis, in the model of steps. They are not
/// executed: what is compared is the time that a schedule takes in that model, and to make it.
class ScheduleTable {
 public:
  ScheduleTable(const ExperimentOptions& options, Progress& progress)
      : options_(options), progress_(progress) {}

  int run();

 private:
  [[nodiscard]] Status measure(const Size& size);
  [[nodiscard]] Status add(const Scheduler& scheduler, const MessageGraph& graph, Score& score);

  const ExperimentOptions& options_;
  Progress& progress_;
  Table table_{{"processors", "messages", "schedule", "steps/bound", "cost/bound", "time/bound",
                "parts/message", "planning CPU ms"}};
  std::vector<std::string> names_;                         ///< Of sizes.
  std::map<std::string_view, std::vector<double>> costs_;  ///< To the bound; by scheduler, size.
  Csv csv_{{"processors", "messages", "schedule", "graphs", "steps", "cost", "time", "parts",
            "planning-cpu-ms"}};
};

Status ScheduleTable::add(const Scheduler& scheduler, const MessageGraph& graph, Score& score) {
  const std::size_t at_once = graph.processors;
  const Duration begin = thread_time();
  const auto schedule = scheduler.make({graph, kSetupBytes});
  const Duration planned = thread_time() - begin;
  if (const Status status = validate(schedule, graph, at_once); !status.ok()) return status;
  const redistribution::Bounds bounds = bounds_of(graph);
  const auto ratio = [](std::uint64_t value, std::uint64_t bound) {
    return static_cast<double>(value) / static_cast<double>(bound);
  };
  score.steps += ratio(schedule.steps.size(), bounds.steps(at_once));
  score.cost += ratio(schedule.cost(kSetupBytes), bounds.cost(at_once, kSetupBytes));
  score.transmission += ratio(schedule.cost(0), bounds.duration(at_once));
  score.parts += ratio(schedule.parts(), bounds.count);
  score.planning_ms += to_ms(planned);
  return success();
}

Status ScheduleTable::measure(const Size& size) {
  progress_.begin("schedules of " + std::to_string(size.messages) + " messages among " +
                  std::to_string(size.processors) + " processors");
  for (const Scheduler& scheduler : redistribution::all_schedulers()) {
    Score score;
    for (std::uint64_t i = 0; i < size.graphs; ++i) {
      const MessageGraph graph = redistribution::random_graph(
          {size.processors, size.messages, kVolume}, options_.seed + i);
      if (const Status status = graph.check(); !status.ok()) return status;
      if (const Status status = add(scheduler, graph, score); !status.ok()) return status;
    }
    std::vector<std::string> cells{std::to_string(size.processors), std::to_string(size.messages),
                                   std::string(scheduler.name)};
    std::vector<std::string> fields = cells;
    fields.push_back(std::to_string(size.graphs));
    for (const double sum :
         {score.steps, score.cost, score.transmission, score.parts, score.planning_ms}) {
      cells.push_back(spell_fixed(sum / static_cast<double>(size.graphs), 2));
      fields.push_back(spell_fixed(sum / static_cast<double>(size.graphs), 4));
    }
    csv_.add(fields);
    table_.add(std::move(cells));
    costs_[scheduler.name].push_back(score.cost / static_cast<double>(size.graphs));
  }
  names_.push_back(std::to_string(size.processors) + ", " + std::to_string(size.messages));
  return success();
}

int ScheduleTable::run() {
  constexpr std::array kSizes = {Size{8, 32, 50},    Size{16, 64, 50},   Size{32, 128, 50},
                                 Size{32, 256, 50},  Size{64, 256, 20},  Size{64, 1024, 10},
                                 Size{128, 512, 10}, Size{128, 4096, 4}, Size{256, 1024, 5},
                                 Size{256, 16384, 1}};
  for (const Size& size : kSizes) {
    if (const Status status = measure(size); !status.ok()) return fail(status.error().what);
  }
  Plot plot{"Schedules of 512 MiB in random graphs", "processors, messages", "cost / bound", {}};
  plot.is_dotted = true;
  plot.names = names_;
  for (const auto& [name, costs] : costs_) plot.lines.push_back({std::string(name), costs});
  const std::string name = name_of_results("redistribution", options_);
  const std::string heading = "512 MiB in all, a step costs as much as " +
                              std::to_string(kSetupBytes) + " bytes; means over graphs\n";
  return show(options_, {name, heading + table_.text(), csv_.text(), {{name, plot}}});
}

}  // namespace

int experiment_redistribution(const ExperimentOptions& options, Progress& progress) {
  return ScheduleTable(options, progress).run();
}

}  // namespace phx::app
