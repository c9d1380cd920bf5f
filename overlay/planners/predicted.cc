#include <algorithm>
#include <map>
#include <utility>

#include "overlay/planners/shapes.h"

namespace phx::planners {
namespace {

/// What one round of segments, one in each tree, asks of a processor.
struct Work {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// When the first segment of each tree is everywhere.
Duration first_arrival(const Task& task, const std::vector<Links>& trees, std::uint64_t segment) {
  Duration last{};
  Duration at_root{};  // It serves one tree after the other.
  for (const Links& links : trees) {
    std::vector<Duration> free(task.costs.size());
    free[task.root] = at_root;
    for (const auto& [from, to] : links) {
      const Duration arrival = free[from] + task.costs.transfer(from, to, segment);
      free[from] += task.costs.busy(from, segment);
      free[to] = arrival;
      last = std::max(last, arrival);
    }
    at_root = free[task.root];
  }
  return last;
}

/// What the busiest place needs for a round of segments.
Duration round_time(const Task& task, const std::vector<Links>& trees, std::uint64_t segment) {
  const Costs& costs = task.costs;
  std::vector<Work> works(costs.size());
  std::map<std::pair<std::size_t, std::size_t>, Duration> ways;
  for (const Links& links : trees) {
    for (const auto& [from, to] : links) {
      ++works[from].sent;
      ++works[to].received;
      if (costs.site(from) == costs.site(to)) continue;
      ways[{costs.site(from), costs.site(to)}] += wire_time(segment, costs.rate(from, to));
    }
  }
  Duration longest{};
  for (std::size_t i = 0; i < works.size(); ++i) {
    const auto messages = static_cast<Duration::rep>(works[i].sent + works[i].received);
    longest = std::max({longest, messages * costs.overhead(i),
                        wire_time(works[i].sent * segment, costs.out(i)),
                        wire_time(works[i].received * segment, costs.in(i))});
  }
  for (const auto& [ends, time] : ways) longest = std::max(longest, time);
  return longest;
}

}  // namespace

Duration predicted(const Task& task, const std::vector<Links>& trees, std::uint64_t segment) {
  const bool is_cut = segment > 0 && segment < task.bytes;
  const std::uint64_t part = is_cut ? segment : task.bytes;
  const std::uint64_t parts = is_cut ? (task.bytes + part - 1) / part : 1;
  const std::uint64_t rounds = (parts + trees.size() - 1) / trees.size();
  const Duration first = first_arrival(task, trees, part);
  if (rounds <= 1) return first;
  return first + static_cast<Duration::rep>(rounds - 1) * round_time(task, trees, part);
}

std::uint64_t best_segment(const Task& task, const std::vector<Links>& trees) {
  constexpr std::uint64_t kLeast = 512;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 20U;
  std::uint64_t best = 0;
  Duration least = predicted(task, trees, 0);
  for (std::uint64_t segment = kLeast; segment <= kMost && segment < task.bytes; segment *= 2) {
    const Duration time = predicted(task, trees, segment);
    if (time >= least) continue;
    least = time;
    best = segment;
  }
  return best;
}

}  // namespace phx::planners
