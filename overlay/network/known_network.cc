#include "overlay/network/known_network.h"

namespace phx::overlay {
namespace {

Error bad(std::string what) {
  return Error{ErrorCode::kBadInput, std::move(what)};
}

bool is_possible(const std::optional<Duration>& time) {
  constexpr Duration kMost = std::chrono::hours{1};
  return !time || (*time >= Duration{} && *time <= kMost);
}

bool is_possible(const std::optional<std::uint64_t>& bytes_per_second) {
  return !bytes_per_second || *bytes_per_second > 0;
}

bool is_possible(const KnownNetwork::Way& way) {
  return is_possible(way.latency) && is_possible(way.bytes_per_second);
}

bool is_possible(const KnownNetwork::Ability& ability) {
  return is_possible(ability.overhead) && is_possible(ability.out_bytes_per_second) &&
         is_possible(ability.in_bytes_per_second) && is_possible(ability.wait);
}

std::string pair_name(ProcessorId from, ProcessorId to) {
  return to_string(from) + " to " + to_string(to);
}

}  // namespace

std::optional<std::size_t> KnownNetwork::site_of(ProcessorId processor) const {
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].processors.contains(processor)) return i;
  }
  return std::nullopt;
}

ProcessorSet KnownNetwork::processors() const {
  ProcessorSet all;
  for (const Site& site : sites) all = all.united(site.processors);
  for (const auto& [processor, ability] : odd) all.insert(processor);
  for (const auto& [pair, way] : pairs) {
    all.insert(pair.first);
    all.insert(pair.second);
  }
  return all;
}

KnownNetwork::Way KnownNetwork::way(ProcessorId from, ProcessorId to) const {
  Way result;
  const auto a = site_of(from);
  const auto b = site_of(to);
  if (a && a == b) result = {sites[*a].latency, kUnlimited};
  if (a && b && a != b) {
    const auto found = between.find({*a, *b});
    if (found != between.end()) result = found->second;
  }
  const auto own = pairs.find({from, to});
  if (own == pairs.end()) return result;
  if (own->second.latency) result.latency = own->second.latency;
  if (own->second.bytes_per_second) result.bytes_per_second = own->second.bytes_per_second;
  return result;
}

KnownNetwork::Ability KnownNetwork::ability(ProcessorId processor) const {
  Ability result = usual;
  const auto found = odd.find(processor);
  if (found == odd.end()) return result;
  const Ability& own = found->second;
  if (own.overhead) result.overhead = own.overhead;
  if (own.out_bytes_per_second) result.out_bytes_per_second = own.out_bytes_per_second;
  if (own.in_bytes_per_second) result.in_bytes_per_second = own.in_bytes_per_second;
  if (own.wait) result.wait = own.wait;
  return result;
}

KnownNetwork KnownNetwork::restricted_to(const ProcessorSet& live) const {
  KnownNetwork result;
  result.usual = usual;
  std::map<std::size_t, std::size_t> moved;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    Site site = sites[i];
    site.processors = site.processors.common(live);
    if (site.processors.empty()) continue;
    moved[i] = result.sites.size();
    result.sites.push_back(std::move(site));
  }
  for (const auto& [ends, way] : between) {
    const auto from = moved.find(ends.first);
    const auto to = moved.find(ends.second);
    if (from != moved.end() && to != moved.end()) result.between[{from->second, to->second}] = way;
  }
  for (const auto& [processor, ability] : odd) {
    if (live.contains(processor)) result.odd.emplace(processor, ability);
  }
  for (const auto& [ends, way] : pairs) {
    if (live.contains(ends.first) && live.contains(ends.second)) result.pairs.emplace(ends, way);
  }
  return result;
}

Status KnownNetwork::check() const {
  ProcessorSet seen;
  for (const Site& site : sites) {
    const ProcessorSet twice = seen.common(site.processors);
    if (!twice.empty()) return bad(to_string(twice.front()) + " is in two sites");
    if (!is_possible(site.latency)) {
      return bad("site '" + site.name + "' has an impossible latency");
    }
    seen = seen.united(site.processors);
  }
  for (const auto& [ends, way] : between) {
    if (ends.first >= sites.size() || ends.second >= sites.size() || ends.first == ends.second) {
      return bad("a way between sites has an end that is no other site");
    }
    if (!is_possible(way)) {
      return bad("a way between sites has an impossible latency or no bandwidth");
    }
  }
  for (const auto& [ends, way] : pairs) {
    if (ends.first == ends.second) return bad(pair_name(ends.first, ends.second) + " is no way");
    if (!is_possible(way)) {
      return bad(pair_name(ends.first, ends.second) + ": an impossible latency or no bandwidth");
    }
  }
  if (!is_possible(usual))
    return bad("the usual processor has an impossible overhead or no bandwidth");
  for (const auto& [processor, ability] : odd) {
    if (!is_possible(ability)) {
      return bad(to_string(processor) + " has an impossible overhead or no bandwidth");
    }
  }
  return success();
}

std::uint64_t coarse_rate(std::uint64_t rate) {
  if (rate > kFastestMeasured) return rate;
  std::uint64_t step = kGigabit;
  while (10 * rate >= 14 * step) step *= 2;
  while (10 * rate < 7 * step && step > 1) step /= 2;
  return step;
}

}  // namespace phx::overlay
