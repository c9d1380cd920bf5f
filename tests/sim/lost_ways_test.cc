#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "runtime/sim/cluster.h"
#include "tests/support/busy_job.h"
#include "tests/support/machines.h"
#include "tests/support/seeds.h"

namespace lost_ways_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// Nothing passes between the daemons of these two real machines any more.
void cut(Cluster& cluster, std::uint32_t each, std::uint32_t one, std::uint32_t other) {
  for (std::uint32_t i = 0; i < each; ++i) {
    for (std::uint32_t j = 0; j < each; ++j) {
      cluster.network().set_barrier(MachineId{one * each + i}, MachineId{other * each + j},
                                    Network::Barrier::kCut);
    }
  }
}

/// Of four real machines the second one loses the third one, and later the first one; only the
/// last one reaches everybody. How many are put out.
std::size_t put_out(std::uint64_t seed, std::uint32_t each, bool at_work) {
  constexpr std::uint32_t kMachines = 4;
  Cluster cluster(support::machines_with(kMachines, each, seed));
  cluster.add_all();
  REQUIRE(cluster.stabilize(10s));
  cluster.agenda().schedule_in(1s, [&] { cut(cluster, each, 1, 2); });
  cluster.agenda().schedule_in(13s, [&] { cut(cluster, each, 1, 0); });
  if (at_work) {
    support::check_busy_job(cluster, 24s);
  } else {
    cluster.run_for(30s);
  }
  return cluster.put_out().size();
}

}  // namespace

TEST_SUITE_BEGIN("sim/reachability");

TEST_CASE("whom only one machine of four reaches is found through it, among 12 and 24 daemons") {
  for (const std::uint32_t each : {3U, 6U}) {
    for (std::uint64_t seed = 1; seed <= support::seeds(10); ++seed) {
      CAPTURE(each);
      CAPTURE(seed);
      CHECK(put_out(seed, each, /*at_work=*/false) == 0);
      CHECK(put_out(seed, each, /*at_work=*/true) == 0);
    }
  }
}

TEST_SUITE_END();

}  // namespace lost_ways_test
