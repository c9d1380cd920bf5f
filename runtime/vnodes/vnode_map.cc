#include "runtime/vnodes/vnode_map.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"

namespace phx::runtime {

VnodeMap::VnodeMap(std::uint64_t vnodes, const std::vector<ProcessorId>& processors)
    : vnodes_(vnodes) {
  PHX_CHECK(vnodes > 0 && !processors.empty());
  const std::uint64_t shares = processors.size();
  runs_.reserve(std::min(shares, vnodes));
  std::uint64_t first = 0;
  for (std::uint64_t i = 0; i < shares; ++i) {
    // i * vnodes / shares without overflow: vnodes is far below 2^64 / shares by the limits.
    const std::uint64_t end = (i + 1) * vnodes / shares;
    if (end > first) runs_.push_back({first, Owner{processors[i], 1}});
    first = end;
  }
}

VnodeMap::Runs::const_iterator VnodeMap::run_of(std::uint64_t vnode) const {
  PHX_CHECK(vnode < vnodes_);
  return std::prev(std::ranges::upper_bound(runs_, vnode, {}, &Run::first));
}

std::uint64_t VnodeMap::last_of(Runs::const_iterator run) const {
  return std::next(run) == runs_.end() ? vnodes_ - 1 : std::next(run)->first - 1;
}

VnodeMap::Owner VnodeMap::owner(VnodeId vnode) const {
  return run_of(vnode.value)->owner;
}

/// Makes one run of [first, last], and of those beside it that have the same owner and epoch.
void VnodeMap::replace(std::uint64_t first, std::uint64_t last, const Owner& owner) {
  ++changes_;
  const auto before = run_of(first);
  const auto after = run_of(last);
  const Owner follows = after->owner;
  const bool has_rest = last_of(after) > last;
  std::vector<Run> made;
  if (before->first < first) made.push_back(*before);
  const auto begin = runs_.begin() + (before - runs_.cbegin());
  const auto end = runs_.begin() + (after - runs_.cbegin()) + 1;
  const auto add = [&](const Run& run) {
    const bool is_same = made.empty()
                             ? begin != runs_.begin() && std::prev(begin)->owner == run.owner
                             : made.back().owner == run.owner;
    if (!is_same) made.push_back(run);
  };
  add({first, owner});
  if (has_rest) add({last + 1, follows});
  const Owner& left = made.empty() ? std::prev(begin)->owner : made.back().owner;
  const auto past = end != runs_.end() && end->owner == left ? std::next(end) : end;
  const auto at = runs_.erase(begin, past);
  runs_.insert(at, made.begin(), made.end());
}

VnodeSet VnodeMap::learn(const Route& route) {
  VnodeSet changed;
  for (const auto& range : route.vnodes.ranges()) {
    if (range.first.value >= vnodes_) break;
    const std::uint64_t first = range.first.value;
    const std::uint64_t last = std::min(range.last.value, vnodes_ - 1);
    VnodeSet newer;
    for (auto at = run_of(first); at != runs_.end() && at->first <= last; ++at) {
      if (at->owner.second >= route.epoch) continue;
      newer.insert({VnodeId{std::max(at->first, first)}, VnodeId{std::min(last_of(at), last)}});
    }
    const bool concerns_last = last_owned_ && (last_owned_->first == route.owner ||
                                               !newer.common(last_owned_->second).empty());
    if (concerns_last) last_owned_.reset();
    for (const auto& part : newer.ranges()) {
      replace(part.first.value, part.last.value, Owner{route.owner, route.epoch});
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
      highest = std::max(highest, at->owner.second);
    }
    learn({whole, owner, highest});
  }
}

std::vector<ProcessorId> VnodeMap::beside(const VnodeSet::Range& range) const {
  std::vector<ProcessorId> owners;
  const ProcessorId own = run_of(range.first.value)->owner.first;
  if (range.first.value > 0) owners.push_back(run_of(range.first.value - 1)->owner.first);
  if (range.last.value + 1 < vnodes_) {
    owners.push_back(run_of(range.last.value + 1)->owner.first);
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
      grouped[at->owner].insert(
          {VnodeId{std::max(at->first, range.first.value)}, VnodeId{std::min(last_of(at), last)}});
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
  if (!last_owned_ || last_owned_->first != processor) {
    last_owned_.emplace(processor, owned_by_any(ProcessorSet{processor}));
  }
  return last_owned_->second;
}

VnodeSet VnodeMap::owned_by_any(const ProcessorSet& processors) const {
  VnodeSet result;
  for (auto at = runs_.begin(); at != runs_.end(); ++at) {
    if (!processors.contains(at->owner.first)) continue;
    result.insert({VnodeId{at->first}, VnodeId{last_of(at)}});
  }
  return result;
}

std::vector<std::pair<ProcessorId, std::uint64_t>> VnodeMap::loads() const {
  std::vector<std::pair<ProcessorId, std::uint64_t>> result;
  result.reserve(runs_.size());
  for (auto at = runs_.begin(); at != runs_.end(); ++at) {
    result.emplace_back(at->owner.first, last_of(at) - at->first + 1);
  }
  std::sort(result.begin(), result.end());
  std::size_t owners = 0;
  for (const auto& [owner, vnodes] : result) {  // none is written before it was read
    if (owners > 0 && result[owners - 1].first == owner) {
      result[owners - 1].second += vnodes;
    } else {
      result[owners++] = {owner, vnodes};
    }
  }
  result.resize(owners);
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
  PHX_CHECK(!runs_.empty() && runs_.front().first == 0 && runs_.back().first < vnodes_);
  for (auto at = runs_.begin(); at != runs_.end(); ++at) {
    PHX_CHECK(at->owner.second > 0);
    if (at == runs_.begin()) continue;
    PHX_CHECK(std::prev(at)->first < at->first && std::prev(at)->owner != at->owner);
  }
}

}  // namespace phx::runtime
