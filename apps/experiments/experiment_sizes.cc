#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/networks.h"
#include "apps/experiments/size_sweep.h"
#include "apps/phoenix/command_line/verb.h"
#include "apps/phoenix/texts/amounts.h"

namespace phx::app {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGigabit = 125'000'000;

/// Sites on a circle, as far from each other as their places: 2 to 8 ms of round trip, and as fast
/// as in the figures.
overlay::Topology circle(const std::vector<std::uint32_t>& processors) {
  constexpr Duration kNearest = 1ms;
  constexpr Duration kFarther = 3ms;
  overlay::Topology topology = overlay::Topology::uniform(processors, {kNearest, kGigabit});
  const std::size_t count = processors.size();
  for (overlay::Topology::Site& site : topology.sites) site.latency = 150us;
  topology.interface_bytes_per_second = kGigabit;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      const std::size_t steps = std::min((a + count - b) % count, (b + count - a) % count);
      topology.links[a * count + b].latency = kNearest + kFarther *
                                                             static_cast<Duration::rep>(2 * steps) /
                                                             static_cast<Duration::rep>(count);
    }
  }
  return topology;
}

int finish(const ExperimentOptions& options, Progress& progress,
           const std::vector<SweepGround>& grounds) {
  int code = kOk;
  for (const SweepGround& ground : grounds) {
    SizeSweep sweep(ground, options, progress);
    if (const Status status = sweep.run(); !status.ok()) return fail(status.error().what);
    code = std::max(code, show(options, sweep.results()));
    if (grounds.size() > 1) std::printf("\n");
  }
  return code;
}

}  // namespace

int experiment_sizes(const ExperimentOptions& wanted, Progress& progress) {
  ExperimentOptions options = wanted;
  const auto text = topology_text(options.topology);
  if (!text.ok()) return fail(text.error().what, kUsage);
  if (!options.topology.empty()) options.topology_mark = topology_mark(text.value());
  auto topology = topology_of(text.value(), options.topology);
  if (!topology.ok()) return fail(topology.error().what, kUsage);
  if (topology.value().processors() < 2) {
    return fail("--topology " + options.topology + ": collectives of one processor send nothing",
                kUsage);
  }
  SweepGround ground;
  ground.name = "sizes";
  ground.topology = std::move(topology).value();
  ground.is_reduction = options.reduce;
  ground.title = (options.reduce ? "Reductions of " : "Broadcasts to ") +
                 counted(ground.topology.processors(), "processor") + " in " +
                 counted(ground.topology.sites.size(), "site");
  ground.sizes = {1, 64 * kKiB, 256 * kKiB, 1 * kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB};
  ground.plans = {"flat", "binomial", "mpich",    "magpie", "magpie-long",
                  "list", "binary",   "two-tree", "greedy"};
  // Each processor of a reduction has a value of its own.
  ground.own_most = options.reduce ? 8 * kMiB : 64 * kMiB;
  if (ground.topology.processors() > kSimulatedMost) ground.own_most = 0;
  return finish(options, progress, {ground});
}

int experiment_fig7(const ExperimentOptions& options, Progress& progress) {
  SweepGround ground;
  ground.name = "fig7";
  ground.title = "Long broadcasts to 137 processors in 4 sites";
  ground.topology = overlay::Topology::parse(kFourSites).value();
  ground.sizes = {32 * kKiB, 128 * kKiB, 512 * kKiB, 2 * kMiB, 8 * kMiB, 16 * kMiB, 64 * kMiB};
  ground.plans = {"flat",        "binomial", "mpich",  "mpich-ring", "magpie",
                  "magpie-long", "list",     "binary", "two-tree"};
  ground.own_most = 64 * kMiB;
  return finish(options, progress, {ground});
}

int experiment_fig8(const ExperimentOptions& options, Progress& progress) {
  SweepGround ground;
  ground.name = "fig8";
  ground.title = "Reductions of 128 processors in 3 sites";
  ground.topology = overlay::Topology::parse(kThreeSites).value();
  ground.topology.sites[0].processors = ground.topology.sites[1].processors = 43;
  ground.topology.sites[2].processors = 42;
  ground.is_reduction = true;
  ground.sizes = {8, 1 * kKiB, 8 * kKiB, 64 * kKiB, 256 * kKiB, 1 * kMiB, 4 * kMiB, 8 * kMiB};
  ground.plans = {"flat",        "binomial", "mpich",  "mpich-ring", "magpie",
                  "magpie-long", "list",     "binary", "two-tree",   "greedy"};
  ground.own_most = 8 * kMiB;
  return finish(options, progress, {ground});
}

int experiment_scale(const ExperimentOptions& options, Progress& progress) {
  const std::vector<std::string_view> plans = {"flat",   "binomial", "magpie", "list",
                                               "binary", "two-tree", "greedy"};
  constexpr std::uint32_t kEach16 = 64;
  constexpr std::uint32_t kEach4 = 256;
  constexpr std::uint32_t kEachMany = 2500;
  std::vector<SweepGround> grounds(3);
  grounds[0].name = "scale-1024-4";
  grounds[0].title = "Broadcasts to 1,024 processors in 4 sites";
  grounds[0].topology = circle(std::vector<std::uint32_t>(4, kEach4));
  grounds[1].name = "scale-1024-16";
  grounds[1].title = "Broadcasts to 1,024 processors in 16 sites";
  grounds[1].topology = circle(std::vector<std::uint32_t>(16, kEach16));
  grounds[2].name = "scale-10000-4";
  grounds[2].title = "Broadcasts to 10,000 processors in 4 sites, planned";
  grounds[2].topology = circle(std::vector<std::uint32_t>(4, kEachMany));
  for (SweepGround& ground : grounds) {
    ground.sizes = {1, 64 * kKiB, 256 * kKiB, 1 * kMiB};
    ground.plans = plans;
    ground.own_most = 1 * kMiB;
  }
  grounds[2].own_most = 0;
  grounds[2].sizes.pop_back();  // Ten million segments along some plans.
  return finish(options, progress, grounds);
}

}  // namespace phx::app
