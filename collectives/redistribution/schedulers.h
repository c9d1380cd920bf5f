#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "collectives/redistribution/schedule.h"

namespace phx::redistribution {

/// What a scheduler is asked for.
struct Order {
  const MessageGraph& graph;
  std::uint64_t setup = 1;  ///< Of a step, in the unit of weights. 0 counts as 1.
  /// So many messages go at once, at most. Only the peeling schedulers heed it; all others may take
  /// as many as there are processors.
  std::size_t at_once = static_cast<std::size_t>(-1);
};

/// Degree reduction until nobody has more than two messages left, then two colours [Kurnysh11].
[[nodiscard]] Schedule schedule_drc(const Order& order);
/// Degree reduction to the end: no colours [Kurnysh11].
[[nodiscard]] Schedule schedule_sdrc(const Order& order);
/// Each step serves everybody who has most messages left. So there are exactly as many steps as the
/// bound demands.
[[nodiscard]] Schedule schedule_drc_exact(const Order& order);
/// Peels perfect matchings off a graph that is made regular [Cohen06].
[[nodiscard]] Schedule schedule_ggp(const Order& order);
/// The same, each time a matching whose least weight is greatest [Cohen06].
[[nodiscard]] Schedule schedule_oggp(const Order& order);

// Orders that need no plan. Two messages of a step may meet.
/// Each processor sends to the one behind it first, then to the next but one.
[[nodiscard]] Schedule schedule_rotation(const Order& order);
/// All send to the first processor first, then to the second: everybody meets.
[[nodiscard]] Schedule schedule_ranks(const Order& order);

/// One of the planned ones.
struct Scheduler {
  std::string_view name;
  std::string_view what;  ///< For people: half a line.
  Schedule (*make)(const Order& order);
};
/// REQUIRES of all of them a graph whose check() succeeds.
[[nodiscard]] std::span<const Scheduler> all_schedulers();

}  // namespace phx::redistribution
