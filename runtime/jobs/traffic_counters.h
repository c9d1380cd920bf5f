#pragma once

#include <cstdint>

namespace phx::runtime {

/// What the traffic of jobs at one processor has come to. Counts only grow.
struct TrafficCounters {
  /// Messages for jobs that are over or not announced, or for vnodes that a job does not have.
  std::uint64_t dropped = 0;
  /// Of pieces of broadcasts: vnodes here that got one by its tree; vnodes anywhere that were sent
  /// one by this processor directly, because no tree led to them.
  std::uint64_t along_trees = 0;
  std::uint64_t past_trees = 0;

  TrafficCounters& operator+=(const TrafficCounters& more) {
    dropped += more.dropped;
    along_trees += more.along_trees;
    past_trees += more.past_trees;
    return *this;
  }
};

}  // namespace phx::runtime
