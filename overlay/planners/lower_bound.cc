#include <algorithm>
#include <functional>
#include <queue>

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

/// Shortest paths from the root, of messages without bytes, to one of each sample.
std::vector<Duration> distances(const Task& task, const std::vector<Sample>& samples) {
  std::vector<Duration> least(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // A root is no receiver: of its own class it needs another one.
    const bool is_root = samples[i].one == task.root;
    const std::size_t to = is_root ? samples[i].other : samples[i].one;
    least[i] = to == task.root ? Duration{} : task.costs.transfer(task.root, to, 0);
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      for (std::size_t j = 0; j < samples.size(); ++j) {
        if (i == j || samples[j].one == task.root) continue;
        const Duration via = least[i] + task.costs.transfer(samples[i].one, samples[j].one, 0);
        if (via >= least[j]) continue;
        least[j] = via;
        has_changed = true;
      }
    }
  }
  return least;
}

using Times = std::priority_queue<Duration, std::vector<Duration>, std::greater<>>;

/// What may be assumed at best for one site, seen from all others.
struct Best {
  Duration overhead = kForever;
  Duration outside = kForever;  ///< A transfer between two that are not in the site.
  Duration into = kForever;     ///< One into it.
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
      if (!is_to) best.outside = std::min(best.outside, time);
    }
  }
  return best;
}

/// Each who has the message sends without pause, and outside of the site each of these sends
/// reaches two: one outside, and one in the site. So no schedule is faster.
Duration growth_bound(const Best& best, std::size_t count, bool has_root) {
  Times outside;  // Whoever has it there is free then.
  Times inside;
  (has_root ? inside : outside).push(Duration{});
  Times arrivals;
  std::size_t missing = count - (has_root ? 1 : 0);
  for (std::size_t sends = 0; !outside.empty() && sends < count; ++sends) {
    const Duration begin = outside.top();
    outside.pop();
    outside.push(begin + best.overhead);
    if (best.outside != kForever) outside.push(begin + best.outside);
    arrivals.push(begin + best.into);
  }
  Duration last{};
  while (missing > 0) {
    const bool by_own = !inside.empty() && best.inside != kForever &&
                        (arrivals.empty() || inside.top() + best.inside < arrivals.top());
    if (!by_own && arrivals.empty()) return last;
    if (by_own) {
      const Duration begin = inside.top();
      inside.pop();
      inside.push(begin + best.overhead);
      last = begin + best.inside;
    } else {
      last = arrivals.top();
      arrivals.pop();
    }
    inside.push(last);
    --missing;
  }
  return last;
}

}  // namespace

Duration lower_bound(const Task& task) {
  const Costs& costs = task.costs;
  const std::vector<Sample> samples = samples_of(costs);
  const std::vector<Duration> least = distances(task, samples);
  Duration bound{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    // All bytes leave the root, travel, and enter the receiver.
    const std::uint64_t rate = std::min(costs.out(task.root), costs.in(samples[i].one));
    const bool is_only_root = samples[i].count == 1 && samples[i].one == task.root;
    if (!is_only_root) bound = std::max(bound, least[i] + wire_time(task.bytes, rate));
  }
  for (std::size_t site = 0; site < costs.sites().size(); ++site) {
    const std::size_t count = costs.sites()[site].size();
    if (count == 0) continue;
    const bool has_root = costs.site(task.root) == site;
    bound = std::max(bound, growth_bound(best_of(costs, samples, site), count, has_root));
  }
  return bound;
}

}  // namespace phx::planners
