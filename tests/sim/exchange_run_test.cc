#include "runtime/sim/exchange_run.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "collectives/redistribution/exchange_time.h"
#include "collectives/redistribution/random_graph.h"
#include "collectives/redistribution/schedulers.h"
#include "overlay/base/rng.h"

namespace exchange_run_test {

using namespace phx;
using namespace phx::redistribution;
using namespace phx::sim;

namespace {

constexpr Pace kPaces[] = {Pace::kNoBarrier, Pace::kBarrierSend, Pace::kBarrierSendReceive};

overlay::Topology parsed(const std::string& text) {
  auto topology = overlay::Topology::parse(text);
  if (!topology.ok()) FAIL(topology.error().what);
  return std::move(topology).value();
}

overlay::Topology one_site() {
  return parsed("site A 12 50\nnic 1000\noverhead 5\n");
}

/// The way from A to B has a twentieth of an interface.
overlay::Topology unequal() {
  return parsed(
      "site A 5 50\nsite B 4 50\nsite C 3 100\nlatency A B 2000\nlatency A C 5000\n"
      "latency B C 9000\nlink A B 50\nlink A C 400\nlink B C 1000\nnic 1000\noverhead 5\n");
}

}  // namespace

TEST_SUITE_BEGIN("sim/exchange_run");

TEST_CASE("what is predicted for an exchange is what the simulated network takes for it") {
  double most = 0;
  for (const overlay::Topology& topology : {one_site(), unequal()}) {
    const overlay::Placing placing = placed_by_site(topology);
    const Ways ways = ways_of(topology, placing);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const MessageGraph bytes = random_graph(
          {12, 12 + 6 * seed, std::uint64_t{24} << 20U, static_cast<Sizes>(seed % 3)}, seed);
      const MessageGraph weights = weighed(bytes, ways);
      for (const Scheduler& each : all_schedulers()) {
        const Schedule schedule = in_bytes(each.make({weights, 20'000}), weights, bytes);
        for (const Pace pace : kPaces) {
          INFO(each.name, ", seed ", seed, ", pace ", static_cast<int>(pace));
          const Duration simulated = run_exchange(schedule, {bytes, topology, placing, pace});
          const Duration predicted =
              exchange_time(schedule, {bytes, ways, pace, topology.overhead});
          const double ratio = to_ms(predicted) / to_ms(simulated);
          CHECK(ratio >= 0.98);
          CHECK(ratio <= 1.02);
          most = std::max({most, ratio, 1 / ratio});
          CHECK(simulated >= least_time(bytes, ways));
        }
      }
    }
  }
  MESSAGE("at most ", most, " times as long, or as short");
}

TEST_CASE("where each has ways of its own, the simulated network is faster by schedules of times") {
  double by_bytes = 0;
  double by_times = 0;
  constexpr int kSeeds = 10;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Rng rng(seed);
    std::string text = "nic 1000\noverhead 5\nlatency * * 1000\n";
    for (char site = 'A'; site < 'M'; ++site) text.insert(0, std::string("site ") + site + " 1\n");
    for (char from = 'A'; from < 'M'; ++from) {
      for (char to = 'A'; to < from; ++to) {
        text += std::string("link ") + from + ' ' + to + ' ' + std::to_string(20 + rng.below(980)) +
                '\n';
      }
    }
    const overlay::Topology topology = parsed(text);
    const overlay::Placing placing = placed_by_site(topology);
    const Ways ways = ways_of(topology, placing);
    const MessageGraph bytes = random_graph({12, 60, std::uint64_t{60} << 20U}, seed);
    const MessageGraph weights = weighed(bytes, ways);
    const auto time = [&](const Schedule& schedule) {
      return to_ms(run_exchange(schedule, {bytes, topology, placing})) /
             to_ms(least_time(bytes, ways)) / kSeeds;
    };
    by_bytes += time(schedule_sdrc({bytes, 20'000}));
    by_times += time(in_bytes(schedule_sdrc({weights, 20'000}), weights, bytes));
  }
  MESSAGE("by bytes ", by_bytes, ", by times ", by_times, " of the bound");
  CHECK(by_times < by_bytes);
}

TEST_SUITE_END();

}  // namespace exchange_run_test
