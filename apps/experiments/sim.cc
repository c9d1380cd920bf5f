#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/networks.h"
#include "apps/experiments/sim_costs.h"
#include "apps/phoenix/command_line/read_text.h"
#include "apps/phoenix/mesh/progress.h"
#include "runtime/sim/churn.h"
#include "runtime/sim/scenario.h"

namespace phx::app {
namespace {

/// What a scenario takes beside --processors and --json.
struct Uses {
  std::string what;  ///< Which scenario.
  std::vector<std::string> options;
};

/// An option that is given and that the scenario would ignore; empty: none.
std::string unused_in(const Uses& uses, const SimOptions& options) {
  for (const std::string& one : options.given) {
    if (std::ranges::find(uses.options, one) == uses.options.end()) {
      return one + " has no effect on " + uses.what;
    }
  }
  return {};
}

/// First and last seed of "7" or "0..999".
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_seeds(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  constexpr std::string_view kTo = "..";
  const std::size_t dots = text.find(kTo);
  const auto first = number(text.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number(text.substr(dots + kTo.size()));
  if (!first || !last || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

void print_lines(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

/// A script from a file; with --trace its transcript, else only what went wrong.
int run_script(const SimOptions& options) {
  const auto text = read_text(options.scenario);
  if (!text.ok()) {
    return fail(
        "no scenario '" + options.scenario +
            "': neither churn, churn-small, drawn, barred, relays, stopped, deaths, mesh or costs, "
            "nor a file (" +
            text.error().what + ")",
        kUsage);
  }
  const Uses uses{"a scenario file, which says everything", {"--trace", "--wire"}};
  if (const std::string unused = unused_in(uses, options); !unused.empty()) {
    return fail(options.scenario + ": " + unused, kUsage);
  }
  const sim::ScenarioFile file = sim::split_scenario(text.value());
  if (file.script.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(options.scenario + ": the scenario is empty", kUsage);
  }
  const auto outcome = sim::run_scenario(file.script, options.wire);
  if (!outcome.ok()) return fail(options.scenario + ": " + outcome.error().what, kUsage);
  if (options.trace) print_lines(outcome.value().transcript);
  for (const std::string& violation : outcome.value().violations) {
    std::printf("violation: %s\n", violation.c_str());
  }
  if (!outcome.value().violations.empty()) return kFailed;
  const bool differs = !file.transcript.empty() && file.transcript != outcome.value().transcript;
  if (differs) return fail(options.scenario + " goes another way than its transcript; see --trace");
  std::printf("%s: no violation\n", options.scenario.c_str());
  return kOk;
}

struct Totals {
  std::uint64_t runs = 0;
  std::uint64_t bad = 0;
  std::uint64_t verified = 0;
  std::uint64_t moves = 0;
};

/// What most frames carried: a run may go wrong by too much talk.
void print_commonest(const sim::Meter& cost) {
  constexpr std::size_t kShown = 8;
  std::vector<std::pair<std::uint64_t, std::string_view>> kinds;
  for (const auto& [kind, count] : cost.kinds()) kinds.emplace_back(count.messages, kind);
  std::sort(kinds.rbegin(), kinds.rend());
  kinds.resize(std::min(kinds.size(), kShown));
  std::string text;
  for (const auto& [count, kind] : kinds) {
    text += (text.empty() ? "  frames: " : ", ") + std::to_string(count) + " " + std::string(kind);
  }
  std::printf("%s\n", text.c_str());
}

void report(const SimOptions& options, std::uint64_t seed, const sim::Outcome& outcome,
            Totals& totals) {
  const auto& counters = outcome.counters;
  ++totals.runs;
  totals.verified += counters.messages + counters.broadcasts + counters.results;
  totals.moves += counters.moves;
  if (!outcome.violations.empty()) ++totals.bad;
  if (options.trace) print_lines(outcome.transcript);
  constexpr std::uint64_t kNow = 50;
  const bool is_told = options.trace || !outcome.violations.empty() || totals.runs % kNow == 0;
  if (!is_told) return;
  std::printf("seed %llu: %s; %llu machines, %llu left, %llu moves, %llu frames, %.1f s virtual\n",
              static_cast<unsigned long long>(seed), outcome.violations.empty() ? "good" : "BAD",
              static_cast<unsigned long long>(outcome.machines),
              static_cast<unsigned long long>(outcome.left),
              static_cast<unsigned long long>(counters.moves),
              static_cast<unsigned long long>(outcome.cost.all().messages),
              to_ms(outcome.virtual_time) / 1000);
  for (const std::string& violation : outcome.violations) {
    std::printf("  violation: %s\n", violation.c_str());
  }
  if (!outcome.violations.empty()) print_commonest(outcome.cost);
  if (!outcome.waiting.empty()) std::printf("%s", outcome.waiting.c_str());
  std::fflush(stdout);
}

int run_seeds(const SimOptions& options, sim::ChurnOptions run, bool with_deaths) {
  const auto seeds = parse_seeds(options.seeds);
  if (!seeds) return fail("not a seed or a range like 0..999: " + options.seeds, kUsage);
  if (!options.topology.empty()) {
    auto topology = read_topology(options.topology);
    if (!topology.ok()) return fail(topology.error().what, kUsage);
    run.topology = std::move(topology).value();
    if (run.topology->processors() > kSimulatedMost) {
      return fail(options.topology + " has " + std::to_string(run.topology->processors()) +
                      " processors; more than " + std::to_string(kSimulatedMost) +
                      " are not simulated",
                  kUsage);
    }
  }
  run.keeps_lines = options.trace;
  run.wire = options.wire;
  Totals totals;
  Progress progress;
  for (std::uint64_t seed = seeds->first;; ++seed) {
    progress.begin("seed " + std::to_string(seed) + " of " + options.seeds + " (" +
                   std::to_string(totals.bad) + " bad so far)");
    report(options, seed, with_deaths ? sim::run_deaths(seed, run) : sim::run_churn(seed, run),
           totals);
    if (seed == seeds->second) break;
  }
  std::printf("%llu runs, %llu with violations; %llu deliveries verified, %llu vnodes moved\n",
              static_cast<unsigned long long>(totals.runs),
              static_cast<unsigned long long>(totals.bad),
              static_cast<unsigned long long>(totals.verified),
              static_cast<unsigned long long>(totals.moves));
  return totals.bad == 0 ? kOk : kFailed;
}

/// What is wrong with the options together; empty: nothing. Bounds of costs are for these sizes.
std::string wrong_with(const SimOptions& options) {
  const bool has_costs = options.scenario == "costs";
  const bool has_size = has_costs || options.scenario == "mesh";
  if (!has_size && options.processors != 0) {
    return "--processors is for the scenarios costs and mesh; the others draw how many, or read it "
           "from --topology";
  }
  if (!has_size && options.json) return "--json is for the scenarios costs and mesh";
  const Uses uses{"the scenario " + options.scenario,
                  has_costs ? std::vector<std::string>{} : std::vector<std::string>{kSeedOption}};
  if (has_size) {
    if (std::string unused = unused_in(uses, options); !unused.empty()) return unused;
  }
  if (options.processors == 0) return {};
  if (options.processors > kSimulatedMost) {
    return "--processors: " + std::to_string(options.processors) + "; more than " +
           std::to_string(kSimulatedMost) +
           " are not simulated: 10000 take some 10 GB of memory and ten minutes";
  }
  const bool is_bounded = !has_costs || options.processors == 16 || options.processors >= 64;
  if (options.processors % 4 == 0 && options.processors >= 16 && is_bounded) return {};
  return "--processors: " + std::to_string(options.processors) + "; it has to be " +
         (has_costs ? "16, or a multiple of 4 that is 64 or more"
                    : "a multiple of 4 that is 16 or more");
}

}  // namespace

int simulate(const SimOptions& options) {
  if (const std::string wrong = wrong_with(options); !wrong.empty()) return fail(wrong, kUsage);
  if (options.scenario == "churn") return run_seeds(options, sim::ChurnOptions::full(), false);
  if (options.scenario == "churn-small") {
    return run_seeds(options, sim::ChurnOptions::small(), false);
  }
  if (options.scenario == "costs") return run_costs({options.processors, 1, options.json});
  if (options.scenario == "mesh") {
    const auto seeds = parse_seeds(options.seeds);
    if (!seeds || seeds->first != seeds->second)
      return fail("not a seed: " + options.seeds, kUsage);
    return run_mesh({options.processors, seeds->first, options.json});
  }
  if (options.scenario == "relays") {
    return run_seeds(options, sim::ChurnOptions::relays(), false);
  }
  if (options.scenario == "barred") {
    return run_seeds(options, sim::ChurnOptions::barred(), false);
  }
  if (options.scenario == "drawn") return run_seeds(options, sim::ChurnOptions::drawn(), false);
  if (options.scenario == "stopped") {
    return run_seeds(options, sim::ChurnOptions::stopped(), false);
  }
  if (options.scenario == "deaths") {
    sim::ChurnOptions run = sim::ChurnOptions::stopped();
    run.faults.kills = 1500ms;
    run.faults.losses = 2s;
    return run_seeds(options, run, true);
  }
  return run_script(options);
}

}  // namespace phx::app
