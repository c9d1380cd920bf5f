#include <cstdio>
#include <map>
#include <memory>
#include <thread>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/bench/bench_job.h"
#include "apps/phoenix/bench/round_report.h"
#include "apps/phoenix/jobs/child.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/progress.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/texts/amounts.h"

namespace phx::app {
namespace {

constexpr std::chrono::milliseconds kBetween{500};  ///< Two changes of who takes part.
constexpr std::uint64_t kVnodesEach = 4;            ///< While they move.

struct RoundOptions {
  std::uint32_t processors = 8;
  std::vector<std::string> sizes = {"1", "24", "1K", "32K", "1M"};
  int rounds = 0;
  std::uint64_t seed = 1;
  bool has_receivers = false;
  double moving_s = 0;
  bool json = false;
};

/// Of pieces of broadcasts at all daemons since their start: vnodes that got one from a tree, and
/// past all trees. Those of daemons that have left count, too, as far as they were asked.
class Copies {
 public:
  Status look(const std::string& mesh) {
    auto session = connect(mesh);
    if (!session.ok()) return session.error();
    const auto status = ask_status(session.value());
    if (!status.ok()) return status.error();
    for (const auto& [id, processor] : processors_of(status.value())) known_[id] = processor;
    return success();
  }
  /// Since then, in percent of all.
  [[nodiscard]] double past_percent(const Copies& before) const {
    double along = 0;
    double past = 0;
    for (const auto& [id, now] : known_) {
      const auto then = before.known_.find(id);
      along += now.along - (then == before.known_.end() ? 0 : then->second.along);
      past += now.past - (then == before.known_.end() ? 0 : then->second.past);
    }
    return along + past > 0 ? 100 * past / (along + past) : 0;
  }

 private:
  struct Counts {
    double along = 0;
    double past = 0;
  };
  static std::map<ProcessorId, Counts> processors_of(const runtime::StatusReply& status) {
    std::map<ProcessorId, Counts> all;
    for (const auto& processor : status.processors) {
      Counts& counts = all[processor.id];
      for (const auto& [name, value] : processor.counters) {
        if (name == "copies-along-trees") counts.along = static_cast<double>(value);
        if (name == "copies-past-trees") counts.past = static_cast<double>(value);
      }
    }
    return all;
  }
  std::map<ProcessorId, Counts> known_;
};

Status measure_still(const RoundOptions& options, const BenchMesh& mesh, std::uint64_t bytes,
                     RoundReport& report) {
  Copies before;
  Copies after;
  if (const Status status = before.look(mesh.name()); !status.ok()) return status;
  std::vector<std::string> arguments = {"round", "--bytes=" + std::to_string(bytes),
                                        "--rounds=" + std::to_string(options.rounds),
                                        "--seed=" + std::to_string(options.seed)};
  if (options.has_receivers) arguments.emplace_back("--receivers");
  auto said = mesh.run(options.processors, arguments, false);
  if (!said.ok()) return said.error();
  if (const Status status = after.look(mesh.name()); !status.ok()) return status;
  report.add(bytes, "in-turn", said.value());
  report.add(bytes, "at-random", said.value());
  report.tell_past(after.past_percent(before));
  return success();
}

/// What the job says is taken meanwhile, or it would wait for that in the middle of a round.
Status drain_one(const BenchMesh& mesh, ProcessorId id, BenchJob& job) {
  auto child = Child::start({"drain", "--mesh", mesh.name(), "p" + std::to_string(id.value)});
  if (!child.ok()) return child.error();
  while (child.value().take([](const std::string&) {})) {
    static_cast<void>(job.has_ended());
    if (bench_is_interrupted()) return bench_interrupted();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (child.value().exit_code() == 0) return success();
  return Error{ErrorCode::kUnavailable, "drain: " + child.value().last_line()};
}

Status pause_beside(BenchJob& job) {
  const double end = bench_clock_s() + std::chrono::duration<double>(kBetween).count();
  while (bench_clock_s() < end && !job.has_ended()) {
    if (const Status paused = bench_pause(kBetween / 20); !paused.ok()) return paused;
  }
  return success();
}

/// Daemons come, and the last one that came leaves, until the time is up.
Status change_members(const RoundOptions& options, const BenchMesh& mesh, BenchJob& job,
                      Copies& copies) {
  const double end = bench_clock_s() + options.moving_s;
  while (bench_clock_s() < end && !job.has_ended()) {
    if (const auto added = mesh.add_one(); !added.ok()) return added.error();
    if (const Status paused = pause_beside(job); !paused.ok()) return paused;
    if (const Status status = copies.look(mesh.name()); !status.ok()) return status;
    auto session = connect(mesh.name());
    if (!session.ok()) return session.error();
    const auto status = ask_status(session.value(), /*ask_all=*/false);
    if (!status.ok()) return status.error();
    const ProcessorId last = status.value().view.members.last();
    if (const Status drained = drain_one(mesh, last, job); !drained.ok()) return drained;
    if (const Status paused = pause_beside(job); !paused.ok()) return paused;
  }
  return copies.look(mesh.name());
}

Status measure_moving(const RoundOptions& options, const BenchMesh& mesh, std::uint64_t bytes,
                      RoundReport& report) {
  Copies before;
  if (const Status status = before.look(mesh.name()); !status.ok()) return status;
  auto job =
      BenchJob::start_in(mesh.name(), kVnodesEach * options.processors,
                         {"round", "--bytes=" + std::to_string(bytes)}, {.until_told = true});
  if (!job.ok()) return job.error();
  Copies copies = before;
  const Status changed = change_members(options, mesh, job.value(), copies);
  if (!changed.ok()) return changed;
  const auto said = job.value().finish();
  if (!said.ok()) return said.error();
  report.add(bytes, "moving", said.value());
  report.tell_past(copies.past_percent(before));
  return success();
}

Status measure_all(const RoundOptions& options, const std::vector<std::uint64_t>& sizes,
                   RoundReport& report) {
  Progress progress;
  progress.begin("a mesh and its network");
  const auto mesh = BenchMesh::start(options.processors);
  if (!mesh.ok()) return mesh.error();
  if (const Status learned = bench_pause(kBenchLearnTime); !learned.ok()) return learned;
  for (const std::uint64_t bytes : sizes) {
    progress.begin("rounds of " + spell_bytes(bytes));
    const Status still = measure_still(options, mesh.value(), bytes, report);
    if (!still.ok()) return still;
    if (options.moving_s <= 0) continue;
    progress.begin("rounds of " + spell_bytes(bytes) + " while daemons come and go");
    const Status moving = measure_moving(options, mesh.value(), bytes, report);
    if (!moving.ok()) return moving;
  }
  return success();
}

int bench_round(const RoundOptions& options) {
  std::vector<std::uint64_t> sizes;
  for (const std::string& size : options.sizes) {
    const auto bytes = parse_size(size);
    if (!bytes) return fail("not a size like 100, 64K or 4M (at most 1024M): " + size, kUsage);
    sizes.push_back(*bytes);
  }
  const Interrupts interrupts;
  RoundReport report;
  const Status status = measure_all(options, sizes, report);
  if (status.ok() || !report.is_empty()) {
    std::fputs((options.json ? report.json() : report.table()).c_str(), stdout);
  }
  return status.ok() ? kOk : fail_bench(status.error());
}

}  // namespace

void add_bench_round(const options::Parser& bench, Action& chosen) {
  auto options = std::make_shared<RoundOptions>();
  const options::Parser verb = bench.add_subcommand(
      "round", "Broadcast Round: broadcasts from each process in turn, with and without overlap");
  verb.add_option("-n", options->processors, "So many processes, one per daemon")
      .check(options::range(2, 256))
      .capture_default_str();
  verb.add_option("--bytes", options->sizes, "Sizes: 100, 64K, 4M").delimiter(',');
  verb.add_option("--rounds", options->rounds,
                  "So many (default: as many as make 50 broadcasts or more)")
      .check(options::range(1, 100000));
  verb.add_option("--seed", options->seed, "Of the random order of roots").capture_default_str();
  verb.add_flag("--receivers", options->has_receivers,
                "Each receiver alone, too (V3): a broadcast for each pair");
  verb.add_option("--moving", options->moving_s,
                  "And for so many seconds while daemons come and go, with 4 vnodes each")
      .check(options::range(0.0, 1e5));
  verb.add_flag("--json", options->json, "Machine-readable result, in seconds");
  verb.footer(
      "A private mesh on this machine. BR: rounds without a wait in between, the longest time of\n"
      "all processes, per broadcast. V2: until the root has heard by a reduction that all have "
      "it,\n"
      "without the time of that; median and most. '< 0.12': below the noise, by which the times "
      "of\n"
      "the reduction alone differ; so it has no ratio. V3: of each receiver alone, the longest;\n"
      "median of all roots. BR/V2 far below 1: broadcasts of several roots overlapped. Past "
      "trees:\n"
      "vnodes to which no tree led, in one job, so of both orders together.");
  verb.callback([options, &chosen] { chosen = [options] { return bench_round(*options); }; });
}

}  // namespace phx::app
