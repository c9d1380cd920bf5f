#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "overlay/planners/costs.h"
#include "overlay/planners/plan.h"
#include "overlay/planners/planners.h"

/// What several planners share: orders of processors, and trees over positions.
namespace phx::planners {

/// As an Edge, of positions.
using Link = std::pair<std::size_t, std::size_t>;
using Links = std::vector<Link>;
using Positions = std::vector<std::size_t>;

/// 0, 1, ... beginning with the root, as MPI counts relative ranks.
[[nodiscard]] Positions from_root(const Task& task);
/// The sites that have processors, the root's first, then those farthest from the root; the
/// coordinator of a site is its first member, of the root's site the root.
[[nodiscard]] std::vector<Positions> sites_from_root(const Task& task);
/// The same sites in an order whose narrowest way is as wide as possible, then short; inside a
/// site, but for the coordinator, the widest processors first.
[[nodiscard]] std::vector<Positions> sites_in_chain(const Task& task);

/// Over `members`, of which the first one is the root. Longest subtree first.
void append_binomial(Links& links, std::span<const std::size_t> members);
void append_chain(Links& links, std::span<const std::size_t> members);
/// The edges of a tree that is given by the children of each position.
[[nodiscard]] Links breadth_first(const std::vector<Positions>& children, std::size_t root);

/// A plan of trees. With `cut`: with the segment that is predicted to be best.
[[nodiscard]] Plan tree_plan(const Task& task, std::string_view algorithm,
                             const std::vector<Links>& trees, bool cut);

/// When the last processor has everything, if segments of this size (0: all at once) take turns on
/// these trees: lambda + (rounds - 1) * gamma [Kielmann00]. What is not below `limit` for sure is
/// not looked at closer: the result is not below it either, and may be less than the truth.
[[nodiscard]] Duration predicted(const Task& task, const std::vector<Links>& trees,
                                 std::uint64_t segment, Duration limit = kForever);
/// A power of two, or 0. It is the least that predicted() gives for these trees.
[[nodiscard]] std::uint64_t best_segment(const Task& task, const std::vector<Links>& trees);

}  // namespace phx::planners
