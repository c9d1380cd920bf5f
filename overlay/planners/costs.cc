#include "overlay/planners/costs.h"

#include <algorithm>
#include <array>
#include <set>

namespace phx::planners {
namespace {

using overlay::KnownNetwork;
using overlay::kUnlimited;

// What is assumed where nothing is known at all: then all processors are alike.
constexpr Duration kAnyLatency = 1ms;
constexpr Duration kAnyOverhead = 5us;

/// The worst of what is known, for what is not.
struct Worst {
  std::optional<Duration> inside;
  std::optional<Duration> between;
  std::optional<Duration> nearest;  ///< The best between sites.
  std::optional<Duration> overhead;
  std::uint64_t rate = kUnlimited;

  void see(const KnownNetwork::Way& way) {
    if (way.latency) {
      between = std::max(between.value_or(*way.latency), *way.latency);
      nearest = std::min(nearest.value_or(*way.latency), *way.latency);
    }
    rate = std::min(rate, way.bytes_per_second.value_or(rate));
  }
  void see(const KnownNetwork::Ability& ability) {
    if (ability.overhead)
      overhead = std::max(overhead.value_or(*ability.overhead), *ability.overhead);
  }
};

Worst worst_of(const KnownNetwork& network) {
  Worst worst;
  for (const auto& site : network.sites) {
    if (site.latency) worst.inside = std::max(worst.inside.value_or(*site.latency), *site.latency);
  }
  for (const auto& [ends, way] : network.between) worst.see(way);
  for (const auto& [ends, way] : network.pairs) worst.see(way);
  worst.see(network.usual);
  for (const auto& [processor, ability] : network.odd) worst.see(ability);
  return worst;
}

std::uint64_t slowest(const KnownNetwork& network,
                      std::optional<std::uint64_t> KnownNetwork::Ability::*side) {
  std::uint64_t least = (network.usual.*side).value_or(kUnlimited);
  for (const auto& [processor, ability] : network.odd) {
    least = std::min(least, (ability.*side).value_or(least));
  }
  return least;
}

}  // namespace

Duration wire_time(std::uint64_t bytes, std::uint64_t bytes_per_second) {
  if (bytes_per_second == kUnlimited) return Duration{};
  constexpr double kNanoseconds = 1e9;
  return Duration{static_cast<Duration::rep>(static_cast<double>(bytes) * kNanoseconds /
                                             static_cast<double>(bytes_per_second))};
}

Costs::Costs(const KnownNetwork& network) : ids_(network.processors().ids()) {
  read_processors(network);
  read_ways(network);
}

void Costs::read_processors(const KnownNetwork& network) {
  const Duration overhead = worst_of(network).overhead.value_or(kAnyOverhead);
  const std::uint64_t out = slowest(network, &KnownNetwork::Ability::out_bytes_per_second);
  const std::uint64_t in = slowest(network, &KnownNetwork::Ability::in_bytes_per_second);
  std::set<ProcessorId> special;
  for (const auto& [processor, ability] : network.odd) special.insert(processor);
  for (const auto& [ends, way] : network.pairs) special.insert({ends.first, ends.second});
  members_.resize(network.sites.size());
  kinds_.resize(network.sites.size());  // Of those who are alike in it.
  processors_.reserve(ids_.size());
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const auto site = network.site_of(ids_[i]);
    const bool is_alike = site && !special.contains(ids_[i]);
    Processor made;
    made.site = static_cast<std::uint32_t>(site.value_or(members_.size()));
    made.kind = static_cast<std::uint32_t>(is_alike ? *site : kinds_.size());
    if (!site) members_.emplace_back();
    if (!is_alike) kinds_.emplace_back();
    const auto ability = network.ability(ids_[i]);
    kinds_[made.kind] = {
        ability.overhead.value_or(overhead), ability.out_bytes_per_second.value_or(out),
        ability.in_bytes_per_second.value_or(in), ability.wait.value_or(Duration{})};
    members_[made.site].push_back(i);
    processors_.push_back(made);
  }
  for (auto& members : members_) members.shrink_to_fit();
}

void Costs::read_ways(const KnownNetwork& network) {
  const Worst worst = worst_of(network);
  const Way unknown{worst.between.value_or(worst.inside.value_or(kAnyLatency)), worst.rate};
  // They are one site because they are near each other.
  const Duration inside = worst.inside.value_or(worst.nearest.value_or(kAnyLatency));
  ways_.assign(members_.size() * members_.size(), unknown);
  for (std::size_t i = 0; i < network.sites.size(); ++i) {
    ways_[i * members_.size() + i] = {network.sites[i].latency.value_or(inside), kUnlimited};
  }
  for (const auto& [ends, way] : network.between) {
    ways_[ends.first * members_.size() + ends.second] = {
        way.latency.value_or(unknown.latency),
        way.bytes_per_second.value_or(unknown.bytes_per_second)};
  }
  for (const auto& [ends, known] : network.pairs) {
    const std::size_t from = *position(ends.first);
    const std::size_t to = *position(ends.second);
    const Way usual = way(from, to);
    pairs_[{from, to}] = {known.latency.value_or(usual.latency),
                          known.bytes_per_second.value_or(usual.bytes_per_second)};
  }
}

std::optional<std::size_t> Costs::position(ProcessorId id) const {
  const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (found == ids_.end() || *found != id) return std::nullopt;
  return static_cast<std::size_t>(found - ids_.begin());
}

const Costs::Way& Costs::way(std::size_t from, std::size_t to) const {
  if (!pairs_.empty()) {
    const auto own = pairs_.find({from, to});
    if (own != pairs_.end()) return own->second;
  }
  return ways_[processors_[from].site * members_.size() + processors_[to].site];
}

Duration Costs::latency(std::size_t from, std::size_t to) const {
  return way(from, to).latency;
}

Duration Costs::longest() const {
  Duration most{};
  for (const Way& way : ways_) most = std::max(most, 2 * way.latency);
  return most;
}

std::uint64_t Costs::rate(std::size_t from, std::size_t to) const {
  return way(from, to).bytes_per_second;
}

Duration Costs::busy(std::size_t i, std::uint64_t bytes) const {
  return std::max(overhead(i), wire_time(bytes, out(i)));
}

Duration Costs::transfer(std::size_t from, std::size_t to, std::uint64_t bytes) const {
  const std::array rates{out(from), rate(from, to), in(to)};
  const std::uint64_t first = std::min(bytes, kNetworkSegment);
  Duration time = overhead(from) + latency(from, to) + overhead(to);
  for (const std::uint64_t each : rates) time += wire_time(first, each);
  // The other segments follow the first one at the pace of the slowest stage.
  return time + wire_time(bytes - first, *std::min_element(rates.begin(), rates.end()));
}

}  // namespace phx::planners
