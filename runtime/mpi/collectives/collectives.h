#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/mpi/collectives/area.h"

/// The collective operations as schedules: each adds what one rank does to its schedule, within the
/// scope that this is in. Algorithms, and what they cost: README.md. All ranks call the same with
/// sizes that fit.
namespace phx::mpi {

/// Whether all speak with one of them directly, because it costs least that each has to run once.
[[nodiscard]] inline bool is_flat(const Schedule& schedule) {
  return schedule.scope().is_crowded && schedule.scope().size() <= 32;
}
/// Whether it costs least that all tell one of them, and that one tells all: for that, or because
/// the ways are long, and other algorithms take more of them, one after the other.
[[nodiscard]] inline bool is_central(const Schedule& schedule) {
  return is_flat(schedule) || schedule.scope().is_wide();
}

/// Whether it travels in segments between ranks that are not near each other, so that who passes it
/// on need not wait for all of it. A segment needs no asking.
[[nodiscard]] bool is_cut(const Schedule& schedule, const Area& area);
/// Elements that travel together: the `number`-th of those of an area of so many bytes.
struct Segment {
  MPI_Count first;
  MPI_Count many;
  std::uint64_t number;
  std::uint64_t bytes_of_all;
};
/// Calls it with each segment; or once with all.
void for_segments(const Schedule& schedule, const Area& area,
                  const std::function<void(const Segment&)>& add);
/// What this rank is in the tree of a segment. REQUIRES a scope that has trees.
[[nodiscard]] GroupTrees::Place place_in_tree(const Schedule& schedule, int root,
                                              const Segment& segment);

/// The areas of all ranks, by rank.
using Areas = std::function<Area(int)>;
/// Equal parts, one after the other.
[[nodiscard]] Areas equal_parts(const Area& first);

void add_barrier(Schedule& schedule);
void add_broadcast(Schedule& schedule, int root, const Area& area);
/// `own`: what this rank contributes; at the root it may be its own part of `all`.
void add_gather(Schedule& schedule, int root, const Area& own, const Areas& all);
void add_scatter(Schedule& schedule, int root, const Areas& all, const Area& own);
/// Own part is in place in `all`.
void add_allgather(Schedule& schedule, const Areas& all);
/// The same for equal parts of which all have the same length; fewer rounds if they are short.
void add_allgather_equal(Schedule& schedule, const Area& first);
/// `from(r)` goes to rank r, `to(r)` comes from it.
void add_alltoall(Schedule& schedule, const Areas& from, const Areas& to);
/// Whether equal parts, of which this is the first, are short enough to go by way of one rank.
[[nodiscard]] bool goes_by_row(const Schedule& schedule, const Area& first);
/// The same as add_alltoall() then: two messages for each. `from`, `to`: the first parts; they may
/// be the same.
void add_alltoall_by_row(Schedule& schedule, const Area& from, const Area& to);

/// What is combined, and how.
struct Combining {
  Ref<Op> op;
  Area own;  ///< what this rank contributes; it is not changed
};
/// `result` counts at the root only.
void add_reduce(Schedule& schedule, int root, const Combining& what, const Area& result);
/// `result` may be `own`.
void add_allreduce(Schedule& schedule, const Combining& what, const Area& result);
/// Rank r gets `counts[r]` elements of the combination.
void add_reduce_scatter(Schedule& schedule, const Combining& what, const std::vector<int>& counts,
                        const Area& result);
/// Rank r gets the combination of ranks 0 to r; or, `is_exclusive`, to r - 1. `result` may be
/// `own`.
void add_scan(Schedule& schedule, const Combining& what, const Area& result, bool is_exclusive);

}  // namespace phx::mpi
