#include "runtime/api/redistribution_choice.h"

#include <doctest/doctest.h>

#include <vector>

#include "collectives/redistribution/known_ways.h"
#include "collectives/redistribution/random_graph.h"
#include "runtime/api/redistribution_plan.h"

namespace phx::redistribution_choice_test {
namespace {

using overlay::KnownNetwork;
using redistribution::MessageGraph;
using redistribution::Pace;
using redistribution::Ways;
using redistribution::ways_between;

constexpr std::uint64_t kGigabit = 125'000'000;

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

/// Six and six, joined by a tenth of an interface.
KnownNetwork two_sites() {
  KnownNetwork network;
  network.sites = {{"", ProcessorSet::range(p(1), p(6)), 50us},
                   {"", ProcessorSet::range(p(7), p(12)), {}}};
  network.between[{0, 1}] = {4ms, kGigabit / 10};
  network.between[{1, 0}] = {4ms, {}};
  network.usual = {5us, kGigabit, {}};
  network.odd[p(3)] = {{}, kGigabit / 4, kGigabit};
  return network;
}

std::vector<ProcessorId> twelve() {
  return ProcessorSet::range(p(1), p(12)).ids();
}

MessageGraph drawn(std::uint64_t seed) {
  return redistribution::random_graph({12, 48, std::uint64_t{24} << 20U}, seed);
}

/// Each look at it takes so long.
std::function<Duration()> clock_of(Duration look) {
  return [now = Duration{}, look]() mutable { return now += look; };
}

}  // namespace

TEST_SUITE_BEGIN("api/redistribution_choice");

TEST_CASE("ways are as the mesh knows them, and like a usual network where nothing is known") {
  const Ways ways = ways_between(two_sites(), {p(1), p(3), p(8), p(40)});
  CHECK(ways.processors == std::vector<Ways::Interface>{{0, kGigabit, kGigabit},
                                                        {0, kGigabit / 4, kGigabit},
                                                        {1, kGigabit, kGigabit},
                                                        {2, kGigabit, kGigabit}});
  CHECK(ways.way(0, 1) == Ways::Way{Ways::kEndless, 50us});
  CHECK(ways.way(1, 2) == Ways::Way{kGigabit / 10, 4ms});
  CHECK(ways.way(2, 1) == Ways::Way{kGigabit, 4ms});
  CHECK(ways.rate(1, 2) == kGigabit / 10);
  CHECK(ways.rate(1, 0) == kGigabit / 4);
  const Ways unknown = ways_between({}, {p(1), p(2)});
  CHECK(unknown.rate(0, 1) == kGigabit);
}

TEST_CASE("whatever is chosen is predicted to be no slower than the order that needs no plan") {
  int others = 0;
  for (const bool is_equal : {true, false}) {
    const Ways ways = ways_between(is_equal ? KnownNetwork() : two_sites(), twelve());
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      for (const Pace pace : {Pace::kNoBarrier, Pace::kBarrierSend, Pace::kBarrierSendReceive}) {
        const MessageGraph graph = drawn(seed);
        const ScheduleTask task{graph, ways, pace, 20'000, {}};
        const ChosenSchedule chosen = choose_schedule(task);
        CHECK(chosen.predicted <= predict(make_schedule("rotation", task).schedule, task));
        CHECK(chosen.predicted >= redistribution::least_time(graph, ways));
        if (chosen.name != "rotation") ++others;
      }
    }
  }
  CHECK(others > 20);
}

TEST_CASE("the planners' own time counts: one that takes longer than it may bring is not asked") {
  const Ways ways = ways_between(two_sites(), twelve());
  const auto planned = [&](Duration look) {
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const MessageGraph graph = drawn(seed);
      const ScheduleTask task{graph, ways, Pace::kBarrierSend, 20'000, clock_of(look)};
      if (choose_schedule(task).name != "rotation") ++count;
    }
    return count;
  };
  CHECK(planned(1us) > 0);
  CHECK(planned(10s) == 0);
}

TEST_CASE("a plan goes by the times that messages take over the known network") {
  // The long message of v0 takes less time than the short one, which goes over the narrow way.
  std::vector<Declaration> all(3);
  const std::uint64_t processors[] = {1, 2, 7};
  for (std::size_t v = 0; v < all.size(); ++v) {
    all[v].processor = processors[v];
    all[v].schedule = "sdrc";
  }
  all[0].sent = {{1, 3'000'000}, {2, 1'000'000}};
  const auto first = [&](const Planning& planning) {
    const RedistributionPlan plan = plan_redistribution(all, planning);
    REQUIRE(plan.steps.size() == 2);
    return plan.steps[0].at(0);
  };
  CHECK(first({}) == PlannedPart{0, 1, 3'000'000});
  CHECK(first({two_sites(), {}}) == PlannedPart{0, 2, 1'000'000});
}

TEST_SUITE_END();

}  // namespace phx::redistribution_choice_test
