#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "overlay/base/ids.h"
#include "overlay/base/result.h"
#include "overlay/network/known_network.h"
#include "overlay/planners/costs.h"
#include "overlay/planners/pairs/pair_planners.h"
#include "overlay/planners/plan.h"

/// Static plans: pure functions of a known network, a root and a size. What each of them does, and
/// which paper it is from, is in overlay/planners/README.md. Thread rule: callable from anywhere.
namespace phx::planners {

/// What a planner is asked for.
struct Task {
  const Costs& costs;
  std::size_t root = 0;  ///< Its position.
  std::uint64_t bytes = 0;
};

/// One of the algorithms.
struct Planner {
  std::string_view name;
  std::string_view what;  ///< For people: half a line.
  Plan (*make)(const Task& task) = nullptr;
  /// Instead of `make`: it looks at pairs [overlay/planners/pairs], and knows so much of them.
  PairTree (*from_pairs)(const PairTask& task) = nullptr;
  CostModel knows = CostModel::kOverlapped;
};

/// All of them, in the order of the README.
[[nodiscard]] std::span<const Planner> all_planners();

/// The plan of the algorithm of this name. kNotFound: there is none; kBadInput: nothing is known of
/// the root, or the network is impossible; kLimit: more processors than this algorithm is for.
[[nodiscard]] Result<Plan> plan(std::string_view algorithm, const overlay::KnownNetwork& network,
                                ProcessorId root, std::uint64_t bytes);

/// Processors for which schedules are made, and plans that look at pairs: they have N^2 entries
/// [limit].
inline constexpr std::size_t kScheduledMax = 2048;

// The algorithms. REQUIRES a root that is a position, and at most kScheduledMax for schedules.
[[nodiscard]] Plan plan_flat(const Task& task);
[[nodiscard]] Plan plan_binomial(const Task& task);
[[nodiscard]] Plan plan_mpich(const Task& task);
[[nodiscard]] Plan plan_mpich_ring(const Task& task);
[[nodiscard]] Plan plan_magpie(const Task& task);
[[nodiscard]] Plan plan_magpie_long(const Task& task);
[[nodiscard]] Plan plan_list(const Task& task);
[[nodiscard]] Plan plan_binary(const Task& task);
[[nodiscard]] Plan plan_two_tree(const Task& task);
/// Of a message of more than 1 MiB, two trees.
[[nodiscard]] Plan plan_striped(const Task& task);
[[nodiscard]] Plan plan_greedy(const Task& task);

/// No schedule lets all of them have `bytes` earlier than this after the root began to send.
[[nodiscard]] Duration lower_bound(const Task& task);

}  // namespace phx::planners
