#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/result.h"

namespace phx::planners {

/// Who passes the message on to whom.
struct Edge {
  ProcessorId from;
  ProcessorId to;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// A tree as its edges: a parent comes before its children, and children in the order of serving.
using PlannedTree = std::vector<Edge>;

/// A byte of a message, by its offset; sets of them are few ranges.
struct ByteTag {
  static constexpr char kLetter = 'b';
};
using ByteSet = IntervalSet<StrongId<ByteTag>>;
/// A message without bytes is sent, too: it counts as one byte here.
[[nodiscard]] ByteSet byte_range(std::uint64_t offset, std::uint64_t bytes);

/// Some bytes of the message go from one processor to another, as soon as the first has them all
/// and what it was to send before has been handed to its network.
struct Transfer {
  ProcessorId from;
  ProcessorId to;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  ///< Not 0, but of a message without bytes.
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// How one message gets from its root to all others: along trees, or as a schedule of transfers.
/// A value. Reductions go the same ways in reverse.
struct Plan {
  std::string_view algorithm = {};  ///< Its name in all_planners(); a literal.
  ProcessorId root = kNobody;
  std::uint64_t bytes = 0;  ///< Of the message that it was made for.
  /// Segment k goes along tree k mod trees.size(), cut through. A chain is a tree.
  std::vector<PlannedTree> trees = {};
  std::uint64_t segment_bytes = 0;  ///< 0: the message is not cut.
  /// Not empty: instead of trees. A transfer comes behind those that bring what it sends.
  std::vector<Transfer> transfers = {};
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// kBadInput: what keeps the message from reaching each of `members` once (trees), or wholly
/// (transfers), or from being sent only by those who have it.
[[nodiscard]] Status validate(const Plan& plan, const ProcessorSet& members);

/// The plan as trees, for those who know nothing else: a schedule becomes one tree for each part of
/// the message that takes its own way. What comes twice to a processor is left out.
struct PlanTrees {
  std::vector<PlannedTree> trees;
  std::uint64_t segment_bytes = 0;  ///< As in Plan; of a schedule, its longest part.
};
/// REQUIRES a valid plan.
[[nodiscard]] PlanTrees trees_of(const Plan& plan);

/// The looks of one tree.
struct TreeShape {
  std::size_t depth = 0;   ///< Edges from the root to the farthest processor.
  std::size_t degree = 0;  ///< Most children of one processor.
  friend bool operator==(const TreeShape&, const TreeShape&) = default;
};
/// REQUIRES a valid tree.
[[nodiscard]] TreeShape shape_of(const PlannedTree& tree, ProcessorId root);

}  // namespace phx::planners
