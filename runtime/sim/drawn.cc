#include "runtime/sim/drawn.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "overlay/base/rng.h"

namespace phx::sim {
namespace {

constexpr std::uint64_t kBytesPerMbit = 125'000;

/// From `least` to 100 Mbit/s, small ones as often as large ones.
std::uint64_t draw_rate(Rng& rng, std::uint64_t least) {
  constexpr std::uint64_t kSteps[] = {1, 2, 4, 10, 20};
  const std::uint64_t step = kSteps[rng.below(std::size(kSteps))];
  return kBytesPerMbit * std::min<std::uint64_t>(least * step, 100);
}

Duration draw_ms(Rng& rng, std::uint64_t least, std::uint64_t most) {
  return std::chrono::milliseconds(least + rng.below(most - least + 1));
}

overlay::Topology draw_topology(Rng& rng) {
  // Of each pair 64 KiB may be on a way [ChannelOptions::share_min]: 36 pairs share a link.
  constexpr std::uint64_t kLink = 10;
  constexpr std::uint64_t kInterface = 5;
  std::vector<std::uint32_t> sites(2 + rng.below(3));
  for (std::uint32_t& site : sites) site = static_cast<std::uint32_t>(2 + rng.below(3));
  overlay::Topology topology = overlay::Topology::uniform(sites, {});
  for (std::size_t a = 0; a < sites.size(); ++a) {
    for (std::size_t b = a + 1; b < sites.size(); ++b) {
      const overlay::Topology::Link link{draw_ms(rng, 1, 40), draw_rate(rng, kLink)};
      topology.links[a * sites.size() + b] = link;
      topology.links[b * sites.size() + a] = link;
    }
  }
  if (rng.chance(0.5)) topology.interface_bytes_per_second = draw_rate(rng, kInterface);
  return topology;
}

/// Rarer by `times`.
void stretch(FaultOptions& faults, std::int64_t times) {
  for (Duration* mean : {&faults.joins, &faults.drains, &faults.releases, &faults.breaks,
                         &faults.half_opens, &faults.spikes, &faults.slow_downs, &faults.freezes,
                         &faults.partitions, &faults.tool_breaks, &faults.tool_losses}) {
    *mean *= times;
  }
}

}  // namespace

ChurnOptions with_draws(std::uint64_t seed, ChurnOptions options) {
  if (!options.is_drawn) return options;
  Rng rng = Rng(seed).fork("drawn");
  const FaultOptions given = options.faults;
  if (rng.chance(0.75)) {
    options.topology = draw_topology(rng);
    options.workload.output_bytes = 0;  // What each turn writes fills a line of 5 Mbit/s for good.
    options.settles_within = 300s;
    options.stalls_after = 60s;
  }
  WorkloadOptions job = options.workload;
  const std::uint64_t jobs = rng.below(3);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    job.vnodes = 8 + rng.below(options.workload.vnodes);
    job.processors_max = rng.chance(0.5) ? static_cast<std::uint32_t>(1 + rng.below(6)) : 0;
    options.more_jobs.emplace_back(draw_ms(rng, 0, 1500), job);
  }
  // Nothing is used for longer than links, trees and routes are kept for; then all begins again.
  if (rng.chance(0.15)) options.more_jobs.emplace_back(draw_ms(rng, 70'000, 100'000), job);
  if (rng.chance(0.4)) {
    constexpr std::int64_t kTimes = 6;
    stretch(options.faults, kTimes);
    options.workload.lasts = 20s;
    options.faults.partitions = {};  // with what follows, somebody might not be reached at all
    options.faults.members_min = 6;
    if (rng.chance(0.5)) {
      options.faults.bars = 700ms;
    } else {
      options.faults.way_cuts = 2s;
    }
  }
  if (!options.draws_faults) options.faults = given;
  return options;
}

ChurnOptions with_extras(std::uint64_t seed, ChurnOptions options) {
  Rng rng = Rng(seed).fork("extras");
  if (!rng.chance(options.extras_share)) return options;
  constexpr std::size_t kLarge = 2048;  // The largest have five pieces: three in the middle.
  if (rng.chance(0.5)) options.workload.message_bytes = kLarge;
  if (rng.chance(0.5)) return options;
  constexpr std::size_t kOutput = 2000;
  options.faults.tool_breaks = 300ms;
  options.workload.output_bytes = std::max(options.workload.output_bytes, kOutput);
  options.workload.detached = rng.chance(0.25);
  const FaultOptions& faults = options.faults;
  const bool may_die = faults.kills + faults.losses + faults.idle_deaths > Duration{};
  if (may_die || !rng.chance(0.25)) return options;
  options.faults.tool_losses = 1s;
  // Its job waits for it, and then goes on.
  constexpr Duration kWaits = 20s;
  options.settles_within += kWaits;
  options.stalls_after += kWaits;
  return options;
}

}  // namespace phx::sim
