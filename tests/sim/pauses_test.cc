#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/sim/cluster.h"
#include "tests/support/seeds.h"

namespace pauses_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// A mesh works off reductions back to back, half of them to all; 64 vnodes get a result every few
/// milliseconds. What happens meanwhile is up to the test.
class Show {
 public:
  Show(std::uint64_t seed, const std::vector<std::uint32_t>& sites)
      : cluster_(options(seed, sites)) {
    cluster_.add_all();
    REQUIRE(cluster_.stabilize(10s));
    WorkloadOptions work;
    work.vnodes = 64;
    work.reductions = 100'000;
    work.send_chance = 1.0;
    work.safe_point_chance = 1.0;
    work.lasts = 60s;
    job_ = &cluster_.run_job(work);
    const bool runs =
        cluster_.run_until([this, &work] { return results() > 10 * work.vnodes; }, 10s);
    REQUIRE(runs);
  }

  void join() { cluster_.add_machine(0); }
  /// One of the members, whichever the seed says.
  void drain(std::size_t which) {
    const auto staying = cluster_.staying();
    cluster_.drain(staying[which % staying.size()]);
  }
  /// The longest time without any result that is seen in the next `span`.
  [[nodiscard]] Duration worst_pause(Duration span) {
    const Instant end = cluster_.now() + span;
    Instant last = cluster_.now();
    Duration worst{};
    for (std::uint64_t seen = results(); cluster_.now() < end; cluster_.run_for(1ms)) {
      if (results() == seen) continue;
      seen = results();
      worst = std::max(worst, cluster_.now() - last);
      last = cluster_.now();
    }
    REQUIRE(cluster_.violations().all() == std::vector<std::string>{});
    return std::max(worst, cluster_.now() - last);
  }

 private:
  static ClusterOptions options(std::uint64_t seed, const std::vector<std::uint32_t>& sites) {
    ClusterOptions options;
    options.topology = overlay::Topology::uniform(sites, {20ms, 0});
    options.seed = seed;
    return options;
  }
  [[nodiscard]] std::uint64_t results() const { return job_->ledger().counters().results; }

  Cluster cluster_;
  Workload* job_ = nullptr;
};

/// What a test sees at worst: while trees are found, during four joins at once, and four drains.
struct Pauses {
  Duration opening{};
  Duration joins{};
  Duration drains{};
};

Pauses pauses_of(std::uint64_t seed, const std::vector<std::uint32_t>& sites) {
  Show show(seed, sites);
  Pauses pauses;
  pauses.opening = show.worst_pause(1s);
  for (int i = 0; i < 4; ++i) show.join();
  pauses.joins = show.worst_pause(1500ms);
  for (std::size_t i = 0; i < 4; ++i) show.drain(seed + 3 * i);
  pauses.drains = show.worst_pause(1500ms);
  return pauses;
}

}  // namespace

TEST_SUITE_BEGIN("sim/pauses");

// A reduction that waits in vain, for somebody whose contribution went another way, waits for
// ReductionOptions::wait_min at least: 50 ms, and as long again at every step up the tree.
TEST_CASE("[Saito08 G16 d] joins, drains and new trees hold no reduction up") {
  for (std::uint64_t seed = 1; seed <= support::seeds(12); ++seed) {
    CAPTURE(seed);
    const Pauses pauses = pauses_of(seed, {8});
    CHECK(to_ms(pauses.opening) < 20);
    CHECK(to_ms(pauses.joins) < 20);
    CHECK(to_ms(pauses.drains) < 20);
  }
}

TEST_CASE("[Saito08 G16 d] over long lines it takes some round trips more, and no time-out") {
  for (std::uint64_t seed = 1; seed <= support::seeds(6); ++seed) {
    CAPTURE(seed);
    const Pauses pauses = pauses_of(seed, {6, 6});  // a round trip takes 40 ms
    CHECK(to_ms(pauses.opening) < 150);
    CHECK(to_ms(pauses.joins) < 150);
    CHECK(to_ms(pauses.drains) < 150);
  }
}

TEST_SUITE_END();

}  // namespace pauses_test
