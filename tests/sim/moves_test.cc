#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/cluster.h"

namespace moves_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// A job whose vnodes have states of many pieces, and a newcomer that gets some of them: three
/// processors in two sites, and windows that make a state take about a second.
class Show {
 public:
  explicit Show(std::uint64_t seed, std::uint32_t receivers = 0)
      : cluster_(options(seed, receivers)) {
    cluster_.add_all();
    REQUIRE(cluster_.stabilize(10s));
    WorkloadOptions work;
    work.vnodes = 9;
    work.messages = 40;
    work.broadcasts = 30;
    work.reductions = 10;
    work.state_of = [](VnodeId) { return std::size_t{400'000}; };
    work.lasts = 3s;
    job_ = &cluster_.run_job(work);
    for (std::uint64_t v = 0; v < work.vnodes; ++v) {
      const VnodeId vnode{v};
      const auto is_held = [&] { return job_->ledger().holder(vnode).has_value(); };
      REQUIRE(cluster_.run_until(is_held, 10s));
    }
    newcomer_ = cluster_.add_machine(1);
    REQUIRE(cluster_.run_until([&] { return pieces() > 20; }, 10s));
    REQUIRE(cluster_.network().meter().of("Migrate").messages == 0);
  }

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] MachineId newcomer() const { return newcomer_; }
  [[nodiscard]] std::uint64_t pieces() {
    return cluster_.network().meter().of("StatePiece").messages;
  }
  [[nodiscard]] std::uint64_t moves() { return job_->ledger().counters().moves; }

  /// The job ends well, and nothing is missing.
  void check_end() {
    const auto& result = cluster_.result(*job_);
    CHECK(cluster_.run_until([&] { return result.has_value(); }, 60s));
    REQUIRE_MESSAGE(result.has_value(), cluster_.describe());
    CHECK(result->code == 0);
    CHECK(result->reason == "");
    CHECK(job_->ledger().outstanding() == 0);
    CHECK(cluster_.violations().all() == std::vector<std::string>{});
  }

 private:
  static ClusterOptions options(std::uint64_t seed, std::uint32_t receivers) {
    ClusterOptions options;
    options.daemon.state_receivers = receivers;
    options.seed = seed;
    options.topology = overlay::Topology::uniform({2, 1}, {20ms, 0});
    options.daemon.state_piece_bytes = 4096;
    options.daemon.state_window_bytes = 16384;
    return options;
  }

  Cluster cluster_;
  Workload* job_ = nullptr;
  MachineId newcomer_;
};

}  // namespace

TEST_SUITE_BEGIN("sim/moves");

TEST_CASE("states of many pieces arrive") {
  Show show(1);
  show.check_end();
  CHECK(show.moves() > 0);
  CHECK(show.pieces() > 80);
}

TEST_CASE("a leaver's vnodes go to one receiver after the other, also if one of these dies") {
  for (const bool dies : {false, true}) {
    CAPTURE(dies);
    Show show(6, /*receivers=*/1);
    const MachineId giver{1};
    show.cluster().drain(giver);
    if (dies) show.cluster().kill(show.newcomer(), /*lost=*/true);
    const auto has_left = [&] { return !show.cluster().machine(giver).is_running(); };
    CHECK(show.cluster().run_until(has_left, 40s));
    show.check_end();
  }
}

TEST_CASE("the receiver dies in the middle of a state: no job ends for that, and nothing is lost") {
  for (const std::uint64_t seed : {2U, 3U, 4U}) {
    CAPTURE(seed);
    Show show(seed);
    show.cluster().kill(show.newcomer(), /*lost=*/seed % 2 == 0);
    show.check_end();
  }
}

TEST_CASE("the receiver is drained in the middle of a state: it does not wait for the rest") {
  Show show(8);
  const Instant begin = show.cluster().now();
  const std::uint64_t before = show.pieces();
  show.cluster().drain(show.newcomer());
  const auto has_left = [&] { return !show.cluster().machine(show.newcomer()).is_running(); };
  CHECK(show.cluster().run_until(has_left, 10s));
  CHECK(show.cluster().now() - begin < 1s);
  CHECK(show.pieces() - before < 40);
  show.check_end();
}

TEST_CASE("a giver is drained in the middle of a state: it leaves when all is there") {
  Show show(6);
  const MachineId giver{1};
  show.cluster().drain(giver);
  const auto has_left = [&] { return !show.cluster().machine(giver).is_running(); };
  CHECK(show.cluster().run_until(has_left, 20s));
  CHECK(show.moves() > 0);
  show.check_end();
}

TEST_CASE("giver and receiver are drained in the middle of a state: it goes elsewhere") {
  Show show(7);
  show.cluster().drain(MachineId{1});
  show.cluster().drain(show.newcomer());
  const auto have_left = [&] {
    return !show.cluster().machine(MachineId{1}).is_running() &&
           !show.cluster().machine(show.newcomer()).is_running();
  };
  CHECK(show.cluster().run_until(have_left, 20s));
  show.check_end();
}

TEST_SUITE_END();

}  // namespace moves_test
