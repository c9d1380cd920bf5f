#include "collectives/redistribution/known_ways.h"

namespace phx::redistribution {
namespace {

constexpr std::uint64_t kGigabit = 125'000'000;

/// What is not known, and what is not to be the narrow place.
std::uint64_t usual(const std::optional<std::uint64_t>& rate) {
  return rate.value_or(kGigabit);
}

}  // namespace

Ways ways_between(const overlay::KnownNetwork& network,
                  const std::vector<ProcessorId>& processors) {
  Ways ways;
  ways.sites = network.sites.size() + 1;
  for (const ProcessorId id : processors) {
    const auto [overhead, out, in, wait] = network.ability(id);
    const std::size_t site = network.site_of(id).value_or(network.sites.size());
    ways.processors.push_back({site, usual(out), usual(in)});
  }
  ways.between.resize(ways.sites * ways.sites);
  for (std::size_t i = 0; i < network.sites.size(); ++i) {
    ways.between[i * ways.sites + i].latency = network.sites[i].latency.value_or(Duration{});
  }
  for (const auto& [ends, way] : network.between) {
    ways.between[ends.first * ways.sites + ends.second] = {usual(way.bytes_per_second),
                                                           way.latency.value_or(Duration{})};
  }
  return ways;
}

}  // namespace phx::redistribution
