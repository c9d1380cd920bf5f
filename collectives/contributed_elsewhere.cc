#include "collectives/contributed_elsewhere.h"

#include <algorithm>

namespace phx::collectives {

void ContributedElsewhere::on_arrived(VnodeId vnode,
                                      const std::map<VnodeId, std::uint64_t>& next_numbers) {
  for (const auto& [target, next] : next_numbers) {
    const auto of_target = first_here_.find(target);
    const bool is_known = of_target != first_here_.end() && of_target->second.count(vnode) > 0;
    if (!is_known && size_ >= kEntriesMax) *this = {};
    if (!is_known) ++size_;
    first_here_[target][vnode] = next;
  }
}

void ContributedElsewhere::on_passed(const ReductionId& id) {
  const auto of_target = first_here_.find(id.target);
  if (of_target == first_here_.end()) return;
  size_ -= std::erase_if(of_target->second,
                         [&](const auto& entry) { return entry.second <= id.number; });
  if (of_target->second.empty()) first_here_.erase(of_target);
}

bool ContributedElsewhere::covers(const ReductionId& id, const VnodeSet& missing) const {
  const auto of_target = first_here_.find(id.target);
  if (of_target == first_here_.end() || missing.size() > of_target->second.size()) return false;
  const auto ids = missing.ids();
  return std::all_of(ids.begin(), ids.end(), [&](VnodeId vnode) {
    const auto first = of_target->second.find(vnode);
    return first != of_target->second.end() && first->second > id.number;
  });
}

}  // namespace phx::collectives
