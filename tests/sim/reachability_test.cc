#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

#include "runtime/sim/churn.h"
#include "runtime/sim/cluster.h"
#include "tests/support/busy_job.h"
#include "tests/support/planted_runs.h"
#include "tests/support/seeds.h"

namespace reachability_test {

using namespace phx;
using namespace phx::sim;

namespace {

using Barrier = Network::Barrier;

std::string found(const Outcome& outcome) {
  std::string text;
  for (const std::string& violation : outcome.violations) text += violation + '\n';
  return text + outcome.waiting;
}

ClusterOptions machines(std::uint32_t count) {
  ClusterOptions options;
  options.topology = overlay::Topology::uniform({count}, {1ms, 0});
  return options;
}

/// Machine `id` takes no connections of these others.
void close_off(Cluster& cluster, std::uint32_t id, std::uint32_t others, Barrier barrier) {
  for (std::uint32_t other = 0; other < others; ++other) {
    if (other != id) cluster.network().set_barrier(MachineId{other}, MachineId{id}, barrier);
  }
}

/// A job that takes some seconds: all is delivered, and nobody was put out.
void check_job(Cluster& cluster) {
  support::check_busy_job(cluster, 15s);
  CHECK(cluster.put_out().empty());
}

/// A machine is cut off from all but the coordinator's, which is cut off from the one that the
/// first one watches; all others reach that one. How many were put out within 40 s.
std::size_t put_out_by_a_lonely_accuser(std::uint64_t seed, std::uint32_t accusers) {
  constexpr std::uint32_t kMachines = 8;
  ClusterOptions options = machines(kMachines);
  options.seed = seed;
  options.daemon.accusers = accusers;
  Cluster cluster(std::move(options));
  cluster.add_all();
  REQUIRE(cluster.stabilize(10s));
  const auto lonely = cluster.find(ProcessorId{2 + static_cast<std::uint32_t>(seed % 6)});
  const auto watched = cluster.find(ProcessorId{3 + static_cast<std::uint32_t>(seed % 6)});
  for (std::uint32_t other = 1; other < kMachines; ++other) {
    if (MachineId{other} == *lonely) continue;
    cluster.network().set_barrier(*lonely, MachineId{other}, Barrier::kCut);
  }
  cluster.network().set_barrier(MachineId{0}, *watched, Barrier::kCut);
  cluster.run_for(40s);
  return cluster.put_out().size();
}

std::size_t detours(Cluster& cluster, std::uint32_t machine) {
  return cluster.machine(MachineId{machine}).daemon()->status().detours.size();
}

}  // namespace

TEST_SUITE_BEGIN("sim/reachability");

TEST_CASE("churn: nobody is put out who is reached by others, and nothing is lost") {
  for (std::uint64_t seed = 1; seed <= support::seeds(20); ++seed) {
    CAPTURE(seed);  // replay: phoenix sim --scenario barred --seed N --trace
    const Outcome outcome = run_churn(seed, ChurnOptions::barred());
    REQUIRE(found(outcome) == "");
    CHECK(outcome.counters.moves > 0);
  }
}

TEST_CASE(
    "who reaches one other only accuses those that this one does not reach, and is not believed") {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    CHECK(put_out_by_a_lonely_accuser(seed, /*accusers=*/2) == 0);
    found += put_out_by_a_lonely_accuser(seed, /*accusers=*/1);
  }
  CHECK(found > 0);  // The planted fault: a single accusation is believed.
}

TEST_CASE("the checkers find relays that lose what passes them" * phx::support::long_search()) {
  const auto run = [](std::uint64_t seed, PlantedFault planted) {
    ChurnOptions options = ChurnOptions::barred();
    options.planted = planted;
    return found(run_churn(seed, options));
  };
  support::check_found(run, PlantedFault::kForgetfulRelay, "lives and was put out");
}

TEST_CASE("a pair that does not reach each other talks through a third one, and says so") {
  for (const Barrier barrier : {Barrier::kRefusal, Barrier::kDrop, Barrier::kCut}) {
    CAPTURE(static_cast<int>(barrier));
    Cluster cluster(machines(8));
    cluster.add_all();
    REQUIRE(cluster.stabilize(10s));
    // p3 and p5 watch each other, in one direction.
    cluster.network().set_barrier(MachineId{2}, MachineId{4}, barrier);
    cluster.network().set_barrier(MachineId{4}, MachineId{2}, barrier);
    if (barrier != Barrier::kCut) {
      for (int i = 0; i < 300; ++i) cluster.network().break_one(Network::Break::kBoth);
    }
    check_job(cluster);
    CHECK(detours(cluster, 2) == 1);
    CHECK(detours(cluster, 4) == 1);

    cluster.network().lift_barriers(MachineId{2}, MachineId{4});
    cluster.run_for(70s);
    CHECK(detours(cluster, 2) == 0);
    CHECK(detours(cluster, 4) == 0);
  }
}

TEST_CASE("whom nobody can dial is asked through others to dial back") {
  Cluster cluster(machines(6));
  close_off(cluster, 3, 6, Barrier::kDrop);
  cluster.add_all();
  REQUIRE(cluster.stabilize(20s));

  check_job(cluster);

  for (std::uint32_t machine = 0; machine < 6; ++machine) CHECK(detours(cluster, machine) == 0);
}

TEST_CASE("two that take no connections work in a mesh with one that does") {
  for (const Barrier barrier : {Barrier::kRefusal, Barrier::kDrop}) {
    CAPTURE(static_cast<int>(barrier));
    Cluster cluster(machines(3));
    close_off(cluster, 1, 3, barrier);
    close_off(cluster, 2, 3, barrier);
    cluster.add_all();
    REQUIRE(cluster.stabilize(20s));

    check_job(cluster);

    CHECK(detours(cluster, 0) == 0);
    CHECK(detours(cluster, 1) == 1);
    CHECK(detours(cluster, 2) == 1);
  }
}

TEST_CASE("a relay that leaves or dies is replaced") {
  for (const bool dies : {false, true}) {
    CAPTURE(dies);
    Cluster cluster(machines(6));
    cluster.add_all();
    REQUIRE(cluster.stabilize(10s));
    cluster.network().set_barrier(MachineId{2}, MachineId{4}, Barrier::kCut);
    cluster.run_for(10s);
    const auto before = cluster.machine(MachineId{2}).daemon()->status().detours;
    REQUIRE(before.size() == 1);
    const auto relay = cluster.find(before[0].via);
    REQUIRE(relay.has_value());
    if (dies) {
      cluster.kill(*relay, /*lost=*/true);
    } else {
      cluster.drain(*relay);
    }
    cluster.run_for(30s);

    const auto after = cluster.machine(MachineId{2}).daemon()->status().detours;
    REQUIRE(after.size() == 1);
    CHECK(after[0].via != before[0].via);
    CHECK(cluster.put_out().size() == (dies ? 1 : 0));
  }
}

TEST_CASE("a firewall that refuses for less than a fifth of the time-out puts nobody out") {
  for (std::uint32_t machine = 0; machine < 5; ++machine) {  // The coordinator is one of them.
    for (const Duration lasts : {100ms, 500ms, 900ms, 3000ms}) {
      CAPTURE(machine);
      CAPTURE(lasts.count());
      Cluster cluster(machines(5));
      cluster.add_all();
      REQUIRE(cluster.stabilize(10s));
      const Instant begin = cluster.now();
      cluster.agenda().schedule_in(500ms, [&] { cluster.network().close_off(MachineId{machine}); });
      cluster.agenda().schedule_in(500ms + lasts,
                                   [&] { cluster.network().open_again(MachineId{machine}); });
      if (lasts < 1s) check_job(cluster);
      while (cluster.now() < begin + 10s) cluster.run_for(1s);
      CHECK(cluster.put_out().empty() == (lasts < 1s));
    }
  }
}

TEST_CASE(
    "a mesh that is taken down ends whole, whoever is asked and reaches others through others") {
  for (const Barrier barrier : {Barrier::kRefusal, Barrier::kDrop, Barrier::kCut}) {
    for (std::uint32_t asked = 0; asked < 5; ++asked) {
      CAPTURE(static_cast<int>(barrier));
      CAPTURE(asked);
      Cluster cluster(machines(5));
      cluster.add_all();
      REQUIRE(cluster.stabilize(10s));
      // The first one and the last one do not reach each other; nor do two in between.
      for (const auto& [one, other] : {std::pair{0U, 4U}, std::pair{1U, 2U}}) {
        cluster.network().set_barrier(MachineId{one}, MachineId{other}, barrier);
        cluster.network().set_barrier(MachineId{other}, MachineId{one}, barrier);
      }
      check_job(cluster);
      cluster.order_down(MachineId{asked});
      cluster.run_for(3s);
      for (std::uint32_t id = 0; id < 5; ++id) {
        CAPTURE(id);
        CHECK(!cluster.machine(MachineId{id}).is_running());
      }
      CHECK(cluster.put_out().empty());
    }
  }
}

TEST_CASE("of a mesh that was cut into two parts the smaller one ends when it has healed") {
  for (const std::uint32_t small : {1U, 2U, 3U}) {
    CAPTURE(small);
    constexpr std::uint32_t kMachines = 7;
    Cluster cluster(machines(kMachines));
    cluster.add_all();
    REQUIRE(cluster.stabilize(10s));
    std::set<MachineId> side;
    for (std::uint32_t i = kMachines - small; i < kMachines; ++i) side.insert(MachineId{i});
    cluster.cut_off(side);
    cluster.run_for(60s);
    for (const MachineId machine : side) {
      REQUIRE(cluster.machine(machine).daemon()->view().members.size() == small);
    }

    cluster.heal();
    cluster.run_for(180s);

    for (const MachineId machine : side) CHECK_FALSE(cluster.machine(machine).is_running());
    for (std::uint32_t i = 0; i < kMachines - small; ++i) {
      CHECK(cluster.machine(MachineId{i}).daemon()->view().members.size() == kMachines - small);
    }
  }
}

TEST_SUITE_END();

}  // namespace reachability_test
