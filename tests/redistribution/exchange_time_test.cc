#include "collectives/redistribution/exchange_time.h"

#include <doctest/doctest.h>

#include <string>

#include "collectives/redistribution/random_graph.h"
#include "collectives/redistribution/schedulers.h"
#include "overlay/base/rng.h"

namespace exchange_time_test {

using namespace phx;
using namespace phx::redistribution;

namespace {

constexpr std::uint64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kPerSecond = 100 * kMegabyte;  // 10 ms for a megabyte
constexpr Pace kPaces[] = {Pace::kNoBarrier, Pace::kBarrierSend, Pace::kBarrierSendReceive};

/// Two sites, joined by narrow ways.
Ways two_sites(std::size_t each, std::uint64_t between, Duration latency = {}) {
  Ways ways = Ways::equal(2 * each, kPerSecond);
  ways.sites = 2;
  for (std::size_t i = each; i < 2 * each; ++i) ways.processors[i].site = 1;
  ways.between = {{}, {between, latency}, {between, latency}, {}};
  return ways;
}

Ways drawn_ways(std::size_t processors, Rng& rng) {
  Ways ways = Ways::equal(processors, kPerSecond);
  ways.sites = 3;
  for (auto& one : ways.processors) {
    one.site = rng.below(3);
    if (rng.chance(0.3)) one.out = kMegabyte * (1 + rng.below(50));
    if (rng.chance(0.3)) one.in = kMegabyte * (1 + rng.below(50));
  }
  ways.between.clear();
  for (std::size_t i = 0; i < 9; ++i) {
    const bool is_inside = i % 4 == 0;
    ways.between.push_back({is_inside ? Ways::kEndless : kMegabyte * (1 + rng.below(200)),
                            std::chrono::microseconds(rng.below(3000))});
  }
  return ways;
}

/// One message per step, in their order.
Schedule one_by_one(const MessageGraph& graph) {
  Schedule schedule;
  for (std::size_t i = 0; i < graph.messages.size(); ++i) {
    schedule.steps.push_back({{i, graph.messages[i].weight}});
  }
  return schedule;
}

double ms(Duration duration) {
  return to_ms(duration);
}

}  // namespace

TEST_SUITE_BEGIN("redistribution/exchange_time");

TEST_CASE("a message alone takes its bytes over each interface, in pieces, and the latency") {
  const MessageGraph graph{4, {{0, 2, kMegabyte}}};
  const Ways ways = two_sites(2, 10 * kMegabyte, 5ms);  // 100 ms for a megabyte
  for (const Pace pace : kPaces) {
    // The first piece of 64 KiB enters the way after 0.66 ms; the last one the receiver's interface
    // 0.66 ms before the end (or less: it is shorter).
    const double time = ms(exchange_time(one_by_one(graph), {graph, ways, pace}));
    CHECK(time >= 105);
    CHECK(time <= 107);
    CHECK(ms(exchange_time(one_by_one(graph), {graph, ways, pace, 3ms})) ==
          doctest::Approx(time + 3));
  }
}

TEST_CASE("two that share an interface, or a way, take turns, and others do not") {
  const double one = 10;  // ms
  const auto time = [](const MessageGraph& graph, const Ways& ways) {
    const Schedule both{{{{0, kMegabyte}, {1, kMegabyte}}}};
    return ms(exchange_time(both, {graph, ways}));
  };
  const Ways alike = Ways::equal(4, kPerSecond);
  const auto near = [](double value) { return doctest::Approx(value).epsilon(0.08); };
  CHECK(time({4, {{0, 1, kMegabyte}, {2, 3, kMegabyte}}}, alike) == near(one));
  CHECK(time({4, {{0, 1, kMegabyte}, {0, 3, kMegabyte}}}, alike) == near(2 * one));
  CHECK(time({4, {{0, 1, kMegabyte}, {2, 1, kMegabyte}}}, alike) == near(2 * one));
  CHECK(time({4, {{0, 2, kMegabyte}, {1, 3, kMegabyte}}}, two_sites(2, kPerSecond)) ==
        near(2 * one));
  // In pieces of 64 KiB: each passes one after the other.
  CHECK(time({4, {{0, 2, kMegabyte}, {3, 1, kMegabyte}}}, two_sites(2, kPerSecond)) ==
        near(one + 2 * 0.66));
}

TEST_CASE("who waits hears of an arrival after the way back, and of what it expects at once") {
  // 0 sends to 1, then to 3; 2 sends to 0 in the first step, and takes ten times as long.
  const MessageGraph graph{4, {{0, 1, kMegabyte}, {2, 0, 10 * kMegabyte}, {0, 3, kMegabyte}}};
  const Schedule schedule{{{{0, kMegabyte}, {1, 10 * kMegabyte}}, {{2, kMegabyte}}}};
  Ways ways = Ways::equal(4, kPerSecond);
  ways.between[0].latency = 7ms;
  const auto time = [&](Pace pace) { return ms(exchange_time(schedule, {graph, ways, pace})); };
  const auto near = [](double value) { return doctest::Approx(value).epsilon(0.03); };
  CHECK(time(Pace::kNoBarrier) == near(107));
  CHECK(time(Pace::kBarrierSend) == near(107));
  CHECK(time(Pace::kBarrierSendReceive) == near(107 + 17));
  const MessageGraph two{4, {{0, 1, kMegabyte}, {0, 3, kMegabyte}}};
  const auto later = [&](Pace pace) {
    return ms(exchange_time(one_by_one(two), {two, ways, pace}));
  };
  CHECK(later(Pace::kNoBarrier) == doctest::Approx(27).epsilon(0.06));
  CHECK(later(Pace::kBarrierSend) == doctest::Approx(17 + 7 + 17).epsilon(0.06));
}

TEST_CASE("weights are times: bytes where all ways are alike, more where they are narrower") {
  const MessageGraph graph{4, {{0, 1, 1000}, {0, 2, 1000}, {3, 2, 1000}}};
  CHECK(weighed(graph, Ways::equal(4, kPerSecond)) == graph);
  Ways ways = two_sites(2, kPerSecond / 8);
  CHECK(weighed(graph, ways).messages[0].weight == 1000);
  CHECK(weighed(graph, ways).messages[1].weight == 8000);
  CHECK(weighed(graph, ways).messages[2].weight == 1000);
  ways.processors[3].out = kPerSecond / 4;
  CHECK(weighed(graph, ways).messages[2].weight == 4000);
  // Also what is no integer any more, or endless, is a graph that schedulers take.
  const MessageGraph large{4, {{0, 1, kTotalMax / 3}, {0, 2, kTotalMax / 3}}};
  CHECK(weighed(large, ways).check().ok());
  ways.processors[0].out = ways.processors[1].in = Ways::kEndless;
  CHECK(weighed(graph, ways).check().ok());
  CHECK(weighed(graph, ways).messages[1].weight == 1'000'000);
}

TEST_CASE("schedules of times move each byte once, without conflicts, never before the bound") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Rng rng(seed);
    const std::size_t processors = 2 + seed % 9;
    const std::size_t messages = 1 + seed % (processors * (processors - 1));
    const MessageGraph bytes =
        random_graph({processors, messages, 5 * kMegabyte, static_cast<Sizes>(seed % 3)}, seed);
    const Ways ways = drawn_ways(processors, rng);
    const MessageGraph weights = weighed(bytes, ways);
    REQUIRE(weights.check().ok());
    for (const Scheduler& each : all_schedulers()) {
      INFO(each.name, ", seed ", seed);
      const Schedule timed = each.make({weights, 20'000});
      const Schedule schedule = in_bytes(timed, weights, bytes);
      const Status status = validate(schedule, bytes, processors);
      CHECK_MESSAGE(status.ok(), (status.ok() ? "" : status.error().what));
      for (const Pace pace : kPaces) {
        const Duration time = exchange_time(schedule, {bytes, ways, pace});
        CHECK(time >= least_time(bytes, ways));
        CHECK(time == exchange_time(schedule, {bytes, ways, pace}));
      }
    }
  }
}

TEST_CASE("with unequal ways schedules of times are faster than schedules of bytes") {
  // Six sites of two: no place is the narrowest one of all, so the order counts.
  double by_bytes = 0;
  double by_times = 0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Rng rng(seed);
    const MessageGraph bytes = random_graph({12, 60, 60 * kMegabyte}, seed);
    Ways ways = Ways::equal(12, kPerSecond);
    ways.sites = 6;
    for (std::size_t i = 0; i < 12; ++i) ways.processors[i].site = i / 2;
    ways.between.assign(36, {});
    for (std::size_t i = 0; i < 36; ++i) {
      if (i % 7 != 0) ways.between[i].bytes_per_second = kMegabyte * (10 + rng.below(90));
    }
    const MessageGraph weights = weighed(bytes, ways);
    const auto time = [&](const Schedule& schedule) {
      return ms(exchange_time(schedule, {bytes, ways, Pace::kBarrierSend})) /
             ms(least_time(bytes, ways));
    };
    by_bytes += time(schedule_sdrc({bytes, 20'000})) / kSeeds;
    by_times += time(in_bytes(schedule_sdrc({weights, 20'000}), weights, bytes)) / kSeeds;
  }
  MESSAGE("by bytes ", by_bytes, ", by times ", by_times, " of the bound");
  CHECK(by_times < by_bytes);
  CHECK(by_times >= 1);
}

TEST_CASE("on equal ways a step costs what the model of steps says") {
  // All in a step begin together only if all its predecessors end together: equal sizes.
  const MessageGraph graph = random_graph({8, 32, 32 * kMegabyte, Sizes::kEqual}, 3);
  const Schedule schedule = schedule_drc_exact({graph, 1});
  const Ways ways = Ways::equal(8, kPerSecond);
  const double predicted = ms(exchange_time(schedule, {graph, ways, Pace::kBarrierSendReceive}));
  const double model = static_cast<double>(schedule.cost(0)) / (kPerSecond / 1e3);
  MESSAGE("predicted ", predicted, " ms, sum of steps ", model);
  CHECK(predicted <= 1.08 * model);
  CHECK(predicted >= ms(least_time(graph, ways)));
}

TEST_SUITE_END();

}  // namespace exchange_time_test
