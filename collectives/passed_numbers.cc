#include "collectives/passed_numbers.h"

#include "overlay/base/check.h"

namespace phx::collectives {

PassedNumbers::PassedNumbers(std::size_t targets_max) : targets_max_(targets_max) {
  PHX_CHECK(targets_max > 0);
}

void PassedNumbers::insert(const ReductionId& id, Instant first_token) {
  const auto [at, is_new] = targets_.try_emplace(id.target);
  Target& target = at->second;
  if (!is_new) by_use_.erase(target.used);
  target.used = ++uses_;
  by_use_.emplace(target.used, id.target);
  target.last = id.number;
  target.first_token = first_token;
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

bool PassedNumbers::contains(const ReductionId& id) const {
  const auto at = targets_.find(id.target);
  return at != targets_.end() && at->second.numbers.contains(Number{id.number});
}

std::optional<Instant> PassedNumbers::first_token(const ReductionId& id) const {
  const auto at = targets_.find(id.target);
  if (at == targets_.end() || at->second.last != id.number) return std::nullopt;
  return at->second.first_token;
}

}  // namespace phx::collectives
