#include "collectives/broadcast.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include "overlay/base/check.h"

namespace phx::collectives {
namespace {

using Ranges = std::vector<VnodeSet::Range>;

void append(Ranges& ranges, const VnodeSet& vnodes) {
  ranges.insert(ranges.end(), vnodes.ranges().begin(), vnodes.ranges().end());
}

/// The union. Ranges that come in order are appended, so that the cost is that of sorting; uniting
/// scattered sets one by one would cost the square.
VnodeSet set_of(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  VnodeSet set;
  for (const VnodeSet::Range& range : ranges) set.insert(range);
  return set;
}

/// The first child that has `owner` below it; children.size() if there is none.
std::size_t child_above(ProcessorId self, ProcessorId owner, const TreeView& tree) {
  const auto at = std::find_if(
      tree.children.begin(), tree.children.end(),
      [&](const TreeChild& child) { return child.id != self && child.below.contains(owner); });
  return static_cast<std::size_t>(at - tree.children.begin());
}

void check_partition(const VnodeSet& to_serve, const BroadcastPlan& plan) {
  Ranges all;
  append(all, plan.deliver);
  append(all, plan.unknown);
  for (const BroadcastPlan::Child& child : plan.children) append(all, child.vnodes);
  for (const OwnerGroup& group : plan.rest) append(all, group.vnodes);
  std::uint64_t count = 0;
  for (const VnodeSet::Range& range : all) count += range.size();
  PHX_CHECK(set_of(std::move(all)) == to_serve);  // complete
  PHX_CHECK(count == to_serve.size());            // disjoint
}

/// The tokens of one owner.
struct Share {
  ProcessorId owner;
  std::vector<Tokens> tokens;
};

/// REQUIRES groups of one owner in the order of their epochs.
void add_tokens(std::vector<Tokens>& tokens, OwnerGroup group) {
  if (!tokens.empty() && tokens.back().epoch == group.epoch) {
    tokens.back().vnodes = tokens.back().vnodes.united(group.vnodes);
  } else {
    tokens.push_back({std::move(group.vnodes), group.epoch});
  }
}

/// The first owner of `half` gets the whole half. REQUIRES a half that is not empty.
FallbackPlan::Send delegate(std::span<Share> half, const BroadcastPiece& piece) {
  FallbackPlan::Send send{half.front().owner, FallbackCopy{}};
  send.copy.piece = piece;
  send.copy.mine = std::move(half.front().tokens);
  send.copy.onward.reserve(half.size() - 1);
  for (Share& share : half.subspan(1)) {
    send.copy.onward.push_back({share.owner, std::move(share.tokens)});
  }
  return send;
}

}  // namespace

BroadcastPlan split_tree_copy(ProcessorId self, const VnodeSet& to_serve, const VnodeSet& own,
                              const std::vector<OwnerGroup>& others, const TreeView* tree,
                              std::uint32_t hops_left) {
  BroadcastPlan plan;
  plan.deliver = to_serve.common(own);
  const VnodeSet elsewhere = to_serve.minus(own);
  Ranges known;
  std::vector<Ranges> below(tree == nullptr ? 0 : tree->children.size());
  for (const OwnerGroup& group : others) {
    VnodeSet asked = group.vnodes.common(elsewhere);
    if (asked.empty()) continue;
    append(known, asked);
    const bool in_tree = tree != nullptr && hops_left > 0 && group.owner != self;
    const std::size_t child = in_tree ? child_above(self, group.owner, *tree) : below.size();
    if (child < below.size()) {
      append(below[child], asked);
    } else {
      plan.rest.push_back({group.owner, group.epoch, std::move(asked)});
    }
  }
  for (std::size_t i = 0; i < below.size(); ++i) {
    if (below[i].empty()) continue;
    plan.children.push_back({tree->children[i].id, set_of(std::move(below[i]))});
  }
  plan.unknown = elsewhere.minus(set_of(std::move(known)));
  check_partition(to_serve, plan);
  return plan;
}

FallbackPlan split_fallback(ProcessorId self, std::vector<OwnerGroup> groups,
                            const BroadcastPiece& piece) {
  std::sort(groups.begin(), groups.end(), [](const OwnerGroup& a, const OwnerGroup& b) {
    return std::pair(a.owner, a.epoch) < std::pair(b.owner, b.epoch);
  });
  FallbackPlan plan;
  std::vector<Share> shares;
  for (OwnerGroup& group : groups) {
    PHX_CHECK(group.owner != self);
    if (shares.empty() || shares.back().owner != group.owner) shares.push_back({group.owner, {}});
    add_tokens(shares.back().tokens, std::move(group));
  }
  const std::span<Share> all(shares);
  const std::size_t first_half = (all.size() + 1) / 2;
  if (!all.empty()) plan.sends.push_back(delegate(all.first(first_half), piece));
  if (all.size() > 1) plan.sends.push_back(delegate(all.subspan(first_half), piece));
  return plan;
}

std::vector<OwnerGroup> groups_of(const std::vector<FallbackCopy::Onward>& onward) {
  Ranges all;
  std::uint64_t count = 0;
  for (const FallbackCopy::Onward& share : onward) {
    for (const Tokens& tokens : share.tokens) {
      append(all, tokens.vnodes);
      count += tokens.vnodes.size();
    }
  }
  // Looking for repetitions costs the square of the list, so only a list that has some pays for it.
  const bool repeats = count != set_of(std::move(all)).size();
  std::map<std::pair<ProcessorId, Epoch>, Ranges> grouped;
  VnodeSet seen;
  for (const FallbackCopy::Onward& share : onward) {
    for (const Tokens& tokens : share.tokens) {
      const VnodeSet fresh = repeats ? tokens.vnodes.minus(seen) : tokens.vnodes;
      if (fresh.empty()) continue;
      if (repeats) seen = seen.united(fresh);
      append(grouped[{share.owner, tokens.epoch}], fresh);
    }
  }
  std::vector<OwnerGroup> groups;
  groups.reserve(grouped.size());
  for (auto& [key, ranges] : grouped) {
    groups.push_back({key.first, key.second, set_of(std::move(ranges))});
  }
  return groups;
}

}  // namespace phx::collectives
