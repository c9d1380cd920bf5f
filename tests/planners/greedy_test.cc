#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "overlay/base/rng.h"
#include "overlay/planners/planners.h"
#include "overlay/planners/shapes.h"
#include "tests/planners/networks.h"
#include "tests/support/seeds.h"

namespace greedy_test {

using namespace phx;
using namespace phx::planners;

namespace {

/// When the last one has a message of one byte, under the planners' own model.
Duration last_arrival(const Task& task, const Plan& plan) {
  Links links;
  for (const Edge& edge : plan.trees.at(0)) {
    links.emplace_back(*task.costs.position(edge.from), *task.costs.position(edge.to));
  }
  return predicted(task, {links}, 0);
}

/// Tries every order in which messages can be sent, where each sends as soon as it is free.
Duration best_of_all(const Task& task, std::vector<Duration>& free, std::uint32_t reached,
                     Duration so_far) {
  if (reached + 1 == 1U << free.size()) return so_far;
  Duration best = kForever;
  for (std::size_t from = 0; from < free.size(); ++from) {
    if ((reached >> from & 1U) == 0) continue;
    for (std::size_t to = 0; to < free.size(); ++to) {
      if ((reached >> to & 1U) != 0) continue;
      const Duration before = free[from];
      const Duration arrival = before + task.costs.transfer(from, to, task.bytes);
      free[from] += task.costs.busy(from, task.bytes);
      free[to] = arrival;
      best = std::min(best, best_of_all(task, free, reached | 1U << to, std::max(so_far, arrival)));
      free[from] = before;
    }
  }
  return best;
}

overlay::KnownNetwork drawn(Rng& rng, std::uint32_t processors) {
  overlay::KnownNetwork network;
  network.usual = {5us, overlay::kUnlimited, overlay::kUnlimited};
  for (std::uint32_t a = 1; a <= processors; ++a) {
    for (std::uint32_t b = 1; b <= processors; ++b) {
      if (a == b) continue;
      const Duration latency = std::chrono::microseconds(10 + rng.below(200));
      network.pairs[{ProcessorId{a}, ProcessorId{b}}] = {latency, overlay::kUnlimited};
    }
  }
  return network;
}

}  // namespace

TEST_SUITE_BEGIN("planners/greedy");

TEST_CASE("with equal delays greedy is the optimum, a generalised Fibonacci number") {
  // A message takes 3 us from the beginning of its sending, and a sender is free after 1 us. So
  // f(t) = f(t-1) + f(t-3) processors can have it at t: 1 1 1 2 3 4 6 9 13 19 28 41 60.
  const std::vector<std::pair<std::uint32_t, Duration>> optimum = {
      {2, 3us}, {3, 4us}, {6, 6us}, {7, 7us}, {13, 8us}, {14, 9us}, {60, 12us}, {61, 13us}};
  for (const auto& each : optimum) {
    const std::uint32_t count = each.first;
    const Duration time = each.second;
    CAPTURE(count);
    const auto network = support::known({.sites = {count}, .inside = 1us, .overhead = 1us});
    const Costs costs(network);
    const Task task{costs, 0, 0};

    CHECK(last_arrival(task, plan_greedy(task)) == time);
    CHECK(lower_bound(task) == time);
  }
}

TEST_CASE("on small networks of any latencies greedy is near the optimum, and the bound below it") {
  constexpr std::uint32_t kProcessors = 5;
  double sum = 0;
  const std::uint64_t seeds = support::seeds(100);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Costs costs(drawn(rng, kProcessors));
    const Task task{costs, 0, 0};
    std::vector<Duration> free(kProcessors);

    const Duration optimum = best_of_all(task, free, 1, Duration{});
    const Duration greedy = last_arrival(task, plan_greedy(task));

    CHECK(lower_bound(task) <= optimum);
    CHECK(optimum <= greedy);
    CHECK(to_ms(greedy) <= 1.5 * to_ms(optimum));
    sum += to_ms(greedy) / to_ms(optimum);
  }
  MESSAGE("greedy / optimum " << sum / static_cast<double>(seeds));
  CHECK(sum <= 1.05 * static_cast<double>(seeds));
}

TEST_CASE("the bound counts a detour by way of another site, within the root's own") {
  auto network = support::known({.sites = {2, 1}, .inside = 10ms, .between = 1ms});
  const Costs costs(network);
  const Task task{costs, 0, 1};

  const Duration greedy = last_arrival(task, plan_greedy(task));

  CHECK(greedy < 3ms);
  CHECK(lower_bound(task) <= greedy);
  CHECK(lower_bound(task) > 2ms);
}

TEST_CASE("no plan is faster than the bound, however far apart sites and their members are") {
  const std::uint64_t seeds = support::seeds(200);
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const auto latency = [&] {
      return std::chrono::microseconds(1 + rng.below(rng.chance(0.5) ? 50 : 5000));
    };
    support::NetworkSketch sketch;
    for (std::uint64_t left = 1 + rng.below(4); left > 0; --left) {
      sketch.sites.push_back(1 + static_cast<std::uint32_t>(rng.below(6)));
    }
    sketch.overhead = std::chrono::microseconds(rng.below(20));
    auto network = support::known(sketch);
    for (auto& site : network.sites) site.latency = latency();
    for (auto& between : network.between) between.second.latency = latency();
    const Costs costs(network);
    if (costs.size() < 2) continue;
    const Task task{costs, rng.below(costs.size()), 0};
    const Duration bound = lower_bound(task);

    for (const auto make : {plan_greedy, plan_binomial, plan_magpie, plan_flat}) {
      CHECK(bound <= last_arrival(task, make(task)));
    }
  }
}

TEST_CASE("on the three sites greedy is within a hundredth of the bound, and before magpie") {
  const Costs costs(support::three_sites(67));
  const Task task{costs, 0, 1};
  const Duration bound = lower_bound(task);

  const Duration greedy = last_arrival(task, plan_greedy(task));
  const Duration magpie = last_arrival(task, plan_magpie(task));

  MESSAGE("bound " << to_ms(bound) << " greedy " << to_ms(greedy) << " magpie " << to_ms(magpie));
  CHECK(to_ms(greedy) <= 1.01 * to_ms(bound));
  CHECK(to_ms(magpie) >= 1.2 * to_ms(bound));
}

TEST_CASE("greedy keeps narrow ways between sites free for who needs them") {
  auto network = support::known({.sites = {8, 8}});
  network.between[{0, 1}].bytes_per_second = 1'000'000;
  const Costs costs(network);
  const Task task{costs, 0, 100'000};  // 100 ms on that way

  const Plan plan = plan_greedy(task);

  const auto crossings =
      std::count_if(plan.trees[0].begin(), plan.trees[0].end(), [&](const Edge& e) {
        return costs.site(*costs.position(e.from)) != costs.site(*costs.position(e.to));
      });
  CHECK(crossings == 1);
}

TEST_SUITE_END();

}  // namespace greedy_test
