#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/churn.h"
#include "runtime/sim/cluster.h"
#include "tests/support/seeds.h"

namespace casts_test {

using namespace phx;
using namespace phx::sim;

namespace {

constexpr std::uint64_t kSites = 3;
constexpr std::uint64_t kEach = 5;  ///< Processors of a site, with a vnode each.

/// One root broadcasts as fast as it may, to three sites of a network of 1 Gbit/s.
class Show {
 public:
  /// `slow_mbit`: what goes to the last site, or comes from there.
  explicit Show(std::uint64_t slow_mbit, Duration far = 5ms,
                std::uint64_t copy_bytes_max = std::uint64_t{7} << 19U)
      : cluster_(options(slow_mbit, far, copy_bytes_max)) {
    cluster_.add_all();
    REQUIRE(cluster_.stabilize(10s));
    WorkloadOptions work;
    work.vnodes = kSites * kEach;
    work.message_bytes = std::size_t{256} << 10U;
    work.piece_bytes = std::size_t{64} << 10U;
    work.outbox_bytes = std::uint64_t{256} << 20U;
    work.send_chance = 1.0;
    work.safe_point_chance = 1.0;
    work.pause_min = work.pause_max = 1ms;
    job_ = &cluster_.run_job(work);
    job_->hold_open(true);
    for (std::uint64_t v = 0; v < work.vnodes; ++v) {
      const VnodeId vnode{v};
      REQUIRE(cluster_.run_until([&] { return ledger().holder(vnode).has_value(); }, 10s));
    }
    cluster_.run_for(2s);  // the trees are there
  }

  void broadcast(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) job_->order_broadcast(VnodeId{0});
  }
  /// Time until the vnodes of all sites but the last have received `count` in all.
  [[nodiscard]] Duration time_of(std::uint64_t count) {
    const Instant begin = cluster_.now();
    broadcast(count);
    expected_ += count;
    const auto is_done = [&] {
      for (std::uint64_t v = 0; v < kSites * kEach; ++v) {
        const auto holder = ledger().holder(VnodeId{v});
        const bool is_slow = holder && cluster_.model().site(*holder) == kSites - 1;
        if (!is_slow && ledger().broadcasts_taken(VnodeId{0}, VnodeId{v}) < expected_) return false;
      }
      return true;
    };
    REQUIRE(cluster_.run_until(is_done, 300s));
    return cluster_.now() - begin;
  }
  [[nodiscard]] bool all_have_all() {
    return cluster_.run_until([&] { return ledger().outstanding() == 0; }, 600s);
  }
  [[nodiscard]] std::uint64_t most(const std::string& name) {
    std::uint64_t most = 0;
    for (const SimDriver& machine : cluster_.machines()) {
      for (const auto& counter : machine.daemon()->status().counters) {
        if (counter.name == name) most = std::max(most, counter.value);
      }
    }
    return most;
  }
  [[nodiscard]] const Meter& meter() { return cluster_.network().meter(); }
  [[nodiscard]] const std::vector<std::string>& violations() { return cluster_.violations().all(); }

 private:
  static ClusterOptions options(std::uint64_t slow_mbit, Duration far,
                                std::uint64_t copy_bytes_max) {
    ClusterOptions options;
    options.daemon.copy_bytes_max = copy_bytes_max;
    const std::string each = std::to_string(kEach);
    const std::string text = "site A " + each + "\nsite B " + each + "\nsite C " + each +
                             "\nlatency * * 5000\nlatency A C " + std::to_string(far / 1us) +
                             "\nnic 1000\nlink A C " + std::to_string(slow_mbit) + "\nlink B C " +
                             std::to_string(slow_mbit) + "\n";
    options.topology = overlay::Topology::parse(text).value();
    options.machine.spawn_delay = 1ms;
    return options;
  }
  [[nodiscard]] Ledger& ledger() { return job_->ledger(); }

  Cluster cluster_;
  Workload* job_ = nullptr;
  std::uint64_t expected_ = 0;
};

}  // namespace

TEST_SUITE_BEGIN("sim/casts");

TEST_CASE("a line of 20 Mbit/s below the root slows only those behind it, and fills no daemon" *
          phx::support::long_search()) {
  constexpr std::uint64_t kCount = 400;
  Show even(1000);
  Show uneven(20);

  const Duration fast = even.time_of(kCount);
  const Duration slow = uneven.time_of(kCount);

  MESSAGE("even " << to_ms(fast) << " ms, with a slow line " << to_ms(slow) << " ms; copies "
                  << even.meter().of("TreeCopy").messages << " and "
                  << even.meter().of("FallbackCopy").messages);
  CHECK(to_ms(slow) * 0.9 <= to_ms(fast));
  CHECK(uneven.most("copy-bytes-most") <= std::uint64_t{4} << 20U);
  CHECK(uneven.all_have_all());
  CHECK(uneven.violations() == std::vector<std::string>{});
}

TEST_CASE("copies for which there is no room are dropped, come again, and hold nobody up") {
  constexpr std::uint64_t kMost = 128'000;
  Show show(20, 5ms, kMost);

  static_cast<void>(show.time_of(100));
  REQUIRE(show.all_have_all());

  CHECK(show.most("copies-dropped") > 0);
  CHECK(show.most("copy-bytes-most") <= 2 * kMost + 66'000);  // at the root
  CHECK(show.violations() == std::vector<std::string>{});
}

TEST_CASE("receivers of different latency are in step once their windows have grown" *
          phx::support::long_search()) {
  Show show(1000, 40ms);
  static_cast<void>(show.time_of(300));
  REQUIRE(show.all_have_all());
  const Meter before = show.meter();

  static_cast<void>(show.time_of(300));
  REQUIRE(show.all_have_all());

  const Meter cost = show.meter().since(before);
  CHECK(cost.of("TreeCopy").messages > 0);
  CHECK(cost.of("FallbackCopy").messages * 100 <= cost.of("TreeCopy").messages);
}

TEST_CASE("processors without vnodes die while they pass on broadcasts: nothing is lost") {
  ChurnOptions options = ChurnOptions::relays();
  options.workload.broadcasts = 200;
  options.workload.reductions = 0;
  std::uint64_t survived = 0;
  for (std::uint64_t seed = 1; seed <= support::seeds(40); ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run_deaths(seed, options);
    std::string found;
    for (const std::string& violation : outcome.violations) found += violation + '\n';
    REQUIRE(found == "");
    if (outcome.left > 0 && !outcome.has_failed) ++survived;
  }
  CHECK(survived > 0);
}

TEST_CASE("a job ends though its last vote completes when processes have left, as from a loop") {
  for (std::uint64_t seed = 1; seed <= support::seeds(100); ++seed) {
    CAPTURE(seed);
    ClusterOptions options;
    options.topology = overlay::Topology::uniform({3, 3}, {5ms, 0});
    options.seed = seed;
    Cluster cluster(std::move(options));
    cluster.add_all();
    REQUIRE(cluster.stabilize(10s));
    WorkloadOptions work;
    work.vnodes = 12;
    work.balance = false;
    work.messages = work.broadcasts = work.reductions = 4;
    work.has_last_vote = true;
    const auto& result = cluster.result(cluster.run_job(work));
    REQUIRE(cluster.run_until([&] { return result.has_value(); }, 60s));
    CHECK(result->code == 0);
    CHECK(cluster.violations().empty());
  }
}

TEST_SUITE_END();

}  // namespace casts_test
