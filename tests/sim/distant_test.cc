#include <doctest/doctest.h>

#include <cstdint>

#include "runtime/sim/trial.h"
#include "tests/support/seeds.h"

namespace distant_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// Four sites of four processors, with so much from one to the other.
TrialOptions distant(Duration latency, std::uint64_t seed) {
  TrialOptions options;
  options.topology = overlay::Topology::uniform({4, 4, 4, 4}, overlay::Topology::Link{latency, 0});
  for (auto& site : options.topology.sites) site.latency = 1ms;
  options.seed = seed;
  options.pause = 5ms;
  return options;
}

}  // namespace

TEST_SUITE_BEGIN("sim/distant");

// A connection takes two round trips to come up, 2.8 s at most: longer than a dial may take before
// others are asked for a detour.
TEST_CASE("sites that are 0.05 to 0.7 s apart form a mesh, and nobody is accused") {
  for (const Duration latency : {50ms, 150ms, 300ms, 500ms, 700ms}) {
    std::uint64_t dials = 0;
    for (std::uint64_t seed = 1; seed <= support::seeds(10); ++seed) {
      CAPTURE(latency / 1ms);
      CAPTURE(seed);
      Trial trial(distant(latency, seed));
      REQUIRE(trial.start());
      trial.cluster().run_for(30s);
      const auto round = trial.broadcast(ProcessorId{1});
      REQUIRE(round);
      // The site's first one has it after one way, unless its connection comes up only now.
      CHECK(round->time >= latency);
      CHECK(round->time < 8 * latency);
      Checkers& checkers = trial.cluster().checkers();
      CHECK(trial.cluster().put_out().empty());
      CHECK(checkers.counted("accusations") == 0);
      CHECK(checkers.counted("stalls") == 0);
      dials += checkers.counted("dials");
    }
    // Each dials each other one once at most: no connection is given up and dialled again.
    CHECK(dials <= 16 * 15 * support::seeds(10));
    MESSAGE((latency / 1ms) << " ms: " << dials << " dials");
  }
}

}  // namespace distant_test
