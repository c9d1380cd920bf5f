#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "overlay/planners/shapes.h"

namespace phx::planners {
namespace {

/// What one round of segments, one in each tree, asks of a processor.
struct Work {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

/// When the first segment of each tree is everywhere, if the trees did not share anything but the
/// root, which serves one after the other: no later than in truth.
Duration first_arrival(const Task& task, const std::vector<Links>& trees, std::uint64_t segment) {
  Duration last{};
  Duration at_root{};
  for (const Links& links : trees) {
    std::vector<Duration> free(task.costs.size());
    free[task.root] = at_root;
    for (const auto& [from, to] : links) {
      const Duration arrival = free[from] + task.costs.transfer(from, to, segment);
      free[from] += task.costs.busy(from, segment);
      free[to] = arrival + task.costs.wait(to);
      last = std::max(last, arrival);
    }
    at_root = free[task.root];
  }
  return last;
}

/// Who gets a segment of a tree from whom, by giver.
class Children {
 public:
  Children(const Links& links, std::size_t processors)
      : begins_(processors + 1), to_(links.size()) {
    for (const auto& [from, to] : links) ++begins_[from + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    Positions next(begins_.begin(), begins_.end() - 1);
    for (const auto& [from, to] : links) to_[next[from]++] = to;
  }
  [[nodiscard]] std::span<const std::size_t> of(std::size_t from) const {
    return std::span(to_).subspan(begins_[from], begins_[from + 1] - begins_[from]);
  }

 private:
  Positions begins_;
  Positions to_;
};

/// When the first segment of each tree is everywhere. Whoever has one sends it at once, after what
/// it had before; and of what enters a way between two sites each waits for the one before it.
class FirstRound {
 public:
  FirstRound(const Task& task, const std::vector<Links>& trees, std::uint64_t segment)
      : costs_(task.costs), root_(task.root), segment_(segment), interfaces_(costs_.size()) {
    for (const Links& links : trees) children_.emplace_back(links, costs_.size());
    for (std::size_t tree = 0; tree < trees.size(); ++tree) had_.push({{}, tree, task.root});
  }

  Duration last() {
    Duration last{};
    while (!had_.empty()) {
      const auto [time, tree, from] = had_.top();
      had_.pop();
      last = std::max(last, time);
      Duration& free = interfaces_[from];
      const Duration passed = time + (from == root_ ? Duration{} : costs_.wait(from));
      for (const std::size_t to : children_[tree].of(from)) {
        free = std::max(free, passed);
        had_.push({enter(from, to, free) + costs_.transfer(from, to, segment_), tree, to});
        free += costs_.busy(from, segment_);
      }
    }
    return last;
  }

 private:
  /// When it enters the way, if it could at `time`.
  Duration enter(std::size_t from, std::size_t to, Duration time) {
    if (costs_.site(from) == costs_.site(to)) return time;
    Duration& free = ways_[{costs_.site(from), costs_.site(to)}];
    const Duration entered = std::max(free, time);
    free = entered + wire_time(segment_, costs_.rate(from, to));
    return entered;
  }

  struct Had {
    Duration time;
    std::size_t tree = 0;
    std::size_t who = 0;
    friend auto operator<=>(const Had&, const Had&) = default;
  };

  const Costs& costs_;
  std::size_t root_;
  std::uint64_t segment_;
  std::vector<Children> children_;    ///< Per tree.
  std::vector<Duration> interfaces_;  ///< Free again, per processor; ...
  std::map<std::pair<std::size_t, std::size_t>, Duration> ways_;  ///< ... and per pair of sites.
  std::priority_queue<Had, std::vector<Had>, std::greater<>> had_;
};

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

Duration predicted(const Task& task, const std::vector<Links>& trees, std::uint64_t segment,
                   Duration limit) {
  const bool is_cut = segment > 0 && segment < task.bytes;
  const std::uint64_t part = is_cut ? segment : task.bytes;
  const std::uint64_t parts = is_cut ? (task.bytes + part - 1) / part : 1;
  const std::uint64_t rounds = (parts + trees.size() - 1) / trees.size();
  const Duration others =
      rounds > 1 ? static_cast<Duration::rep>(rounds - 1) * round_time(task, trees, part)
                 : Duration{};
  const Duration least = first_arrival(task, trees, part) + others;
  return least < limit ? FirstRound(task, trees, part).last() + others : least;
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
