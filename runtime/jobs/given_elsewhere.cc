#include "runtime/jobs/given_elsewhere.h"

#include <cstddef>

namespace phx::runtime {

std::map<VnodeId, std::uint64_t> next_numbers_of(const VnodeBundle& bundle, std::uint64_t line) {
  std::map<VnodeId, std::uint64_t> numbers = bundle.reductions;
  for (const auto& [target, given] : bundle.to_targets) {
    if (given.first == kFlowClosed) continue;
    numbers[target] = given.line < line ? given.first : given.emitted;
  }
  return numbers;
}

void add_given(const VnodeBundle& bundle, const std::map<VnodeId, std::uint64_t>& next_numbers,
               GivenElsewhere& given) {
  for (const auto& [target, next] : next_numbers) {
    if (next == 0) continue;
    given.try_emplace({target, next - 1}, collectives::kShortWay);
    const auto kept = bundle.to_targets.find(target);
    if (kept == bundle.to_targets.end()) continue;
    const auto& [first, emitted, line, values] = kept->second;
    for (std::uint64_t number = first; number < next && number - first < values.size(); ++number) {
      const Contributed::One& one = values[static_cast<std::size_t>(number - first)];
      given[{target, number}] = collectives::way_of(number, one.size, one.kind.ordered);
    }
  }
}

}  // namespace phx::runtime
