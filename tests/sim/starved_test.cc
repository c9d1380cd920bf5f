#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>

#include "overlay/base/rng.h"
#include "runtime/sim/cluster.h"
#include "tests/support/seeds.h"

namespace starved_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// Twelve machines for two minutes, of which every second one runs for a tenth of the time: it
/// stands still for up to `longest`, and runs for a ninth of that. The first time is short: so the
/// others hear that it is late before its silence lasts longer than they wait for a healthy one.
class Starved {
 public:
  Starved(std::uint64_t seed, std::uint32_t late_factor, Duration longest)
      : cluster_(options(seed, late_factor)), rng_(seed), longest_(longest) {
    cluster_.add_all();
    REQUIRE(cluster_.stabilize(10s));
    for (std::uint32_t i = 1; i < kMachines; i += 2) stand_still(MachineId{i}, longest_ / 4);
    cluster_.run_for(120s);
  }

  [[nodiscard]] std::uint64_t false_accusations() {
    return cluster_.checkers().counted("false-accusations");
  }
  [[nodiscard]] std::uint64_t standstills() { return cluster_.checkers().counted("standstills"); }
  [[nodiscard]] std::size_t put_out() { return cluster_.put_out().size(); }

 private:
  static constexpr std::uint32_t kMachines = 12;

  static ClusterOptions options(std::uint64_t seed, std::uint32_t late_factor) {
    ClusterOptions options;
    options.topology = overlay::Topology::uniform({kMachines}, {1ms, 0});
    options.seed = seed;
    options.daemon.late_factor = late_factor;
    return options;
  }
  void stand_still(MachineId machine, Duration still) {
    if (!cluster_.machine(machine).is_running()) return;
    cluster_.freeze(machine, still);
    cluster_.agenda().schedule_in(still + still / 9, [this, machine] {
      stand_still(machine, longest_ / 4 + longest_ * 3 / 4 * std::int64_t(rng_.below(100)) / 100);
    });
  }

  Cluster cluster_;
  Rng rng_;
  Duration longest_;
};

}  // namespace

TEST_SUITE_BEGIN("sim/starved");

TEST_CASE("half of the processors run for a tenth of the time: nobody is put out") {
  std::uint64_t alarms = 0;
  std::uint64_t without = 0;  // The planted fault: nobody knows that timers were late.
  std::size_t put_out = 0;
  // One run alone may go well without it.
  const std::uint64_t last = std::max<std::uint64_t>(support::seeds(10), 2);
  for (std::uint64_t seed = 1; seed <= last; ++seed) {
    CAPTURE(seed);
    Starved starved(seed, 3, 9s);
    CHECK(starved.put_out() == 0);
    CHECK(starved.standstills() > 0);
    alarms += starved.false_accusations();
    Starved ignorant(seed, 0, 9s);
    without += ignorant.false_accusations();
    put_out += ignorant.put_out();
  }
  MESSAGE("false accusations: " << alarms << ", without local health: " << without << ", put out "
                                << put_out);
  CHECK(without + put_out > 10 * alarms);
}

}  // namespace starved_test
