#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/sim/churn.h"
#include "runtime/sim/trial.h"
#include "tests/support/seeds.h"

namespace ordered_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// A run under faults whose reductions are sums of doubles. What it finds.
std::vector<std::string> violations(std::uint64_t seed, ChurnOptions options, Sums sums) {
  options.workload.sums = sums;
  return run_churn(seed, options).violations;
}

bool is_wrong_result(const std::string& violation) {
  return violation.find("wrong result") != std::string::npos;
}

/// Each with one vnode.
overlay::Topology three_sites(std::uint32_t each) {
  constexpr std::uint64_t kGigabit = 125'000'000;
  overlay::Topology topology = overlay::Topology::uniform({each, each, each}, {3ms, kGigabit});
  for (overlay::Topology::Site& site : topology.sites) site.latency = 150us;
  topology.interface_bytes_per_second = kGigabit;
  return topology;
}

/// The second one of its kind.
Trial::Round sum_of(Trial& trial, std::size_t bytes, bool ordered) {
  const Trial::Shape shape{.elements = bytes / sizeof(double), .ordered = ordered};
  REQUIRE(trial.reduce(ProcessorId{2}, shape).has_value());
  const auto round = trial.reduce(ProcessorId{2}, shape);
  REQUIRE(round.has_value());
  return *round;
}

}  // namespace

TEST_SUITE_BEGIN("sim/ordered");

TEST_CASE("ordered sums have the expected bits while processors come, go and vnodes move") {
  for (std::uint64_t seed = 1; seed <= support::seeds(30); ++seed) {
    CAPTURE(seed);
    CHECK(violations(seed, ChurnOptions::small(), Sums::kOrderedDoubles).empty());
  }
}

TEST_CASE("ordered sums have the expected bits when processors die that pass them on") {
  for (std::uint64_t seed = 1; seed <= support::seeds(15); ++seed) {
    CAPTURE(seed);
    CHECK(violations(seed, ChurnOptions::relays(), Sums::kOrderedDoubles).empty());
  }
}

TEST_CASE("sums that are not ordered have other bits, and nothing else is wrong with them") {
  constexpr std::uint64_t kSeeds = 5;
  std::uint64_t others = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto found = violations(seed, ChurnOptions::small(), Sums::kDoubles);
    CHECK(std::all_of(found.begin(), found.end(), is_wrong_result));
    others += found.size();
  }
  CHECK(others > kSeeds);
}

struct Price {
  std::size_t bytes;
  double time;     ///< At most so many times that of an unordered sum in the same mesh, ...
  double traffic;  ///< and its bytes.
};

void check_prices(std::uint32_t per_site, const std::vector<Price>& prices) {
  Trial trial({.topology = three_sites(per_site), .pause = 100us});
  REQUIRE(trial.start());
  trial.cluster().run_for(3s);
  for (const Price& most : prices) {
    const Trial::Round plain = sum_of(trial, most.bytes, false);
    const Trial::Round ordered = sum_of(trial, most.bytes, true);
    const auto bytes = [](const Trial::Round& round) {
      return static_cast<double>(round.cost.of("ReductionToken").bytes);
    };
    const double time = to_ms(ordered.time) / to_ms(plain.time);
    const double traffic = bytes(ordered) / bytes(plain);
    MESSAGE(per_site << " per site, " << most.bytes << " bytes: " << to_ms(plain.time)
                     << " ms, ordered " << time << " times that and " << traffic
                     << " times its bytes");
    CHECK(time <= most.time);
    CHECK(traffic <= most.traffic);
  }
  CHECK(trial.cluster().violations().all() == std::vector<std::string>{});
}

// A site of 67 in the middle is seven blocks, so its way out carries seven times as much.
TEST_CASE("the order costs a short sum nothing, and a long one what odd ranges of vnodes are" *
          phx::support::long_search()) {
  constexpr std::size_t kKiB = 1024;
  check_prices(67, {{8, 1.1, 1.5}, {64 * kKiB, 3.5, 2.5}, {1024 * kKiB, 8, 2.6}});
  check_prices(64, {{8, 1.1, 1.5}, {64 * kKiB, 3, 2.5}, {1024 * kKiB, 5.5, 2.6}});
}

TEST_SUITE_END();

}  // namespace ordered_test
