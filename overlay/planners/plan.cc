#include "overlay/planners/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "overlay/base/check.h"

namespace phx::planners {
namespace {

Error bad(std::string what) {
  return Error{ErrorCode::kBadInput, std::move(what)};
}

Status validate_tree(const PlannedTree& tree, ProcessorId root, const ProcessorSet& members) {
  std::set<ProcessorId> reached{root};
  for (const Edge& edge : tree) {
    if (!members.contains(edge.to)) return bad(to_string(edge.to) + " is no member");
    if (!reached.contains(edge.from)) {
      return bad(to_string(edge.from) + " sends before it has anything");
    }
    if (!reached.insert(edge.to).second) return bad(to_string(edge.to) + " has two parents");
  }
  if (reached.size() != members.size()) return bad("a tree does not reach everybody");
  return success();
}

Status validate_transfers(const Plan& plan, const ProcessorSet& members) {
  const ByteSet whole = byte_range(0, plan.bytes);
  std::map<ProcessorId, ByteSet> have{{plan.root, whole}};
  for (const Transfer& transfer : plan.transfers) {
    const ByteSet moved = byte_range(transfer.offset, transfer.bytes);
    if (!members.contains(transfer.to)) return bad(to_string(transfer.to) + " is no member");
    if (!whole.contains_all(moved)) return bad("bytes that the message does not have");
    if (!have[transfer.from].contains_all(moved)) {
      return bad(to_string(transfer.from) + " sends what it does not have");
    }
    ByteSet& there = have[transfer.to];
    there = there.united(moved);
  }
  for (const ProcessorId member : members.ids()) {
    if (have[member] != whole) return bad(to_string(member) + " does not get everything");
  }
  return success();
}

/// The places at which the message must be cut so that each part goes one way.
std::vector<std::uint64_t> cuts_of(const Plan& plan) {
  std::set<std::uint64_t> cuts{0};
  for (const Transfer& transfer : plan.transfers) {
    cuts.insert(transfer.offset);
    if (transfer.offset + transfer.bytes < plan.bytes)
      cuts.insert(transfer.offset + transfer.bytes);
  }
  return {cuts.begin(), cuts.end()};
}

}  // namespace

ByteSet byte_range(std::uint64_t offset, std::uint64_t bytes) {
  using Byte = StrongId<ByteTag>;
  return ByteSet::range(Byte{offset}, Byte{offset + std::max<std::uint64_t>(bytes, 1) - 1});
}

Status validate(const Plan& plan, const ProcessorSet& members) {
  if (!members.contains(plan.root)) return bad(to_string(plan.root) + " is no member");
  if (!plan.transfers.empty()) return validate_transfers(plan, members);
  if (plan.trees.empty()) return bad("neither trees nor transfers");
  for (const PlannedTree& tree : plan.trees) {
    if (const Status status = validate_tree(tree, plan.root, members); !status.ok()) return status;
  }
  return success();
}

PlanTrees trees_of(const Plan& plan) {
  if (plan.transfers.empty()) return {plan.trees, plan.segment_bytes};
  const std::vector<std::uint64_t> cuts = cuts_of(plan);
  PlanTrees result;
  result.trees.resize(cuts.size());
  std::vector<std::set<ProcessorId>> reached(cuts.size(), {plan.root});
  for (const Transfer& transfer : plan.transfers) {
    const auto first = std::lower_bound(cuts.begin(), cuts.end(), transfer.offset);
    for (auto cut = first; cut != cuts.end(); ++cut) {
      if (*cut >= transfer.offset + std::max<std::uint64_t>(transfer.bytes, 1)) break;
      const auto at = static_cast<std::size_t>(cut - cuts.begin());
      if (!reached[at].insert(transfer.to).second) continue;
      result.trees[at].push_back({transfer.from, transfer.to});
    }
  }
  for (std::size_t i = 0; i < cuts.size() && cuts.size() > 1; ++i) {
    const std::uint64_t end = i + 1 < cuts.size() ? cuts[i + 1] : plan.bytes;
    result.segment_bytes = std::max(result.segment_bytes, end - cuts[i]);
  }
  return result;
}

TreeShape shape_of(const PlannedTree& tree, ProcessorId root) {
  TreeShape shape;
  std::map<ProcessorId, std::size_t> depths{{root, 0}};
  std::map<ProcessorId, std::size_t> degrees;
  for (const Edge& edge : tree) {
    const auto above = depths.find(edge.from);
    PHX_CHECK(above != depths.end());
    const std::size_t depth = above->second + 1;
    depths[edge.to] = depth;
    shape.depth = std::max(shape.depth, depth);
    shape.degree = std::max(shape.degree, ++degrees[edge.from]);
  }
  return shape;
}

}  // namespace phx::planners
