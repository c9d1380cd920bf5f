#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
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
#include "runtime/sim/drain_cases.h"
#include "runtime/vnodes/shares.h"

namespace phx::app {
namespace {

using runtime::ShareRule;

struct Variant {
  std::string_view name;
  ShareRule rule;
  std::uint32_t receivers;
};
constexpr std::array kVariants = {Variant{"chosen", ShareRule::kPredicted, 0},
                                  Variant{"neighbours", ShareRule::kNeighbours, 0},
                                  Variant{"sites", ShareRule::kSites, 0},
                                  Variant{"chosen, 1 at a time", ShareRule::kPredicted, 1},
                                  Variant{"chosen, 2 at a time", ShareRule::kPredicted, 2}};

/// What the two plans cost a leaver of a mesh of so many processors in four sites, of which half
/// leave.
Duration planning(std::uint32_t processors) {
  constexpr std::uint32_t kSites = 4;
  std::vector<ProcessorId> ids;
  ProcessorSet staying;
  overlay::KnownNetwork network;
  network.sites.resize(kSites);
  for (std::uint32_t id = 1; id <= processors; ++id) {
    ids.push_back(ProcessorId{id});
    if (id % 2 == 0) staying.insert(ProcessorId{id});
    network.sites[id / 2 % kSites].processors.insert(ProcessorId{id});
  }
  const runtime::VnodeMap map(std::uint64_t{4} * processors, ids);
  const ProcessorId self{processors / 2 * 2 - 1};
  const VnodeSet vnodes = map.owned_by(self);
  const runtime::Leaving leaving{self, vnodes, staying, map, &network};
  const Duration begin = thread_time();
  static_cast<void>(runtime::plan_by_neighbours(leaving));
  static_cast<void>(runtime::plan_by_sites(leaving));
  return thread_time() - begin;
}

std::string planning_text() {
  std::string text =
      "\nBoth plans, at a leaver of a mesh of which half leave, in processor time:\n";
  for (const std::uint32_t processors : {64U, 256U, 1024U}) {
    text += std::to_string(processors) +
            " processors: " + spell_fixed(to_ms(planning(processors)), 3) + " ms, counted as " +
            spell_fixed(to_ms(runtime::planning_time(processors)), 3) + "\n";
  }
  return text;
}

class Drains {
 public:
  Drains(const ExperimentOptions& options, Progress& progress)
      : options_(options), progress_(progress), table_(heads()) {
    plot_.title = "Drains: to whom, and to how many at once";
    plot_.up = "times what no schedule of the chosen moves beats";
    plot_.across = "the drains of the table, in its order";
    plot_.is_dotted = true;
    for (const Variant& variant : kVariants) plot_.lines.push_back({std::string(variant.name), {}});
  }

  int run() {
    for (sim::DrainCase& drain : sim::drain_cases()) {
      progress_.begin("the drain " + drain.name);
      if (!measure(drain)) return fail("the drain '" + drain.name + "' did not end well");
    }
    const std::string text = table_.text() + planning_text();
    const std::string name = name_of_results("drain", options_);
    return show(options_, {name, text, csv_.text(), {{name, plot_}}});
  }

 private:
  static std::vector<std::string> heads() {
    std::vector<std::string> heads = {"drain", "MB", "bound ms", "chosen ms", "/ bound"};
    for (std::size_t i = 1; i < kVariants.size(); ++i) {
      heads.push_back(std::string(kVariants[i].name) + " ms");
    }
    return heads;
  }

  bool measure(sim::DrainCase& drain) {
    std::vector<std::string> row = {drain.name};
    drain.options.seed = options_.seed;
    double bound = 0;  // Of what the chosen ones get.
    for (std::size_t i = 0; i < kVariants.size(); ++i) {
      drain.options.rule = kVariants[i].rule;
      drain.options.receivers = kVariants[i].receivers;
      const std::optional<sim::DrainTrialResult> result = sim::run_drain(drain.options);
      if (!result) return false;
      const double time = to_ms(result->time);
      if (i == 0) {
        bound = to_ms(result->bound);
        row.push_back(spell_fixed(static_cast<double>(result->bytes) / 1e6, 0));
        row.push_back(spell_fixed(bound, 0));
      }
      row.push_back(spell_fixed(time, 0));
      if (i == 0) row.push_back(spell_fixed(time / bound, 2));
      plot_.lines[i].values.push_back(time / bound);
      csv_.add({drain.name, std::to_string(result->bytes), std::string(kVariants[i].name),
                spell_fixed(time, 3), spell_fixed(to_ms(result->bound), 3)});
    }
    table_.add(row);
    plot_.names.push_back(std::to_string(plot_.names.size() + 1));
    return true;
  }

  const ExperimentOptions& options_;
  Progress& progress_;
  Table table_;
  Csv csv_{{"drain", "bytes", "variant", "ms", "bound-ms"}};
  Plot plot_;
};

}  // namespace

int experiment_drain(const ExperimentOptions& options, Progress& progress) {
  return Drains(options, progress).run();
}

}  // namespace phx::app
