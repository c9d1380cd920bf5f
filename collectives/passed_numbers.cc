#include "collectives/passed_numbers.h"

#include "overlay/base/check.h"

namespace phx::collectives {

PassedNumbers::PassedNumbers(std::size_t targets_max) : targets_max_(targets_max) {
  PHX_CHECK(targets_max > 0);
}

void PassedNumbers::insert(const ReductionId& id, const Passing& passing) {
  const auto [at, is_new] = targets_.try_emplace(id.target);
  Target& target = at->second;
  if (!is_new) by_use_.erase(target.used);
  target.used = ++uses_;
  by_use_.emplace(target.used, id.target);
  target.last_number = id.number;
  target.last = passing;
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

void PassedNumbers::tell(VnodeId target, ProcessorId parent) {
  targets_.at(target).last.told = parent;
}

bool PassedNumbers::contains(const ReductionId& id) const {
  const auto at = targets_.find(id.target);
  return at != targets_.end() && at->second.numbers.contains(Number{id.number});
}

std::optional<Instant> PassedNumbers::first_token(const ReductionId& id) const {
  const auto at = targets_.find(id.target);
  if (at == targets_.end() || at->second.last_number != id.number) return std::nullopt;
  return at->second.last.first_token;
}

const PassedNumbers::Passing* PassedNumbers::last(VnodeId target) const {
  const auto at = targets_.find(target);
  return at == targets_.end() ? nullptr : &at->second.last;
}

std::vector<VnodeId> PassedNumbers::targets_since(Instant from) const {
  std::vector<VnodeId> targets;
  for (auto at = by_use_.rbegin(); at != by_use_.rend(); ++at) {
    if (targets_.at(at->second).last.at < from) break;
    targets.push_back(at->second);
  }
  return targets;
}

std::vector<ReductionId> PassedNumbers::greatest(VnodeId target, std::uint64_t count) const {
  std::vector<ReductionId> ids;
  const auto at = targets_.find(target);
  if (at == targets_.end()) return ids;
  for (const Number number : at->second.numbers.last_ids(count).ids()) {
    ids.push_back({target, number.value});
  }
  return ids;
}

}  // namespace phx::collectives
