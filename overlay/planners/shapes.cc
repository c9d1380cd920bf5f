#include "overlay/planners/shapes.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace phx::planners {
namespace {

/// From one coordinator to another one.
std::uint64_t width(const Costs& costs, const Positions& from, const Positions& to) {
  return costs.rate(from.front(), to.front());
}

/// A step is about a factor of 1.4: what was measured is not more exact than that.
std::uint64_t step_of(std::uint64_t width) {
  const auto bits = static_cast<std::uint64_t>(std::bit_width(width));
  return bits < 2 ? bits : 2 * bits + ((width >> (bits - 2)) & 1U);
}

/// How good an order of sites is: the greater the better.
struct Worth {
  /// Steps of its ways, the narrowest first: one narrow way must not make others narrow.
  std::vector<std::uint64_t> widths;
  Duration::rep nearness = 0;  ///< Negative: the sum of latencies.
  friend auto operator<=>(const Worth&, const Worth&) = default;
};

Worth worth_of(const Costs& costs, const std::vector<Positions>& sites, const Positions& order) {
  Worth worth;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const Positions& from = sites[order[i]];
    const Positions& to = sites[order[i + 1]];
    worth.widths.push_back(step_of(width(costs, from, to)));
    worth.nearness -= costs.latency(from.front(), to.front()).count();
  }
  std::sort(worth.widths.begin(), worth.widths.end());
  return worth;
}

/// All orders that begin with site 0.
Positions best_order(const Costs& costs, const std::vector<Positions>& sites) {
  Positions order(sites.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Positions best = order;
  Worth most = worth_of(costs, sites, order);
  while (std::next_permutation(order.begin() + 1, order.end())) {
    const Worth worth = worth_of(costs, sites, order);
    if (worth <= most) continue;
    most = worth;
    best = order;
  }
  return best;
}

/// Always the widest way, of equal ones the nearest.
Positions greedy_order(const Costs& costs, const std::vector<Positions>& sites) {
  Positions order{0};
  std::vector<bool> is_taken(sites.size());
  is_taken[0] = true;
  while (order.size() < sites.size()) {
    const Positions& from = sites[order.back()];
    std::size_t best = sites.size();
    Worth most;
    for (std::size_t i = 0; i < sites.size(); ++i) {
      if (is_taken[i]) continue;
      const Worth worth{{step_of(width(costs, from, sites[i]))},
                        -costs.latency(from.front(), sites[i].front()).count()};
      if (best < sites.size() && worth <= most) continue;
      best = i;
      most = worth;
    }
    is_taken[best] = true;
    order.push_back(best);
  }
  return order;
}

}  // namespace

Positions from_root(const Task& task) {
  Positions ranks(task.costs.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::rotate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(task.root), ranks.end());
  return ranks;
}

std::vector<Positions> sites_from_root(const Task& task) {
  std::vector<Positions> sites;
  for (const Positions& members : task.costs.sites()) {
    if (!members.empty()) sites.push_back(members);
  }
  const std::size_t home = task.costs.site(task.root);
  for (Positions& members : sites) {
    if (task.costs.site(members.front()) != home) continue;
    std::rotate(members.begin(), std::find(members.begin(), members.end(), task.root),
                members.end());
  }
  const auto distance = [&](const Positions& members) {
    if (members.front() == task.root) return Duration::max();
    return task.costs.latency(task.root, members.front());
  };
  std::stable_sort(sites.begin(), sites.end(), [&](const Positions& a, const Positions& b) {
    return distance(a) > distance(b);
  });
  return sites;
}

std::vector<Positions> sites_in_chain(const Task& task) {
  constexpr std::size_t kTryAll = 8;
  std::vector<Positions> sites = sites_from_root(task);
  for (Positions& members : sites) {
    // Any member may be the first one, but the root stays where it is.
    const auto begin = members.begin() + (members.front() == task.root ? 1 : 0);
    std::stable_sort(begin, members.end(), [&](std::size_t a, std::size_t b) {
      return task.costs.width(a) > task.costs.width(b);
    });
  }
  const Positions order =
      sites.size() <= kTryAll ? best_order(task.costs, sites) : greedy_order(task.costs, sites);
  std::vector<Positions> result;
  for (const std::size_t i : order) result.push_back(std::move(sites[i]));
  return result;
}

void append_binomial(Links& links, std::span<const std::size_t> members) {
  std::size_t mask = 1;
  while (mask < members.size()) mask *= 2;
  for (mask /= 2; mask > 0; mask /= 2) {
    for (std::size_t i = 0; i + mask < members.size(); i += 2 * mask) {
      links.emplace_back(members[i], members[i + mask]);
    }
  }
}

void append_chain(Links& links, std::span<const std::size_t> members) {
  for (std::size_t i = 0; i + 1 < members.size(); ++i) {
    links.emplace_back(members[i], members[i + 1]);
  }
}

Links breadth_first(const std::vector<Positions>& children, std::size_t root) {
  Links links;
  Positions queue{root};
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::size_t parent = queue[next];
    for (const std::size_t child : children[parent]) {
      links.emplace_back(parent, child);
      queue.push_back(child);
    }
  }
  return links;
}

Plan tree_plan(const Task& task, std::string_view algorithm, const std::vector<Links>& trees,
               bool cut) {
  Plan plan;
  plan.algorithm = algorithm;
  plan.root = task.costs.id(task.root);
  plan.bytes = task.bytes;
  plan.segment_bytes = cut ? best_segment(task, trees) : 0;
  for (const Links& links : trees) {
    PlannedTree& tree = plan.trees.emplace_back();
    for (const auto& [from, to] : links) tree.push_back({task.costs.id(from), task.costs.id(to)});
  }
  return plan;
}

}  // namespace phx::planners
