#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "runtime/sim/cluster.h"

namespace parts_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// Machines with a service manager: where a daemon has ended another one begins 100 ms later, and
/// asks any that it reaches for entry.
class Services {
 public:
  Services(std::uint32_t count, std::uint64_t seed)
      : count_(count), cluster_(options(count, seed)) {
    cluster_.add_all();
    REQUIRE(cluster_.stabilize(10s));
  }
  Cluster& cluster() { return cluster_; }
  /// Nothing passes between the first `few`, with those that begin there, and the others.
  void cut(std::uint32_t few, std::uint32_t begin_there = 0) {
    std::set<MachineId> side;
    for (std::uint32_t i = 0; i < few; ++i) side.insert(MachineId{i});
    for (std::uint32_t i = 0; i < begin_there; ++i) side.insert(MachineId{count_ + i});
    cluster_.cut_off(std::move(side));
  }
  void run_for(Duration duration) {
    const Instant end = cluster_.now() + duration;
    while (cluster_.now() < end) look();
  }
  /// All are members of one mesh in the end.
  [[nodiscard]] bool come_together(Duration bound) {
    const Instant end = cluster_.now() + bound;
    while (cluster_.now() < end) {
      look();
      std::size_t running = 0;
      for (const SimDriver& machine : cluster_.machines()) running += machine.is_running() ? 1 : 0;
      if (running == count_ && cluster_.checkers().do_views_agree()) return true;
    }
    return false;
  }
  [[nodiscard]] std::size_t restarts() const { return ended_.size(); }
  /// How many say that their part has ended.
  [[nodiscard]] std::size_t out_of_mesh() {
    return static_cast<std::size_t>(
        std::ranges::count_if(cluster_.transcript().lines(), [](const std::string& line) {
          return line.find("stopped code=3 why=the mesh goes on") != std::string::npos;
        }));
  }

 private:
  static ClusterOptions options(std::uint32_t count, std::uint64_t seed) {
    ClusterOptions options;
    options.topology = overlay::Topology::uniform({count}, {1ms, 0});
    options.seed = seed;
    options.checks.may_split = true;
    options.keeps_lines = true;
    return options;
  }
  void look() {
    cluster_.run_for(100ms);
    for (std::uint32_t i = 0; i < cluster_.machines().size(); ++i) {
      const SimDriver& machine = cluster_.machine(MachineId{i});
      const bool has_ended = machine.self() != kNobody && !machine.is_running();
      if (has_ended && ended_.insert(MachineId{i}).second) cluster_.add_machine(0);
    }
  }

  std::uint32_t count_;
  Cluster cluster_;
  std::set<MachineId> ended_;
};

}  // namespace

TEST_SUITE_BEGIN("sim/parts");

TEST_CASE(
    "parts of a mesh come together when they reach each other again, whoever is asked first") {
  for (const std::uint32_t few : {1U, 2U, 3U}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(few);
      CAPTURE(seed);
      Services services(few == 3 ? 6 : 5, seed);
      services.cut(few);
      services.run_for(20s);
      CHECK(services.restarts() == 0);
      services.cluster().heal();
      CHECK(services.come_together(60s));
      CHECK(services.restarts() == few);
      CHECK(services.out_of_mesh() == few);
    }
  }
}

TEST_CASE("so they do when all of a part have been started anew meanwhile") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CAPTURE(seed);
    Services services(5, seed);
    services.cut(2, 2);
    services.run_for(20s);
    for (const std::uint32_t machine : {0U, 1U}) {
      services.cluster().kill(MachineId{machine}, false);
      services.run_for(10s);
    }
    services.cluster().heal();
    CHECK(services.come_together(120s));
  }
}

TEST_CASE("a job that began before a cut, or within it, goes on in its part until it ends") {
  Services services(5, 1);
  services.cut(2);
  services.run_for(20s);
  WorkloadOptions work;
  work.vnodes = 8;
  work.messages = 10;
  work.lasts = 60s;
  Workload& job = services.cluster().run_job(work);
  services.run_for(20s);
  services.cluster().heal();
  services.run_for(50s);
  const auto& result = services.cluster().result(job);
  REQUIRE(result.has_value());
  CHECK(result->code == 0);
  CHECK(services.come_together(180s));
}

TEST_SUITE_END();

}  // namespace parts_test
