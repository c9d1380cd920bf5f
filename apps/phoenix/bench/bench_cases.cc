#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "apps/phoenix/bench/bench.h"
#include "apps/phoenix/bench/bench_calls.h"
#include "apps/phoenix/bench/bench_job.h"

namespace phx::app {
namespace {

using Unit = Figure::Unit;
using Figures = Result<std::vector<Figure>>;

constexpr std::uint32_t kCollectiveDaemons = 16;
constexpr std::uint32_t kManyDaemons = 64;
constexpr double kResidentWanted = 15e6;
constexpr double kIdleWanted = 3;  ///< Percent of one processor, for all 64 daemons together.
constexpr auto kSettleTime = std::chrono::seconds(3);
constexpr double kIdleSeconds = 5;
constexpr std::chrono::seconds kBegun{1};  ///< A job is well under way then.
constexpr std::uint64_t kStreamBytes = std::uint64_t{1} << 30U;
/// Of the round trips; then they are alone until:
constexpr std::chrono::duration<double> kWarmUp{1};
constexpr double kIdleTripsSeconds = 2.8;
constexpr double kCountSeconds = 0.5;
constexpr double kCallsTcp = 2;  ///< One that sends, one that receives.
constexpr const char* kBenchName = "phoenix-bench";

/// The largest value of this name; not a number if there is none.
double most(const Said& said, const std::string& name) {
  const auto found = said.find(name);
  if (found == said.end()) return std::nan("");
  return *std::max_element(found->second.begin(), found->second.end());
}

/// `trip_wanted`, `rate_wanted`: of the ratios to plain TCP.
std::vector<Figure> pair_figures(const Said& said, const std::string& who, double trip_wanted,
                                 double rate_wanted) {
  return {
      {who + ": 1 byte, half round trip",
       most(said, "trip"),
       Unit::kSeconds,
       most(said, "trip-tcp"),
       trip_wanted,
       {}},
      {who + ": one message of 64 MiB",
       most(said, "bulk"),
       Unit::kBytesPerSecond,
       most(said, "bulk-tcp"),
       {},
       0.9},
      {who + ": messages of 64 bytes",
       most(said, "rate"),
       Unit::kPerSecond,
       most(said, "rate-tcp"),
       {},
       rate_wanted},
  };
}

/// Adds what one message costs beside time, while `trips` makes round trips and `involved` are its
/// processes.
Status add_costs(std::vector<Figure>& figures, const std::string& who, Result<BenchJob> trips,
                 const std::function<std::vector<pid_t>()>& involved) {
  if (!trips.ok()) return trips.error();
  if (const Status warm = bench_pause(kWarmUp); !warm.ok()) return warm;
  const auto count = count_calls(involved(), kCountSeconds);
  const auto said = trips.value().finish();
  if (!said.ok()) return said.error();
  const auto begins = said.value().find("trip-begin");
  const auto allocations = said.value().find("trip-allocations");
  if (begins == said.value().end() || allocations == said.value().end()) return success();
  const auto within = !count ? 0 : std::ranges::count_if(begins->second, [&](double at) {
    return at >= count->begin && at < count->end;
  });
  if (within > 0) {
    const double each = static_cast<double>(count->calls) / static_cast<double>(2 * within);
    figures.push_back({who + ": system calls per message", each, Unit::kCount, kCallsTcp, {}, {}});
  }
  figures.push_back({who + ": allocations per message, in both applications",
                     allocations->second.front(), Unit::kCount});
  return success();
}

Figures measure_pair() {
  const auto mesh = BenchMesh::start(2);
  if (!mesh.ok()) return mesh.error();
  mesh.value().bind_to_cpus();
  const auto said = mesh.value().run(2, {"pair"});
  if (!said.ok()) return said.error();
  auto figures = pair_figures(said.value(), "two daemons", 2, 1);
  const auto involved = [&] {
    std::vector<pid_t> processes = mesh.value().daemons();
    for (const pid_t daemon : mesh.value().daemons()) {
      for (const pid_t one : descendants(daemon, kBenchName)) processes.push_back(one);
    }
    return processes;
  };
  auto trips = BenchJob::start_in(mesh.value().name(), 2, {"trips"}, {.until_told = true});
  const Status status = add_costs(figures, "two daemons", std::move(trips), involved);
  if (!status.ok()) return status.error();
  return figures;
}

/// The time that 99 of 100 round trips stay below, of those begun in this span.
double slow_trip(const Said& said, double begin, double end) {
  const auto begins = said.find("trip-begin");
  const auto times = said.find("trip-time");
  if (begins == said.end() || times == said.end()) return std::nan("");
  std::vector<double> within;
  for (std::size_t i = 0; i < begins->second.size(); ++i) {
    if (begins->second[i] >= begin && begins->second[i] < end) within.push_back(times->second[i]);
  }
  if (within.empty()) return std::nan("");
  std::sort(within.begin(), within.end());
  return within[within.size() * 99 / 100];
}

Figures measure_beside() {
  const auto mesh = BenchMesh::start(2);
  if (!mesh.ok()) return mesh.error();
  mesh.value().bind_to_cpus();
  const double begin = bench_clock_s();
  auto trips = BenchJob::start_in(mesh.value().name(), 2, {"trips"}, {.until_told = true});
  if (!trips.ok()) return trips.error();
  if (const Status settled = bench_pause(kSettleTime); !settled.ok()) return settled.error();
  const auto bulk = mesh.value().run(2, {"stream", "--bytes", std::to_string(kStreamBytes)});
  if (!bulk.ok()) return bulk.error();
  const auto said = trips.value().finish();
  if (!said.ok()) return said.error();
  const double from = most(bulk.value(), "stream-begin");
  const double to = most(bulk.value(), "stream-end");
  const double warm = begin + kWarmUp.count();
  const double idle = slow_trip(said.value(), warm, begin + kIdleTripsSeconds);
  const double rate = static_cast<double>(kStreamBytes) / (to - from);
  return std::vector<Figure>{
      {"1 byte, round trip, slowest but 1 %", idle},
      {"the same beside 1 GiB of another pair",
       slow_trip(said.value(), from, to),
       Unit::kSeconds,
       {},
       3 * idle,
       {}},
      {"the 1 GiB meanwhile", rate, Unit::kBytesPerSecond},
  };
}

Figures measure_embedded() {
  auto pair = BenchJob::start_embedded({"pair", "--embedded"}, {});
  if (!pair.ok()) return pair.error();
  const auto said = pair.value().wait();
  if (!said.ok()) return said.error();
  auto figures = pair_figures(said.value(), "daemons inside", 1.3, 2);
  auto trips = BenchJob::start_embedded({"trips", "--embedded"}, {.until_told = true});
  const Status status = add_costs(figures, "daemons inside", std::move(trips),
                                  [] { return descendants(::getpid(), kBenchName); });
  if (!status.ok()) return status.error();
  return figures;
}

Figures measure_collectives() {
  const auto mesh = BenchMesh::start(kCollectiveDaemons);
  if (!mesh.ok()) return mesh.error();
  const auto said = mesh.value().run(kCollectiveDaemons, {"collectives"});
  if (!said.ok()) return said.error();
  return std::vector<Figure>{
      {"16 daemons: broadcast of 1 byte", most(said.value(), "broadcast-1")},
      {"16 daemons: reduction of 1 byte", most(said.value(), "reduce-1")},
      {"16 daemons: broadcast of 1 MiB", most(said.value(), "broadcast-1M")},
      {"16 daemons: reduction of 1 MiB", most(said.value(), "reduce-1M")},
  };
}

Figures measure_mesh() {
  const auto mesh = BenchMesh::start(kManyDaemons);
  if (!mesh.ok()) return mesh.error();
  if (const Status settled = bench_pause(kSettleTime); !settled.ok()) return settled.error();
  const double cpu = mesh.value().cpu_seconds();
  const Status idled = bench_pause(std::chrono::duration<double>(kIdleSeconds));
  if (!idled.ok()) return idled.error();
  const double idle = (mesh.value().cpu_seconds() - cpu) / kIdleSeconds * 100;
  const double resident = mesh.value().resident_bytes();
  const double begin = bench_clock_s();
  const auto said =
      mesh.value().run(kManyDaemons, {"join", "--processors", std::to_string(kManyDaemons)});
  if (!said.ok()) return said.error();
  return std::vector<Figure>{
      {"64 daemons: start-up", mesh.value().start_seconds()},
      {"64 daemons: idle, all together", idle, Unit::kPercent, {}, kIdleWanted, {}},
      {"64 daemons: memory of the largest", resident, Unit::kBytes, {}, kResidentWanted, {}},
      {"64 daemons: a job on all of them", bench_clock_s() - begin},
  };
}

Figures measure_join() {
  const auto mesh = BenchMesh::start(2);
  if (!mesh.ok()) return mesh.error();
  auto job = BenchJob::start_in(mesh.value().name(), 24, {"join", "--processors", "3"}, {});
  if (!job.ok()) return job.error();
  if (const Status begun = bench_pause(kBegun); !begun.ok()) return begun.error();
  const auto begin = mesh.value().add_one();
  if (!begin.ok()) return begin.error();
  const auto said = job.value().wait();
  if (!said.ok()) return said.error();
  return std::vector<Figure>{{"join: from its start to its first vnode",
                              most(said.value(), "first-vnode") - begin.value()}};
}

Figures measure_moves() {
  const auto mesh = BenchMesh::start(2);
  if (!mesh.ok()) return mesh.error();
  const auto said = mesh.value().run(4, {"moves"}, /*balance=*/false);
  if (!said.ok()) return said.error();
  return std::vector<Figure>{
      {"pause of a 1 MiB vnode that moves", most(said.value(), "pause-moved")},
      {"pause of one that does not, meanwhile", most(said.value(), "pause-stayed")},
  };
}

}  // namespace

const std::vector<BenchCase>& bench_cases() {
  static const std::vector<BenchCase> kCases = {
      {"pair", "messages between applications on two daemons", measure_pair},
      {"beside", "round trips of one pair while another one streams", measure_beside},
      {"embedded", "messages between processes with a daemon inside", measure_embedded},
      {"collectives", "broadcast and reduction on 16 daemons", measure_collectives},
      {"mesh", "start, idle load and memory of 64 daemons", measure_mesh},
      {"join", "time until a newcomer works", measure_join},
      {"moves", "pauses while vnodes move", measure_moves},
  };
  return kCases;
}

}  // namespace phx::app
