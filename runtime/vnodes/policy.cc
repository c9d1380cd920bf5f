#include "runtime/vnodes/policy.h"

#include <algorithm>
#include <utility>

#include "runtime/messages/parcels.h"

namespace phx::runtime {

std::uint64_t fair_share(const VnodeMap& map, std::uint64_t ready) {
  return map.vnodes() / std::max<std::uint64_t>(1, ready);
}

std::uint64_t slack_of(std::uint64_t fair) {
  constexpr std::uint64_t kSmall = 8;
  constexpr std::uint64_t kPart = 32;
  return fair < kSmall ? 0 : std::max<std::uint64_t>(1, fair / kPart);
}

namespace {

using Loads = std::vector<std::pair<ProcessorId, std::uint64_t>>;

/// Members that have more than so many vnodes, those with most first.
std::vector<Load> donors(const Loads& loads, std::uint64_t more_than, const Standing& standing) {
  std::vector<Load> donors;
  for (const auto& [processor, load] : loads) {
    if (load > more_than && standing.members.contains(processor)) {
      donors.push_back({load, processor});
    }
  }
  std::sort(donors.begin(), donors.end(), [](const Load& a, const Load& b) {
    return a.vnodes != b.vnodes ? a.vnodes > b.vnodes : a.processor < b.processor;
  });
  return donors;
}

/// Those before a processor that have less than their share, and how much less in all.
struct Ahead {
  std::uint64_t length = 0;
  std::uint64_t missing = 0;
};

/// Many who come together know the same loads; so that they do not all ask the same donor, each
/// leaves to those before it what they will ask for.
Ahead ahead_of(ProcessorId self, std::uint64_t fair, const Loads& loads, const Standing& standing) {
  Ahead ahead;
  auto at = loads.begin();  // Both are in the order of ids.
  for (const ProcessorId id : standing.ready.ids()) {
    if (id == self) break;
    while (at != loads.end() && at->first < id) ++at;
    const std::uint64_t load = at != loads.end() && at->first == id ? at->second : 0;
    if (load >= fair) continue;
    ahead.missing += fair - load;
    ++ahead.length;
  }
  return ahead;
}

/// Shares are small, and exact: what is missing comes from those with most. REQUIRES that `all`
/// have more than their share.
std::vector<Load> wanted_exactly(std::uint64_t missing, std::uint64_t fair, const Ahead& ahead,
                                 const std::vector<Load>& all) {
  std::vector<Load> pulls;
  std::uint64_t surplus = 0;
  for (const Load& donor : all) surplus += donor.vnodes - fair;
  std::uint64_t others = surplus == 0 ? 0 : ahead.missing % surplus;
  for (const Load& donor : all) {
    const std::uint64_t more = donor.vnodes - fair;
    const std::uint64_t taken = std::min(others, more);
    const std::uint64_t count = std::min(missing, more - taken);
    if (count > 0) pulls.push_back({count, donor.processor});
    others -= taken;
    missing -= count;
  }
  return pulls;
}

}  // namespace

bool is_short(const Stock& stock, const VnodeMap& map, const Standing& standing) {
  const std::uint64_t fair = fair_share(map, standing.ready.size());
  return stock.own.size() + stock.incoming + 4 * slack_of(fair) < fair;
}

std::vector<Load> wanted(const Stock& stock, const VnodeMap& map, const Standing& standing) {
  const std::uint64_t fair = fair_share(map, standing.ready.size());
  const std::uint64_t slack = slack_of(fair);
  const std::uint64_t mine = stock.own.size() + stock.incoming;
  const std::uint64_t missing = mine < fair ? fair - mine : 0;
  if (slack == 0 && missing == 0) return {};  // In a large mesh the loads of all are much to ask.
  const Loads loads = map.loads();
  const std::vector<Load> all = donors(loads, slack == 0 ? fair : 0, standing);
  if (slack == 0 && all.empty()) return {};
  const Ahead ahead = ahead_of(stock.self, fair, loads, standing);
  if (slack == 0) return wanted_exactly(missing, fair, ahead, all);
  ProcessorSet beside;
  for (const auto& range : stock.own.ranges()) {
    for (const ProcessorId owner : map.beside(range)) beside.insert(owner);
  }
  std::vector<Load> pulls;
  // Where a border can be moved, no run comes into being. Who is very short takes what it gets.
  const std::uint64_t least = missing > 4 * slack ? slack / 2 + 1 : 2 * slack;
  for (const Load& donor : all) {
    const bool has_more = beside.contains(donor.processor) && donor.vnodes > mine + least;
    if (has_more && pulls.empty()) pulls.push_back({(donor.vnodes - mine) / 2, donor.processor});
  }
  // Elsewhere only if much is missing: it is a run more, and borders that can be moved then.
  const auto poor = std::ranges::find_if(
      all, [&](const Load& donor) { return donor.vnodes <= mine + 2 * slack; });
  const auto rich = static_cast<std::uint64_t>(poor - all.begin());
  if (pulls.empty() && rich > 0 && missing > 4 * slack) {
    const Load& donor = all[ahead.length % rich];
    pulls.push_back({std::min(missing, (donor.vnodes - mine) / 2), donor.processor});
  }
  return pulls;
}

std::uint64_t gift_max(std::uint64_t available, const Load& theirs, const VnodeMap& map,
                       const Standing& standing) {
  const ProcessorSet sharers = standing.ready.united(ProcessorSet{theirs.processor});
  const std::uint64_t fair = standing.leaving ? 0 : fair_share(map, sharers.size());
  const std::uint64_t most = available > fair ? available - fair : 0;
  if (slack_of(fair) == 0) return most;
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
    if (one.second > kVnodeBytesMax) continue;
    if (least == nullptr || one.second < least->second) least = &one;
  }
  if (!light.empty() || least == nullptr) return choose(light, to.processor, to.vnodes, map);
  return choose(VnodeSet{least->first}, to.processor, to.vnodes, map);
}

}  // namespace phx::runtime
