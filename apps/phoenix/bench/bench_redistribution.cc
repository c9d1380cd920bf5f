#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "collectives/redistribution/random_graph.h"
#include "collectives/redistribution/schedulers.h"
#include "overlay/base/median.h"

namespace phx::app {
namespace {

constexpr std::array kPaces = {"no-barrier", "barrier-send", "barrier-send-receive"};
/// Those that redistribute() takes.
std::vector<std::string> all_schedules() {
  std::vector<std::string> names = {"ranks", "rotation"};
  for (const auto& scheduler : redistribution::all_schedulers()) names.emplace_back(scheduler.name);
  names.emplace_back("predicted");
  return names;
}

/// As phoenix.h assumes it: what the beginning of a step costs.
constexpr std::uint64_t kSetupBytes = 20'000;

struct RedistributionOptions {
  std::vector<std::uint32_t> processors = {8, 16, 32};
  std::string bytes = "64M";
  bool is_dense = false;
  std::uint64_t graphs = 3;
  std::uint64_t seed = 1;
  std::vector<std::string> schedules = all_schedules();
  int rounds = 1;
  bool json = false;
};

/// Of one number of processors: all graphs and rounds.
struct Times {
  std::map<std::string, std::vector<double>> exchange_s;  ///< By schedule/pace.
  std::map<std::string, std::vector<double>> planning_s;  ///< By schedule.
};

redistribution::MessageGraph draw(const RedistributionOptions& options, std::size_t processors,
                                  std::uint64_t volume, std::uint64_t number) {
  const std::size_t wanted = options.is_dense ? processors * processors / 4 : 4 * processors;
  const std::size_t messages =
      std::min<std::size_t>({wanted, processors * (processors - 1), volume});
  return redistribution::random_graph({processors, messages, volume}, options.seed + number);
}

Status write_graph(const std::string& path, const redistribution::MessageGraph& graph) {
  std::ofstream stream(path);
  for (const auto& [from, to, weight] : graph.messages) {
    stream << from << ' ' << to << ' ' << weight << '\n';
  }
  if (stream.flush()) return success();
  return Error{ErrorCode::kUnavailable, "cannot write " + path};
}

/// The planners alone, as v0's process runs them within a redistribution.
void plan_all(const redistribution::MessageGraph& graph, Times& times) {
  for (const auto& scheduler : redistribution::all_schedulers()) {
    const double begin = bench_clock_s();
    const auto schedule = scheduler.make({graph, kSetupBytes});
    const double end = bench_clock_s();
    if (!schedule.steps.empty())
      times.planning_s[std::string(scheduler.name)].push_back(end - begin);
  }
}

Result<Times> measure_on(const RedistributionOptions& options, std::uint32_t processors,
                         std::uint64_t volume) {
  const auto mesh = BenchMesh::start(processors);
  if (!mesh.ok()) return mesh.error();
  if (const Status learned = bench_pause(kBenchLearnTime); !learned.ok()) return learned.error();
  std::string schedules;
  for (const std::string& one : options.schedules)
    schedules += (schedules.empty() ? "" : ",") + one;
  Times times;
  for (std::uint64_t i = 0; i < options.graphs; ++i) {
    const auto graph = draw(options, processors, volume, i);
    plan_all(graph, times);
    const std::string path = mesh.value().file("graph");
    if (const Status status = write_graph(path, graph); !status.ok()) return status.error();
    const auto said =
        mesh.value().run(processors,
                         {"redistribution", "--graph=" + path, "--schedules=" + schedules,
                          "--rounds=" + std::to_string(options.rounds)},
                         false);
    if (!said.ok()) return said.error();
    for (const auto& [name, values] : said.value()) {
      auto& all = times.exchange_s[name];
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  return times;
}

class Report {
 public:
  Status add(const RedistributionOptions& options, std::uint32_t processors, const Times& times) {
    constexpr double kMillisecond = 1e-3;
    const auto base = times.exchange_s.find("ranks/no-barrier");
    for (const std::string& schedule : options.schedules) {
      const auto planned = times.planning_s.find(schedule);
      const double planning = planned == times.planning_s.end() ? 0 : median(planned->second);
      for (const char* pace : kPaces) {
        const auto found = times.exchange_s.find(schedule + "/" + pace);
        if (found == times.exchange_s.end()) {
          return Error{ErrorCode::kNotFound, "nothing was said of " + schedule + "/" + pace};
        }
        const double middle = median(found->second);
        const auto [least, most] = std::minmax_element(found->second.begin(), found->second.end());
        const double ratio = base == times.exchange_s.end() ? 0 : middle / median(base->second);
        table_.add({std::to_string(processors), schedule, pace,
                    spell_fixed(*least / kMillisecond, 1), spell_fixed(middle / kMillisecond, 1),
                    spell_fixed(*most / kMillisecond, 1), ratio > 0 ? spell_fixed(ratio, 2) : "",
                    planning > 0 ? spell_fixed(planning / kMillisecond, 2) : ""});
        list_.push_back({{"processors", processors},
                         {"schedule", schedule},
                         {"pace", pace},
                         {"times", found->second},
                         {"planning", planning}});
      }
    }
    return success();
  }
  [[nodiscard]] bool is_empty() const { return list_.empty(); }
  void print(bool as_json) const {
    std::fputs(as_json ? (list_.dump(2) + "\n").c_str() : table_.text().c_str(), stdout);
  }

 private:
  Table table_{{"PROCESSORS", "SCHEDULE", "PACE", "LEAST MS", "MEDIAN MS", "MOST MS",
                "TO UNPLANNED", "OF IT PLANNING MS"}};
  nlohmann::json list_ = nlohmann::json::array();
};

std::string check_schedule(const std::string& name) {
  std::string text;
  for (const std::string& one : all_schedules()) {
    if (one == name) return {};
    text += (text.empty() ? "" : ", ") + one;
  }
  return "there is no schedule '" + name + "'; there are " + text;
}

/// What there is if something fails is in the report.
Status measure_all(const RedistributionOptions& options, std::uint64_t volume, Report& report) {
  Progress progress;
  for (const std::uint32_t processors : options.processors) {
    std::fprintf(stderr, "measuring %u processors ...\n", processors);
    progress.begin("exchanges among " + std::to_string(processors) + " processors");
    const auto times = measure_on(options, processors, volume);
    if (!times.ok()) return times.error();
    if (const Status told = report.add(options, processors, times.value()); !told.ok()) return told;
  }
  return success();
}

int redistribute(const RedistributionOptions& options) {
  const auto volume = parse_size(options.bytes);
  if (!volume) {
    return fail("not a size like 100, 64K or 4M (at most 1024M): " + options.bytes, kUsage);
  }
  if (*volume == 0) return fail("a message has at least one byte", kUsage);
  const Interrupts interrupts;
  Report report;
  const Status status = measure_all(options, *volume, report);
  if (status.ok() || !report.is_empty()) report.print(options.json);
  return status.ok() ? kOk : fail_bench(status.error());
}

}  // namespace

void add_bench_redistribution(const options::Parser& bench, Action& chosen) {
  auto options = std::make_shared<RedistributionOptions>();
  const options::Parser verb = bench.add_subcommand(
      "redistribution", "Time an irregular exchange with each schedule and pace, side by side");
  verb.add_option("-n", options->processors, "So many processors, each in turn")
      .delimiter(',')
      .check(options::range(2, 256))
      .capture_default_str();
  verb.add_option("--bytes", options->bytes, "Of all messages together").capture_default_str();
  verb.add_flag("--dense", options->is_dense, "N^2/4 messages (default: 4 N)");
  verb.add_option("--graphs", options->graphs, "So many random graphs")
      .check(options::range(1, 1000))
      .capture_default_str();
  verb.add_option("--seed", options->seed, "Of the first of them").capture_default_str();
  verb.add_option("--schedules", options->schedules, "Only these")
      .delimiter(',')
      .check(check_schedule)
      .capture_default_str();
  verb.add_option("--rounds", options->rounds, "So often each, on each graph")
      .check(options::range(1, 1000))
      .capture_default_str();
  verb.add_flag("--json", options->json, "Machine-readable result, in seconds");
  verb.footer(
      "A private mesh on this machine. From the first process's call until the last one has\n"
      "everything: agreement on the sizes, planning and messages. What arrives is compared with\n"
      "what was sent. To unplanned: all send to the first processor first, then to the second.");
  verb.callback([options, &chosen] { chosen = [options] { return redistribute(*options); }; });
}

}  // namespace phx::app
