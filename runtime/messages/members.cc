#include "runtime/messages/members.h"

#include <algorithm>

#include "overlay/base/check.h"

namespace phx::runtime {

void Members::put(SharedMember member) {
  const auto at = std::ranges::lower_bound(records_, member.id(), {}, &SharedMember::id);
  if (at != records_.end() && at->id() == member.id()) {
    *at = std::move(member);
    return;
  }
  const auto index = at - records_.begin();
  // A vector would double: in large meshes that is most of what a view costs.
  constexpr std::size_t kLeast = 8;
  if (records_.size() == records_.capacity()) {
    records_.reserve(records_.size() + records_.size() / kLeast + kLeast);
  }
  records_.insert(records_.begin() + index, std::move(member));
}

std::size_t Members::erase(ProcessorId id) {
  const auto at = std::ranges::lower_bound(records_, id, {}, &SharedMember::id);
  if (at == records_.end() || at->id() != id) return 0;
  records_.erase(at);
  return 1;
}

const Member& Members::at(ProcessorId id) const {
  const auto found = find(id);
  PHX_CHECK(found != end());
  return found->second;
}

Members::Iterator Members::find(ProcessorId id) const {
  const auto at = std::ranges::lower_bound(records_, id, {}, &SharedMember::id);
  return at != records_.end() && at->id() == id ? Iterator(at) : end();
}

Members::Iterator Members::lower_bound(ProcessorId id) const {
  return Iterator(std::ranges::lower_bound(records_, id, {}, &SharedMember::id));
}

Members::Iterator Members::upper_bound(ProcessorId id) const {
  return Iterator(std::ranges::upper_bound(records_, id, {}, &SharedMember::id));
}

}  // namespace phx::runtime
