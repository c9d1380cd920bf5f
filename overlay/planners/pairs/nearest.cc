#include <algorithm>
#include <array>

#include "overlay/planners/pairs/growing_tree.h"

namespace phx::planners {
namespace {

constexpr std::array kPairPlanners = {
    PairPlanner{"flat", "the root sends to all, one after the other", &tree_flat},
    PairPlanner{"binomial", "binomial tree in the order of positions", &tree_binomial},
    PairPlanner{"fnf", "fastest processor first", &tree_fnf},
    PairPlanner{"fef", "fastest edge first", &tree_fef},
    PairPlanner{"ecef", "who completes first is next (FCEF)", &tree_ecef},
    PairPlanner{"look-ahead", "as ecef, with the next step of the receiver", &tree_look_ahead},
    PairPlanner{"mgo", "cluster by cluster, with helpers in the own one", &tree_mgo},
    PairPlanner{"mgo-r1-first", "as mgo, the new cluster before the helper", &tree_mgo_r1_first}};

/// The member that completes `to` first. Of equals, who has the message for longer.
std::size_t best_sender(const GrowingTree& tree, std::size_t to) {
  tree.looked(tree.members().size());
  return *std::min_element(tree.members().begin(), tree.members().end(),
                           [&](std::size_t a, std::size_t b) {
                             return tree.completion(a, to) < tree.completion(b, to);
                           });
}

}  // namespace

std::span<const PairPlanner> all_pair_planners() {
  return kPairPlanners;
}

PairTree tree_flat(const PairTask& task) {
  PairTree tree{task.root, {}};
  for (std::size_t i = 1; i < task.costs.size(); ++i) {
    tree.hops.emplace_back(task.root, (task.root + i) % task.costs.size());
  }
  return tree;
}

PairTree tree_binomial(const PairTask& task) {
  const std::size_t size = task.costs.size();
  PairTree tree{task.root, {}};
  std::size_t top = 1;
  while (top < size) top *= 2;
  // Whoever has it after the rounds before sends on; so nobody is late.
  for (std::size_t step = top / 2; step > 0; step /= 2) {
    for (std::size_t from = 0; from + step < size; from += 2 * step) {
      tree.hops.emplace_back((task.root + from) % size, (task.root + from + step) % size);
    }
  }
  return tree;
}

PairTree tree_fnf(const PairTask& task) {
  GrowingTree tree(task);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < task.costs.size(); ++i) {
    if (i != task.root) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return task.costs.slowness(a) < task.costs.slowness(b);
  });
  for (const std::size_t to : order) tree.send(best_sender(tree, to), to);
  return tree.take();
}

PairTree tree_fef(const PairTask& task) {
  GrowingTree tree(task);
  const std::size_t size = task.costs.size();
  std::vector<std::size_t> nearest(size, task.root);  // Of those who have it, to each who has not.
  while (!tree.is_complete()) {
    std::size_t best = size;
    for (std::size_t to = 0; to < size; ++to) {
      if (tree.has(to)) continue;
      tree.looked(1);
      if (best == size ||
          task.costs.arrival(nearest[to], to) < task.costs.arrival(nearest[best], best)) {
        best = to;
      }
    }
    tree.send(nearest[best], best);
    for (std::size_t to = 0; to < size; ++to) {
      tree.looked(1);
      if (task.costs.arrival(best, to) < task.costs.arrival(nearest[to], to)) nearest[to] = best;
    }
  }
  return tree.take();
}

PairTree tree_ecef(const PairTask& task) {
  GrowingTree tree(task);
  complete_earliest_first(tree);
  return tree.take();
}

PairTree tree_look_ahead(const PairTask& task) {
  GrowingTree tree(task);
  NearestWaiting waiting(tree);
  const PairCosts& costs = task.costs;
  while (!tree.is_complete()) {
    Hop best;
    Duration least = kForever;
    for (std::size_t to = 0; to < costs.size(); ++to) {
      if (tree.has(to)) continue;
      const auto next = waiting.of(to);
      const Duration ahead = next ? costs.arrival(to, *next) : Duration{};
      const std::size_t from = best_sender(tree, to);
      if (tree.completion(from, to) + ahead >= least) continue;
      least = tree.completion(from, to) + ahead;
      best = {from, to};
    }
    tree.send(best.first, best.second);
  }
  return tree.take();
}

PairTree one_to_many(const PairPlanner& planner, const PairNetwork& network,
                     const PairOrder& order) {
  const PairCosts costs(network, order.knows, order.bytes);
  return planner.make({costs, network, order.root});
}

PairTree many_to_one(const PairPlanner& planner, const PairNetwork& network,
                     const PairOrder& order) {
  return one_to_many(planner, network.reversed(), order);
}

}  // namespace phx::planners
