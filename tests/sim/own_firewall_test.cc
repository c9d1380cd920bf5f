#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

#include "runtime/sim/cluster.h"
#include "tests/support/busy_job.h"
#include "tests/support/seeds.h"

namespace own_firewall_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr Duration kBegin = 500ms;

/// Some real machines, and the daemons of each; the firewall of one refuses everything for a while.
struct Setting {
  std::uint32_t machines = 4;
  std::uint32_t each = 1;
  std::uint32_t shut = 0;
  Duration lasts = 2s;
  std::uint64_t seed = 1;
};

ClusterOptions options(const Setting& setting) {
  ClusterOptions options;
  options.topology = overlay::Topology::uniform({setting.machines * setting.each}, {1ms, 0});
  options.daemons_each = setting.each;
  options.seed = setting.seed;
  return options;
}

void shut_in(Cluster& cluster, const Setting& setting) {
  std::set<MachineId> side;
  for (std::uint32_t i = 0; i < setting.each; ++i) {
    side.insert(MachineId{setting.shut * setting.each + i});
  }
  cluster.agenda().schedule_in(kBegin, [&cluster, side] { cluster.network().shut_in(side); });
  cluster.agenda().schedule_in(kBegin + setting.lasts,
                               [&cluster] { cluster.network().shut_in({}); });
}

/// How many are put out, in quiet or at work.
std::size_t put_out(const Setting& setting, bool at_work, bool need_others = true) {
  ClusterOptions wanted = options(setting);
  wanted.daemon.refusals_need_others = need_others;
  Cluster cluster(std::move(wanted));
  cluster.add_all();
  REQUIRE(cluster.stabilize(10s));
  shut_in(cluster, setting);
  if (at_work) support::check_busy_job(cluster, 12s);
  cluster.run_for(12s);
  return cluster.put_out().size();
}

}  // namespace

TEST_SUITE_BEGIN("sim/reachability");

TEST_CASE("whose own firewall refuses everything for less than the time-out puts nobody out") {
  for (const std::uint32_t machines : {2U, 4U}) {
    for (const std::uint32_t each : {1U, 3U}) {
      for (const std::uint32_t shut : {0U, 1U}) {  // The coordinator's machine, and another one.
        for (const Duration lasts : {1200ms, 2000ms, 3000ms}) {
          for (std::uint64_t seed = 1; seed <= support::seeds(3); ++seed) {
            const Setting setting{machines, each, shut, lasts, seed};
            CAPTURE(machines);
            CAPTURE(each);
            CAPTURE(shut);
            CAPTURE(lasts.count());
            CAPTURE(seed);
            CHECK(put_out(setting, /*at_work=*/false) == 0);
            CHECK(put_out(setting, /*at_work=*/true) == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("the checkers find refusals that count without anybody else being heard") {
  for (const std::uint32_t each : {1U, 3U}) {
    CAPTURE(each);
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Setting setting{.each = each, .lasts = 3s, .seed = seed};
      found += put_out(setting, /*at_work=*/false, /*need_others=*/false);
    }
    CHECK(found > 0);
  }
}

TEST_CASE("a daemon that dies while another machine is shut in is found") {
  for (const std::uint32_t each : {1U, 3U}) {
    for (const std::uint32_t shut : {0U, 2U}) {
      CAPTURE(each);
      CAPTURE(shut);
      const Setting setting{.each = each, .shut = shut, .lasts = 2s};
      Cluster cluster(options(setting));
      cluster.add_all();
      REQUIRE(cluster.stabilize(10s));
      shut_in(cluster, setting);
      const MachineId dead{1 * each};
      const std::string name = to_string(cluster.machine(dead).self());
      cluster.agenda().schedule_in(kBegin + 100ms, [&] { cluster.kill(dead, /*lost=*/false); });
      cluster.run_for(12s);
      CHECK(cluster.put_out() == std::set<std::string>{name});
    }
  }
}

/// How long it takes until the others agree that one who was killed is gone.
Duration known_after(std::uint32_t machines, std::uint64_t seed) {
  const Setting setting{.machines = machines, .seed = seed};
  Cluster cluster(options(setting));
  cluster.add_all();
  REQUIRE(cluster.stabilize(10s));
  cluster.run_for(3s + 97ms * seed);
  const Instant begin = cluster.now();
  cluster.kill(MachineId{machines - 1}, /*lost=*/false);
  REQUIRE(cluster.run_until([&] { return !cluster.put_out().empty(); }, 20s));
  return cluster.now() - begin;
}

TEST_CASE("a death is known soon where a third machine is, and after the time-out where none is") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const Duration of_two = known_after(2, seed);
    CHECK(of_two >= 4s);
    CHECK(of_two <= 6s);
    const Duration of_three = known_after(3, seed);
    CAPTURE(of_three.count());
    CHECK(of_three <= 2500ms);
    CHECK(known_after(5, seed) <= 2500ms);
  }
}

TEST_SUITE_END();

}  // namespace own_firewall_test
