#include "runtime/endpoint/vnode_counts.h"

#include <iterator>

#include "overlay/base/check.h"

namespace phx::runtime {

void VnodeCounts::add(std::uint64_t number, std::uint64_t vnodes) {
  counts_[number] += vnodes;
  total_ += vnodes;
  if (number > middle_) above_ += vnodes;
  find_middle();
}

void VnodeCounts::remove(std::uint64_t number, std::uint64_t vnodes) {
  const auto found = counts_.find(number);
  PHX_CHECK(found != counts_.end() && found->second >= vnodes);
  found->second -= vnodes;
  if (found->second == 0) counts_.erase(found);
  total_ -= vnodes;
  if (number > middle_) above_ -= vnodes;
  find_middle();
}

/// From where it was: the first number, from the highest one on, with which half of them are
/// reached.
void VnodeCounts::find_middle() {
  if (counts_.empty()) {
    middle_ = above_ = 0;
    return;
  }
  auto at = counts_.lower_bound(middle_);  // it, or the next lower number
  if (at == counts_.end()) above_ -= (--at)->second;
  while (at != counts_.begin() && 2 * above_ >= total_) above_ -= (--at)->second;
  for (; 2 * (above_ + at->second) < total_; ++at) above_ += at->second;
  middle_ = at->first;
}

std::uint64_t VnodeCounts::highest() const {
  return counts_.empty() ? 0 : counts_.begin()->first;
}

std::uint64_t VnodeCounts::lowest() const {
  return counts_.empty() ? 0 : counts_.rbegin()->first;
}

}  // namespace phx::runtime
