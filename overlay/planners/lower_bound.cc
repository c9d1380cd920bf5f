#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "overlay/planners/shapes.h"

namespace phx::planners {
namespace {

/// One of each class that has members, and another one if there is one.
struct Sample {
  std::size_t one = 0;
  std::size_t other = 0;
  std::size_t count = 0;
};

std::vector<Sample> samples_of(const Costs& costs) {
  std::vector<Sample> samples(costs.classes());
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Sample& sample = samples[costs.class_of(i)];
    if (sample.count == 0) sample.one = i;
    sample.other = i;
    ++sample.count;
  }
  std::erase_if(samples, [](const Sample& sample) { return sample.count == 0; });
  return samples;
}

/// Of a class, one that receives: a root is none. The root itself: there is no other.
std::size_t receiver_of(const Sample& sample, std::size_t root) {
  return sample.one == root ? sample.other : sample.one;
}

/// Shortest paths from the root, of messages without bytes, to a receiver of each sample; also by
/// way of others, as that to one of the root's own site may be.
std::vector<Duration> distances(const Task& task, const std::vector<Sample>& samples) {
  std::vector<Duration> least(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t to = receiver_of(samples[i], task.root);
    least[i] = to == task.root ? Duration{} : task.costs.transfer(task.root, to, 0);
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::size_t j = 0; j < samples.size(); ++j) {
        const std::size_t from = receiver_of(samples[i], task.root);
        const std::size_t to = receiver_of(samples[j], task.root);
        if (i == j || to == task.root) continue;
        const Duration via = least[i] + task.costs.transfer(from, to, 0);
        if (via >= least[j]) continue;
        least[j] = via;
        has_changed = true;
      }
    }
  }
  return least;
}

/// What may be assumed at best for one site, seen from all others.
struct Best {
  Duration overhead = kForever;
  Duration outside = kForever;  ///< A transfer between two that are not in the site.
  Duration into = kForever;     ///< One into it.
  Duration leaving = kForever;  ///< One out of it.
  Duration inside = kForever;
};

Best best_of(const Costs& costs, const std::vector<Sample>& samples, std::size_t site) {
  Best best;
  for (const Sample& from : samples) {
    best.overhead = std::min(best.overhead, costs.overhead(from.one));
    for (const Sample& to : samples) {
      const std::size_t receiver = from.one == to.one ? to.other : to.one;
      if (from.one == receiver) continue;
      const bool is_from = costs.site(from.one) == site;
      const bool is_to = costs.site(receiver) == site;
      const Duration time = costs.transfer(from.one, receiver, 0);
      if (is_from && is_to) best.inside = std::min(best.inside, time);
      if (!is_from && is_to) best.into = std::min(best.into, time);
      if (is_from && !is_to) best.leaving = std::min(best.leaving, time);
      if (!is_to) best.outside = std::min(best.outside, time);
    }
  }
  return best;
}

/// Each who has the message sends without pause, and each of these sends reaches two: one outside
/// of the site, and one in it. So no schedule is faster. As many sends of either side as there are
/// processors in the site are enough for all of it: what comes of later ones comes later.
class Growth {
 public:
  Growth(const Best& best, std::size_t count) : best_(best), limit_(count) {}

  /// When `missing` more have it in the site.
  Duration run(bool has_root, std::size_t missing) {
    push(has_root ? Kind::kInside : Kind::kOutside, Duration{}, Duration{});
    Duration last{};
    while (missing > 0 && !events_.empty()) {
      const auto [time, kind] = events_.top();
      events_.pop();
      if (kind == Kind::kArrival) {
        last = time;
        --missing;
        push(Kind::kInside, time, Duration{});
        continue;
      }
      const bool is_inside = kind == Kind::kInside;
      std::size_t& sends = is_inside ? sends_inside_ : sends_outside_;
      if (sends++ >= limit_) continue;
      push(kind, time, best_.overhead);
      push(Kind::kOutside, time, is_inside ? best_.leaving : best_.outside);
      push(Kind::kArrival, time, is_inside ? best_.inside : best_.into);
    }
    return last;
  }

 private:
  enum class Kind : std::uint8_t { kArrival, kInside, kOutside };  ///< The latter: free to send.
  using Event = std::pair<Duration, Kind>;

  void push(Kind kind, Duration begin, Duration takes) {
    if (takes != kForever) events_.emplace(begin + takes, kind);
  }

  const Best& best_;
  std::size_t limit_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t sends_inside_ = 0;
  std::size_t sends_outside_ = 0;
};

}  // namespace

Duration lower_bound(const Task& task) {
  const Costs& costs = task.costs;
  const std::vector<Sample> samples = samples_of(costs);
  const std::vector<Duration> least = distances(task, samples);
  Duration bound{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // All bytes leave the root, travel, and enter the receiver.
    const std::uint64_t rate = std::min(costs.out(task.root), costs.in(samples[i].one));
    if (receiver_of(samples[i], task.root) != task.root)
      bound = std::max(bound, least[i] + wire_time(task.bytes, rate));
  }
  for (std::size_t site = 0; site < costs.sites().size(); ++site) {
    const std::size_t count = costs.sites()[site].size();
    if (count == 0) continue;
    const bool has_root = costs.site(task.root) == site;
    const Best best = best_of(costs, samples, site);
    bound = std::max(bound, Growth(best, count).run(has_root, count - (has_root ? 1 : 0)));
  }
  return bound;
}

}  // namespace phx::planners
