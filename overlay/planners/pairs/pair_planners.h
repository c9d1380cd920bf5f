#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "overlay/planners/pairs/pair_tree.h"

namespace phx::planners {

/// What a planner is asked for.
struct PairTask {
  const PairCosts& costs;      ///< As far as the planner is to know them.
  const PairNetwork& network;  ///< Its clusters, and nothing else of it.
  std::size_t root = 0;
  /// If given: pairs that were looked at are added to it. So tests see how the time grows.
  std::uint64_t* looks = nullptr;
};

/// Fastest processor first, from whoever completes it first [Banikazemi98].
[[nodiscard]] PairTree tree_fnf(const PairTask& task);
/// Fastest edge first, whoever is busy [Bhat03].
[[nodiscard]] PairTree tree_fef(const PairTask& task);
/// Who can be complete first is next: ECEF [Bhat03], which [Li] calls FCEF.
[[nodiscard]] PairTree tree_ecef(const PairTask& task);
/// The same, plus the time to the nearest of those that the receiver could serve next [Bhat03].
[[nodiscard]] PairTree tree_look_ahead(const PairTask& task);
/// Cluster by cluster, from coarse to fine, with a helper in the own cluster before each [Li].
[[nodiscard]] PairTree tree_mgo(const PairTask& task);
/// The same, but the new cluster is served before the helper.
[[nodiscard]] PairTree tree_mgo_r1_first(const PairTask& task);
/// The root sends to all, in their order.
[[nodiscard]] PairTree tree_flat(const PairTask& task);
/// Binomial, positions counted from the root, longest subtree first.
[[nodiscard]] PairTree tree_binomial(const PairTask& task);

/// One of them.
struct PairPlanner {
  std::string_view name;
  std::string_view what;  ///< For people: half a line.
  PairTree (*make)(const PairTask& task);
};
/// All of them. Those that look at no costs come first.
[[nodiscard]] std::span<const PairPlanner> all_pair_planners();

/// What a planner knows, and what for.
struct PairOrder {
  CostModel knows = CostModel::kOverlapped;
  std::uint64_t bytes = 0;
  std::size_t root = 0;
};
/// One to many: for broadcasts and scatters. REQUIRES a network whose check() succeeds.
[[nodiscard]] PairTree one_to_many(const PairPlanner& planner, const PairNetwork& network,
                                   const PairOrder& order);
/// Many to one: for gathers, backwards. One to many in the reversed network; so it takes exactly as
/// long as that.
[[nodiscard]] PairTree many_to_one(const PairPlanner& planner, const PairNetwork& network,
                                   const PairOrder& order);

}  // namespace phx::planners
