#include "collectives/passed_numbers.h"

#include <algorithm>
#include <iterator>

#include "overlay/base/check.h"

namespace phx::collectives {

PassedNumbers::PassedNumbers(std::size_t targets_max) : targets_max_(targets_max) {
  PHX_CHECK(targets_max > 0);
}

void PassedNumbers::insert(const ReductionId& id, const Passing& passing, ReductionWay way) {
  const auto [at, is_new] = targets_.try_emplace(id.target);
  Target& target = at->second;
  if (!is_new) by_use_.erase(target.used);
  target.used = ++uses_;
  by_use_.emplace(target.used, id.target);
  target.at = passing.at;
  Way& along = target.ways[way];
  along.last_number = id.number;
  along.last = passing;
  if (passing.in_time) along.in_time = passing.at;
  along.greatest.insert(id.number);
  if (along.greatest.size() > kNumbersMax) along.greatest.erase(along.greatest.begin());
  target.numbers.insert(Number{id.number});
  if (target.numbers.ranges().size() > kRangesMax) {
    const auto& ranges = target.numbers.ranges();
    target.numbers.insert({ranges[0].first, ranges[1].last});
  }
  if (targets_.size() > targets_max_) {
    targets_.erase(by_use_.begin()->second);
    by_use_.erase(by_use_.begin());
  }
}

void PassedNumbers::tell(VnodeId target, ProcessorId parent, ReductionWay way) {
  targets_.at(target).ways.at(way).last.told = parent;
}

bool PassedNumbers::contains(const ReductionId& id) const {
  const auto at = targets_.find(id.target);
  return at != targets_.end() && at->second.numbers.contains(Number{id.number});
}

std::optional<Instant> PassedNumbers::first_token(const ReductionId& id) const {
  const auto at = targets_.find(id.target);
  if (at == targets_.end()) return std::nullopt;
  for (const auto& [way, along] : at->second.ways) {
    if (along.last_number == id.number) return along.last.first_token;
  }
  return std::nullopt;
}

const PassedNumbers::Passing* PassedNumbers::last(VnodeId target, ReductionWay way) const {
  const auto at = targets_.find(target);
  if (at == targets_.end()) return nullptr;
  const auto along = at->second.ways.find(way);
  return along == at->second.ways.end() ? nullptr : &along->second.last;
}

std::optional<Instant> PassedNumbers::last_in_time(VnodeId target) const {
  const auto at = targets_.find(target);
  std::optional<Instant> latest;
  if (at == targets_.end()) return latest;
  for (const auto& [way, along] : at->second.ways) {
    if (way != kShortWay && along.in_time)
      latest = std::max(latest.value_or(Instant{}), *along.in_time);
  }
  return latest;
}

std::vector<ReductionWay> PassedNumbers::ways(VnodeId target) const {
  std::vector<ReductionWay> ways;
  const auto at = targets_.find(target);
  if (at == targets_.end()) return ways;
  for (const auto& [way, along] : at->second.ways) ways.push_back(way);
  return ways;
}

std::vector<VnodeId> PassedNumbers::targets_since(Instant from) const {
  std::vector<VnodeId> targets;
  for (auto at = by_use_.rbegin(); at != by_use_.rend(); ++at) {
    if (targets_.at(at->second).at < from) break;
    targets.push_back(at->second);
  }
  return targets;
}

std::vector<ReductionId> PassedNumbers::greatest(VnodeId target, std::uint64_t count,
                                                 ReductionWay way) const {
  std::vector<ReductionId> ids;
  const auto at = targets_.find(target);
  if (at == targets_.end()) return ids;
  const auto along = at->second.ways.find(way);
  if (along == at->second.ways.end()) return ids;
  const std::set<std::uint64_t>& numbers = along->second.greatest;
  const std::size_t skipped = numbers.size() - std::min<std::uint64_t>(count, numbers.size());
  for (auto number = std::next(numbers.begin(), static_cast<std::ptrdiff_t>(skipped));
       number != numbers.end(); ++number) {
    ids.push_back({target, *number});
  }
  return ids;
}

}  // namespace phx::collectives
