#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/jobs/child.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"

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
  int rounds = 2;
  bool json = false;
};

/// Until all vnodes of the one job are held.
Status wait_until_held(const BenchMesh& mesh, std::uint64_t vnodes) {
  for (const double end = bench_clock_s() + kReadyMostS; bench_clock_s() < end;) {
    auto session = connect(mesh.name());
    if (!session.ok()) return session.error();
    const auto status = ask_status(session.value());
    if (!status.ok()) return status.error();
    std::uint64_t held = 0;
    for (const auto& processor : status.value().processors) {
      for (const auto& job : processor.jobs) {
        if (job.stage == runtime::Stage::kAttached) held += job.held.size();
      }
    }
    if (held == vnodes) return success();
    std::this_thread::sleep_for(kLookAtHeld);
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
  const std::string until = mesh.value().file("enough");
  auto job = std::async(std::launch::async, [&] {
    return mesh.value().run(vnodes,
                            {"states", "--bytes=" + std::to_string(bytes), "--until=" + until});
  });
  const Status held = wait_until_held(mesh.value(), vnodes);
  std::this_thread::sleep_for(kReadyTime);
  auto took = held.ok() ? drain_half(mesh.value(), options.processors) : held.error();
  std::ofstream(until).close();
  const auto said = job.get();
  if (!said.ok()) return said.error();
  if (!said.value().contains("states-right")) {
    return Error{ErrorCode::kNotFound, "nothing was said of the states"};
  }
  return took;
}

int bench_drain(const DrainBench& options) {
  const auto bytes = parse_size(options.bytes);
  if (!bytes) {
    return fail("not a size like 100, 64K or 4M (at most 1024M): " + options.bytes, kUsage);
  }
  std::map<std::uint32_t, std::vector<double>> times;
  for (int round = 0; round < options.rounds; ++round) {
    for (const std::uint32_t receivers : options.receivers) {
      std::fprintf(stderr, "round %d, %s ...\n", round + 1,
                   receivers == 0 ? "all receivers at once"
                                  : (std::to_string(receivers) + " at once").c_str());
      const auto took = measure_drain(options, *bytes, receivers);
      if (!took.ok()) return fail(took.error().what);
      times[receivers].push_back(took.value());
    }
  }
  Table table({"RECEIVERS AT ONCE", "LEAST S", "MEDIAN S", "MOST S", "MB/S"});
  nlohmann::json list = nlohmann::json::array();
  for (auto& [receivers, all] : times) {
    std::sort(all.begin(), all.end());
    const double median = all[all.size() / 2];
    table.add({receivers == 0 ? "all" : std::to_string(receivers), spell_fixed(all.front(), 2),
               spell_fixed(median, 2), spell_fixed(all.back(), 2),
               spell_fixed(static_cast<double>(*bytes) / 2 / median / 1e6, 0)});
    list.push_back({{"receivers", receivers}, {"times", all}, {"bytes", *bytes}});
  }
  std::fputs(options.json ? (list.dump(2) + "\n").c_str() : table.text().c_str(), stdout);
  return kOk;
}

}  // namespace

void add_bench_drain(CLI::App& bench, Action& chosen) {
  auto options = std::make_shared<DrainBench>();
  CLI::App* verb = bench.add_subcommand(
      "drain", "Time until half of the processors have left, with much state in their vnodes");
  verb->add_option("-n", options->processors, "So many daemons")
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  verb->add_option("--vnodes-each", options->vnodes_each, "Vnodes per daemon")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  verb->add_option("--bytes", options->bytes, "State of all vnodes together")
      ->capture_default_str();
  verb->add_option("--receivers", options->receivers,
                   "Vnodes go from each leaver to so many others at once, each in turn; 0: to all")
      ->delimiter(',')
      ->capture_default_str();
  verb->add_option("--rounds", options->rounds, "So often each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Machine-readable result, in seconds");
  verb->footer(
      "Private meshes on this machine, in turn. At the end the job compares each byte of each\n"
      "state with what it was.");
  verb->callback([options, &chosen] { chosen = [options] { return bench_drain(*options); }; });
}

}  // namespace phx::app
