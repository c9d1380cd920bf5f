#include <doctest/doctest.h>

#include <cstdint>

#include "runtime/sim/cluster.h"
#include "tests/support/machines.h"
#include "tests/support/seeds.h"

namespace lost_machines_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr std::uint32_t kMachines = 4;

/// Real machines with `each` daemons, in a mesh without a job, of which the first one is lost: that
/// with the lowest ids.
struct LostMachine {
  Duration known_after{};    ///< Until all others have agreed on a view without it.
  std::uint64_t messages{};  ///< Heartbeats and accusations until then.
  std::uint64_t in_peace{};  ///< The same in as much time before.
};

std::uint64_t words(const Meter& meter) {
  return meter.of("Heartbeat").messages + meter.of("Suspect").messages;
}

LostMachine lose_one(std::uint32_t each, std::uint64_t seed) {
  Cluster cluster(support::machines_with(kMachines, each, seed));
  cluster.add_all();
  REQUIRE(cluster.stabilize(60s));
  constexpr Duration kPeace = 20s;  // Nobody is a newcomer then.
  const Meter new_mesh = cluster.network().meter();
  cluster.run_for(kPeace);
  const Meter before = cluster.network().meter();
  for (std::uint32_t i = 0; i < each; ++i) cluster.kill(MachineId{i}, true);

  const Instant lost_at = cluster.now();
  while (!cluster.checkers().do_views_agree()) {
    REQUIRE(cluster.now() - lost_at < 400s);
    cluster.run_for(100ms);
  }
  LostMachine result;
  result.known_after = cluster.now() - lost_at;
  result.messages = words(cluster.network().meter().since(before));
  result.in_peace = words(before.since(new_mesh)) *
                    static_cast<std::uint64_t>(result.known_after / 100ms) /
                    static_cast<std::uint64_t>(kPeace / 100ms);
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("sim/lost_machines");

// The time-out is 5 s. The first to speak tell the lowest others, which were lost, too, and try
// sixteen of these for each that they accuse; and in the end the judge tries once.
TEST_CASE("that a machine with many daemons is lost is soon known, however many these are") {
  struct Case {
    std::uint32_t each;
    Duration bound;
  };
  for (const Case& one : {Case{1, 5s}, Case{4, 15s}, Case{16, 15s}, Case{64, 25s}}) {
    const std::uint32_t each = one.each;
    for (std::uint64_t seed = 1; seed <= support::seeds(each == 64 ? 1 : 4); ++seed) {
      CAPTURE(each);
      CAPTURE(seed);
      const LostMachine lost = lose_one(each, seed);
      CHECK(lost.known_after <= one.bound);
      // Two that watched tell the judge of each; and they, and it, try each a few times.
      CHECK(lost.messages <= lost.in_peace + 16 * each + 30);
    }
  }
}

TEST_SUITE_END();

}  // namespace lost_machines_test
