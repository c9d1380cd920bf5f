#include "runtime/vnodes/policy.h"

#include <algorithm>
#include <utility>

#include "runtime/messages/parcels.h"

namespace phx::runtime {

std::uint64_t fair_share(const VnodeMap& map, std::uint64_t ready) {
  return map.vnodes() / std::max<std::uint64_t>(1, ready);
}

Gaps gaps_of(std::uint64_t fair) {
  constexpr std::uint64_t kExact = 8;
  constexpr std::uint64_t kMany = 128;  // Where runs cost more than a few vnodes too many.
  if (fair < kExact) return {};
  const std::uint64_t part = std::max<std::uint64_t>(1, fair / 16);
  return {part, fair < kMany ? part : 2 * part};
}

bool is_short(const Stock& stock, const VnodeMap& map, const Standing& standing) {
  const std::uint64_t fair = fair_share(map, standing.ready.size());
  return stock.own.size() + stock.incoming + gaps_of(fair).far < fair;
}

std::uint64_t gift_max(std::uint64_t available, const Load& theirs, const VnodeMap& map,
                       const Standing& standing) {
  const ProcessorSet sharers = standing.ready.united(ProcessorSet{theirs.processor});
  const std::uint64_t fair = standing.leaving ? 0 : fair_share(map, sharers.size());
  const std::uint64_t most = available > fair ? available - fair : 0;
  if (gaps_of(fair).are_none()) return most;
  // Both end with as much; so whatever is asked for at once, loads come nearer to each other.
  return std::max(most, available > theirs.vnodes ? (available - theirs.vnodes) / 2 : 0);
}

VnodeSet choose(const VnodeSet& available, ProcessorId to, std::uint64_t count,
                const VnodeMap& map) {
  VnodeSet rest = available;
  VnodeSet chosen;
  const auto take = [&](VnodeSet part) {
    rest = rest.minus(part);
    count -= part.size();
    chosen = chosen.united(part);
  };
  // What adjoins the receiver's own lengthens its runs.
  for (const auto& range : available.ranges()) {
    const VnodeSet whole = VnodeSet::range(range.first, range.last);
    const std::uint64_t most = std::min(count, range.size());
    const bool is_after =
        range.first.value > 0 && map.owner(VnodeId{range.first.value - 1}).first == to;
    const bool is_before =
        range.last.value + 1 < map.vnodes() && map.owner(VnodeId{range.last.value + 1}).first == to;
    if (most == 0 || (!is_after && !is_before)) continue;
    take(is_before ? whole.last_ids(most)
                   : VnodeSet::range(range.first, VnodeId{range.first.value + most - 1}));
  }
  // Then whole runs, the longest that fit, and the rest from the end of the longest.
  while (count > 0 && !rest.empty()) {
    const VnodeSet::Range* best = nullptr;
    for (const auto& range : rest.ranges()) {
      const bool fits = range.size() <= count;
      const bool best_fits = best != nullptr && best->size() <= count;
      const bool is_better = best == nullptr || fits != best_fits || range.size() > best->size();
      if (is_better && (fits || !best_fits)) best = &range;
    }
    take(VnodeSet::range(best->first, best->last).last_ids(std::min(count, best->size())));
  }
  return chosen;
}

VnodeSet choose_light(const VnodeSet& available, const Kept& kept, const Load& to,
                      const VnodeMap& map) {
  VnodeSet light = available;
  const std::pair<const VnodeId, std::uint64_t>* least = nullptr;
  for (const auto& one : kept) {
    if (!available.contains(one.first)) continue;
    light.erase(one.first);
    if (one.second > kVnodeKeptMax) continue;
    if (least == nullptr || one.second < least->second) least = &one;
  }
  if (!light.empty() || least == nullptr) return choose(light, to.processor, to.vnodes, map);
  return choose(VnodeSet{least->first}, to.processor, to.vnodes, map);
}

}  // namespace phx::runtime
