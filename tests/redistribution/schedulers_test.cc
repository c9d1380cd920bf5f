#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "collectives/redistribution/random_graph.h"
#include "collectives/redistribution/schedulers.h"

namespace schedulers_test {

using namespace phx;
using namespace phx::redistribution;

namespace {

Schedule made(std::string_view name, const Order& order) {
  for (const Scheduler& each : all_schedulers()) {
    if (each.name == name) return each.make(order);
  }
  FAIL("no scheduler ", name);
  return {};
}

bool cuts(const Scheduler& scheduler) {
  return scheduler.name == "ggp" || scheduler.name == "oggp";
}

/// The cheapest schedule that cuts no message, and the least number of steps: by trying all.
struct Optimum {
  std::uint64_t cost = ~std::uint64_t{0};
  std::size_t steps = ~std::size_t{0};
};
Optimum optimum(const MessageGraph& graph, std::uint64_t setup) {
  Optimum best;
  Schedule schedule;
  const std::function<void(std::size_t)> place = [&](std::size_t next) {
    if (next == graph.messages.size()) {
      best.cost = std::min(best.cost, schedule.cost(setup));
      best.steps = std::min(best.steps, schedule.steps.size());
      return;
    }
    const Message& message = graph.messages[next];
    const std::size_t open = schedule.steps.size();
    for (std::size_t s = 0; s <= open; ++s) {
      if (s == open) schedule.steps.emplace_back();
      const bool fits =
          std::none_of(schedule.steps[s].begin(), schedule.steps[s].end(), [&](const Part& part) {
            const Message& other = graph.messages[part.message];
            return other.from == message.from || other.to == message.to;
          });
      if (fits) {
        schedule.steps[s].push_back({next, message.weight});
        place(next + 1);
        schedule.steps[s].pop_back();
      }
    }
    schedule.steps.pop_back();
  };
  place(0);
  return best;
}

}  // namespace

TEST_SUITE_BEGIN("redistribution/schedulers");

TEST_CASE("every schedule moves everything once without conflicts, whatever the graph") {
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    const std::size_t processors = 2 + seed % 11;
    const std::size_t messages = 1 + seed % (processors * (processors - 1));
    const auto sizes = static_cast<Sizes>(seed % 3);
    MessageGraph graph = random_graph({processors, messages, 50'000, sizes}, seed);
    if (seed % 4 == 0) graph.messages.push_back(graph.messages.front());  // The same ends twice.
    const Bounds bounds = bounds_of(graph);
    for (const Scheduler& each : all_schedulers()) {
      for (const std::uint64_t setup : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{700}}) {
        INFO(each.name, ", seed ", seed, ", setup ", setup);
        const Schedule schedule = each.make({graph, setup});
        const Status status = validate(schedule, graph, processors);
        CHECK_MESSAGE(status.ok(), (status.ok() ? "" : status.error().what));
        CHECK(schedule.cost(setup) >= bounds.cost(processors, setup));
        CHECK(schedule.steps.size() >= bounds.degree);
        if (!cuts(each)) CHECK(schedule.parts() == graph.messages.size());
      }
    }
  }
}

TEST_CASE("nothing to move takes no step") {
  for (const Scheduler& each : all_schedulers()) {
    CHECK(each.make({{0, {}}, 5}).steps.empty());
    CHECK(each.make({{3, {}}, 5}).steps.empty());
  }
}

TEST_CASE("steps that are as dear as can be still carry everything") {
  const MessageGraph graph{3, {{0, 1, 5}, {1, 2, 7}, {0, 2, 1}}};
  for (const Scheduler& each : all_schedulers()) {
    CAPTURE(each.name);
    const Schedule schedule = each.make({graph, ~std::uint64_t{0}});
    CHECK(validate(schedule, graph, 3).ok());
    CHECK(schedule.steps.size() >= bounds_of(graph).degree);
  }
}

TEST_CASE("exact degree reduction takes exactly as many steps as the busiest has messages") {
  for (std::uint64_t seed = 1; seed <= 160; ++seed) {
    const std::size_t processors = 2 + seed % 31;
    const std::size_t cells = processors * (processors - 1);
    const std::size_t messages = std::min(cells, 1 + seed * processors / 20);
    const MessageGraph graph = random_graph({processors, messages, 1'000'000}, seed);
    const Schedule schedule = made("drc-exact", {graph, 1});
    CHECK(validate(schedule, graph, processors).ok());
    CHECK(schedule.steps.size() == bounds_of(graph).degree);
  }
}

TEST_CASE("against all schedules of small graphs: never cheaper, and near the best") {
  constexpr std::uint64_t kSetup = 40;
  std::map<std::string_view, double> ratios;
  constexpr std::uint64_t kSeeds = 60;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::size_t processors = 3 + seed % 3;
    const MessageGraph graph = random_graph({processors, 6, 600, Sizes::kUniform}, seed);
    const Optimum best = optimum(graph, kSetup);
    CHECK(best.steps == bounds_of(graph).degree);  // Koenig.
    CHECK(best.cost >= bounds_of(graph).cost(processors, kSetup));
    for (const Scheduler& each : all_schedulers()) {
      const std::uint64_t cost = each.make({graph, kSetup}).cost(kSetup);
      if (!cuts(each)) CHECK(cost >= best.cost);
      CHECK(3 * cost <= 8 * best.cost);  // The ratio that GGP is proved to keep.
      ratios[each.name] += static_cast<double>(cost) / static_cast<double>(best.cost) / kSeeds;
    }
  }
  for (const auto& [name, ratio] : ratios) MESSAGE(name, ": ", ratio, " of the optimum");
  CHECK(ratios["drc"] < 1.1);
  CHECK(ratios["sdrc"] < 1.1);
  CHECK(ratios["drc-exact"] < 1.1);
}

TEST_CASE("peeling takes exactly the whole time that the bound demands, and cuts for it") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const std::size_t processors = 4 + seed % 9;
    const MessageGraph graph = random_graph({processors, 3 * processors, 20'000}, seed);
    for (std::size_t at_once = 1; at_once <= processors; at_once += 3) {
      for (const std::string_view name : {"ggp", "oggp"}) {
        const Schedule schedule = made(name, {graph, 1, at_once});
        CHECK(validate(schedule, graph, at_once).ok());
        CHECK(schedule.cost(0) == bounds_of(graph).duration(at_once));
      }
    }
  }
}

TEST_CASE("heavier matchings make fewer steps and parts, and the unit keeps steps long") {
  constexpr std::uint64_t kSetup = 2000;
  const MessageGraph graph = random_graph({16, 64, 1'000'000}, 1);
  const Schedule light = made("ggp", {graph, kSetup});
  const Schedule heavy = made("oggp", {graph, kSetup});
  CHECK(heavy.steps.size() < light.steps.size());
  CHECK(heavy.parts() < light.parts());
  CHECK(made("ggp", {graph, 1}).steps.size() >= light.steps.size());
  CHECK(light.steps.size() <= bounds_of(graph).duration(16) / kSetup + 16);
}

TEST_CASE("random graphs: the costs of the schedulers stand where they did") {
  constexpr std::uint64_t kSetup = 20'000;
  std::map<std::string_view, double> ratios;
  constexpr std::uint64_t kSeeds = 8;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const MessageGraph graph = random_graph({32, 256, std::uint64_t{64} << 20U}, seed);
    const double bound = static_cast<double>(bounds_of(graph).cost(32, kSetup));
    for (const Scheduler& each : all_schedulers()) {
      const auto cost = static_cast<double>(each.make({graph, kSetup}).cost(kSetup));
      ratios[each.name] += cost / bound / kSeeds;
    }
  }
  for (const auto& [name, ratio] : ratios) {
    MESSAGE(name, ": ", ratio, " of the bound");
    CHECK(ratio >= 1);
    CHECK(ratio < (name == "ggp" ? 8.0 / 3 : 1.2));
  }
}

}  // namespace schedulers_test
