#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/bench/bench_job.h"
#include "apps/phoenix/jobs/child.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/base/median.h"

namespace phx::app {
namespace {

constexpr std::chrono::seconds kReadyTime{2};  ///< For states to be made, once vnodes are held.
constexpr std::chrono::milliseconds kLookAtHeld{50};
constexpr double kReadyMostS = 120;

struct DrainBench {
  std::uint32_t processors = 64;
  std::uint64_t vnodes_each = 2;
  std::string bytes = "1024M";
  std::vector<std::uint32_t> receivers = {0, 1};
  int rounds = 3;
  bool json = false;
};

/// Until all vnodes of the one job are held, or it ends, which its own error tells.
Status wait_until_held(const BenchMesh& mesh, BenchJob& job, std::uint64_t vnodes) {
  for (const double end = bench_clock_s() + kReadyMostS; bench_clock_s() < end;) {
    if (job.has_ended()) {
      const auto said = job.wait();
      return said.ok() ? Error{ErrorCode::kUnavailable, "the job ends at once"} : said.error();
    }
    auto session = connect(mesh.name());
    if (!session.ok()) return session.error();
    const auto status = ask_status(session.value());
    if (!status.ok()) return status.error();
    std::uint64_t held = 0;
    for (const auto& processor : status.value().processors) {
      for (const auto& one : processor.jobs) {
        if (one.stage == runtime::Stage::kAttached) held += one.held.size();
      }
    }
    if (held == vnodes) return success();
    if (const Status paused = bench_pause(kLookAtHeld); !paused.ok()) return paused;
  }
  return Error{ErrorCode::kTimeout, "not all vnodes are held"};
}

/// Every second one, all at once.
Result<double> drain_half(const BenchMesh& mesh, std::uint32_t processors) {
  std::vector<std::string> words = {"drain", "--mesh", mesh.name()};
  for (std::uint32_t id = 2; id <= processors; id += 2) words.push_back("p" + std::to_string(id));
  const double begin = bench_clock_s();
  auto child = Child::start(words);
  if (!child.ok()) return child.error();
  while (child.value().take([](const std::string&) {})) {
    if (bench_is_interrupted()) return bench_interrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const double took = bench_clock_s() - begin;
  if (child.value().exit_code() == 0) return took;
  return Error{ErrorCode::kUnavailable, "drain: " + child.value().last_line()};
}

Result<double> measure_drain(const DrainBench& options, std::uint64_t bytes,
                             std::uint32_t receivers) {
  const auto mesh =
      BenchMesh::start(options.processors, {"--state-receivers=" + std::to_string(receivers)});
  if (!mesh.ok()) return mesh.error();
  const std::uint64_t vnodes = options.vnodes_each * options.processors;
  auto job =
      BenchJob::start_in(mesh.value().name(), vnodes,
                         {"states", "--bytes=" + std::to_string(bytes)}, {.until_told = true});
  if (!job.ok()) return job.error();
  const Status held = wait_until_held(mesh.value(), job.value(), vnodes);
  if (!held.ok()) return held.error();
  if (const Status ready = bench_pause(kReadyTime); !ready.ok()) return ready.error();
  const auto took = drain_half(mesh.value(), options.processors);
  if (!took.ok()) return took.error();
  const auto said = job.value().finish();
  if (!said.ok()) return said.error();
  if (!said.value().contains("states-right")) {
    return Error{ErrorCode::kNotFound, "nothing was said of the states"};
  }
  return took;
}

using DrainTimes = std::map<std::uint32_t, std::vector<double>>;  ///< By receivers at once.

/// What there is if something fails is kept.
Status measure_all(const DrainBench& options, std::uint64_t bytes, DrainTimes& times) {
  Progress progress;
  for (int round = 0; round < options.rounds; ++round) {
    for (const std::uint32_t receivers : options.receivers) {
      const std::string what =
          "round " + std::to_string(round + 1) + ", " +
          (receivers == 0 ? "all receivers at once" : std::to_string(receivers) + " at once");
      std::fprintf(stderr, "%s ...\n", what.c_str());
      progress.begin(what);
      const auto took = measure_drain(options, bytes, receivers);
      if (!took.ok()) return took.error();
      times[receivers].push_back(took.value());
    }
  }
  return success();
}

void print(const DrainBench& options, std::uint64_t bytes, const DrainTimes& times) {
  Table table({"RECEIVERS AT ONCE", "LEAST S", "MEDIAN S", "MOST S", "MB/S"});
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [receivers, all] : times) {
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    table.add({receivers == 0 ? "all" : std::to_string(receivers), spell_fixed(*least, 2),
               spell_fixed(median(all), 2), spell_fixed(*most, 2),
               spell_fixed(drain_rate(bytes, options.processors, median(all)) / 1e6, 0)});
    list.push_back({{"receivers", receivers}, {"times", all}, {"bytes", bytes}});
  }
  std::fputs(options.json ? (list.dump(2) + "\n").c_str() : table.text().c_str(), stdout);
}

int bench_drain(const DrainBench& options) {
  const auto bytes = parse_size(options.bytes);
  if (!bytes) {
    return fail("not a size like 100, 64K or 4M (at most 1024M): " + options.bytes, kUsage);
  }
  const Interrupts interrupts;
  DrainTimes times;
  const Status status = measure_all(options, *bytes, times);
  if (status.ok() || !times.empty()) print(options, *bytes, times);
  return status.ok() ? kOk : fail_bench(status.error());
}

}  // namespace

double drain_rate(std::uint64_t bytes, std::uint32_t processors, double seconds) {
  const std::uint32_t leavers = processors / 2;
  return static_cast<double>(bytes) * leavers / processors / seconds;
}

void add_bench_drain(const options::Parser& bench, Action& chosen) {
  auto options = std::make_shared<DrainBench>();
  const options::Parser verb = bench.add_subcommand(
      "drain", "Time until half of the processors have left, with much state in their vnodes");
  verb.add_option("-n", options->processors, "So many daemons")
      .check(options::range(2, 256))
      .capture_default_str();
  verb.add_option("--vnodes-each", options->vnodes_each, "Vnodes per daemon")
      .check(options::range(1, 1024))
      .capture_default_str();
  verb.add_option("--bytes", options->bytes, "State of all vnodes together").capture_default_str();
  verb.add_option("--receivers", options->receivers,
                  "Vnodes go from each leaver to so many others at once, each in turn; 0: to all")
      .delimiter(',')
      .capture_default_str();
  verb.add_option("--rounds", options->rounds, "So often each")
      .check(options::range(1, 1000))
      .capture_default_str();
  verb.add_flag("--json", options->json, "Machine-readable result, in seconds");
  verb.footer(
      "Private meshes on this machine, in turn. At the end the job compares each byte of each\n"
      "state with what it was.");
  verb.callback([options, &chosen] { chosen = [options] { return bench_drain(*options); }; });
}

}  // namespace phx::app
