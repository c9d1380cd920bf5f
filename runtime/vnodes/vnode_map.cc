#include "runtime/vnodes/vnode_map.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"

namespace phx::runtime {

VnodeMap::VnodeMap(std::uint64_t vnodes, const std::vector<ProcessorId>& processors)
    : vnodes_(vnodes) {
  PHX_CHECK(vnodes > 0 && !processors.empty());
  const std::uint64_t shares = processors.size();
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < shares; ++i) {
    // i * vnodes / shares without overflow: vnodes is far below 2^64 / shares by the limits.
    const std::uint64_t end = (i + 1) * vnodes / shares;
    if (end > first) runs_[first] = Run{end - 1, Owner{processors[i], 1}};
    first = end;
  }
}

VnodeMap::Runs::const_iterator VnodeMap::run_of(std::uint64_t vnode) const {
  PHX_CHECK(vnode < vnodes_);
  return std::prev(runs_.upper_bound(vnode));
}

VnodeMap::Owner VnodeMap::owner(VnodeId vnode) const {
  return run_of(vnode.value)->second.owner;
}

void VnodeMap::split_at(std::uint64_t vnode) {
  if (vnode == 0 || vnode >= vnodes_) return;
  const auto found = runs_.find(vnode);
  if (found != runs_.end()) return;
  auto before = std::prev(runs_.upper_bound(vnode));
  const Run tail = before->second;
  before->second.last = vnode - 1;
  runs_[vnode] = tail;
}

void VnodeMap::merge_around(std::uint64_t first, std::uint64_t last) {
  auto at = runs_.upper_bound(first);
  if (at != runs_.begin()) --at;
  if (at != runs_.begin()) --at;
  while (at != runs_.end() && at->first <= last + 1) {
    const auto next = std::next(at);
    if (next != runs_.end() && next->second.owner == at->second.owner) {
      at->second.last = next->second.last;
      runs_.erase(next);
    } else {
      at = next;
    }
  }
}

VnodeSet VnodeMap::learn(const Route& route) {
  VnodeSet changed;
  for (const auto& range : route.vnodes.ranges()) {
    if (range.first.value >= vnodes_) break;
    const std::uint64_t first = range.first.value;
    const std::uint64_t last = std::min(range.last.value, vnodes_ - 1);
    VnodeSet newer;
    for (auto at = run_of(first); at != runs_.end() && at->first <= last; ++at) {
      if (at->second.owner.second >= route.epoch) continue;
      newer.insert({VnodeId{std::max(at->first, first)}, VnodeId{std::min(at->second.last, last)}});
    }
    for (const auto& part : newer.ranges()) {
      split_at(part.first.value);
      split_at(part.last.value + 1);
      runs_.erase(runs_.find(part.first.value), runs_.upper_bound(part.last.value));
      runs_[part.first.value] = Run{part.last.value, Owner{route.owner, route.epoch}};
      merge_around(part.first.value, part.last.value);
      changed.insert(part);
    }
  }
  return changed;
}

void VnodeMap::even_out(ProcessorId owner, const VnodeSet& vnodes) {
  const VnodeSet owned = owned_by(owner);
  for (const auto& range : owned.ranges()) {
    const VnodeSet whole = VnodeSet::range(range.first, range.last);
    if (whole.common(vnodes).empty()) continue;
    Epoch highest = 0;
    for (auto at = run_of(range.first.value); at != runs_.end() && at->first <= range.last.value;
         ++at) {
      highest = std::max(highest, at->second.owner.second);
    }
    learn({whole, owner, highest});
  }
}

std::vector<ProcessorId> VnodeMap::beside(const VnodeSet::Range& range) const {
  std::vector<ProcessorId> owners;
  const ProcessorId own = run_of(range.first.value)->second.owner.first;
  if (range.first.value > 0) owners.push_back(run_of(range.first.value - 1)->second.owner.first);
  if (range.last.value + 1 < vnodes_) {
    owners.push_back(run_of(range.last.value + 1)->second.owner.first);
  }
  std::erase(owners, own);
  return owners;
}

std::vector<collectives::OwnerGroup> VnodeMap::groups(const VnodeSet& wanted) const {
  std::map<Owner, VnodeSet> grouped;
  for (const auto& range : wanted.ranges()) {
    if (range.first.value >= vnodes_) break;
    const std::uint64_t last = std::min(range.last.value, vnodes_ - 1);
    for (auto at = run_of(range.first.value); at != runs_.end() && at->first <= last; ++at) {
      grouped[at->second.owner].insert({VnodeId{std::max(at->first, range.first.value)},
                                        VnodeId{std::min(at->second.last, last)}});
    }
  }
  std::vector<collectives::OwnerGroup> result;
  result.reserve(grouped.size());
  for (auto& [owner, vnodes] : grouped) {
    result.push_back({owner.first, owner.second, std::move(vnodes)});
  }
  return result;
}

VnodeSet VnodeMap::owned_by(ProcessorId processor) const {
  return owned_by_any(ProcessorSet{processor});
}

VnodeSet VnodeMap::owned_by_any(const ProcessorSet& processors) const {
  VnodeSet result;
  for (const auto& [first, run] : runs_) {
    if (processors.contains(run.owner.first)) result.insert({VnodeId{first}, VnodeId{run.last}});
  }
  return result;
}

std::map<ProcessorId, std::uint64_t> VnodeMap::loads() const {
  std::map<ProcessorId, std::uint64_t> result;
  for (const auto& [first, run] : runs_) result[run.owner.first] += run.last - first + 1;
  return result;
}

std::vector<Route> VnodeMap::routes(const VnodeSet& wanted) const {
  std::vector<Route> result;
  for (auto& group : groups(wanted)) {
    result.push_back({std::move(group.vnodes), group.owner, group.epoch});
  }
  return result;
}

VnodeSet VnodeMap::all() const {
  return VnodeSet::range(VnodeId{0}, VnodeId{vnodes_ - 1});
}

void VnodeMap::check_invariants() const {
  std::uint64_t next = 0;
  for (const auto& [first, run] : runs_) {
    PHX_CHECK(first == next && run.last >= first && run.owner.second > 0);
    next = run.last + 1;
  }
  PHX_CHECK(next == vnodes_);
}

}  // namespace phx::runtime
