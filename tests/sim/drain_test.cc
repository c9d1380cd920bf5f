#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/sim/drain_cases.h"
#include "tests/support/seeds.h"

namespace drain_test {

using namespace phx;
using namespace phx::sim;
using runtime::ShareRule;

namespace {

DrainCase found(const std::string& name) {
  for (DrainCase& each : drain_cases()) {
    if (each.name == name) return std::move(each);
  }
  FAIL("no drain '", name, "'");
  return {};
}

DrainTrialResult run(DrainTrialOptions options, ShareRule rule, std::uint32_t receivers = 0) {
  options.rule = rule;
  options.receivers = receivers;
  const auto result = run_drain(options);
  REQUIRE(result.has_value());
  return *result;
}

}  // namespace

TEST_SUITE_BEGIN("sim/drain");

TEST_CASE("leavers keep to their sites where that is predicted to be faster, and it is" *
          phx::support::long_search()) {
  for (const auto* name : {"two sites, 6 and 2 of 8 leave", "four sites, half of each leaves",
                           "four sites, 3 of 4 of each leave"}) {
    CAPTURE(name);
    const DrainCase drain = found(name);
    const DrainTrialResult neighbours = run(drain.options, ShareRule::kNeighbours);
    const DrainTrialResult sites = run(drain.options, ShareRule::kSites);
    const DrainTrialResult chosen = run(drain.options, ShareRule::kPredicted);
    CHECK(chosen.time == sites.time);
    CHECK(to_ms(chosen.time) < 0.9 * to_ms(neighbours.time));
    CHECK(chosen.bytes == neighbours.bytes);
  }
}

TEST_CASE("leavers give to their neighbours where that is predicted to take as long, and it does") {
  for (const auto* name : {"two sites, one leaves", "site of 16, half, 1 KiB to 8 MiB"}) {
    CAPTURE(name);
    const DrainCase drain = found(name);
    const DrainTrialResult neighbours = run(drain.options, ShareRule::kNeighbours);
    const DrainTrialResult sites = run(drain.options, ShareRule::kSites);
    const DrainTrialResult chosen = run(drain.options, ShareRule::kPredicted);
    CHECK(chosen.time == neighbours.time);
    CHECK(to_ms(chosen.time) <= 1.05 * to_ms(sites.time));
  }
}

TEST_CASE("no schedule would be much faster than all at once, nor are steps of one receiver" *
          phx::support::long_search()) {
  constexpr double kBegin = 40;  // ms: offers, safe points, the last answers
  for (const auto* name :
       {"site of 16, half, one vnode of eight heavy", "site of 16, 12 leave, 1 KiB to 8 MiB",
        "site of 16, half, one leaver slow", "site of 16, half, two receivers slow",
        "site of 16, half, all interfaces differ", "four sites, half of each leaves"}) {
    CAPTURE(name);
    const DrainCase drain = found(name);
    const DrainTrialResult at_once = run(drain.options, ShareRule::kPredicted);
    const DrainTrialResult in_steps = run(drain.options, ShareRule::kPredicted, 1);
    CHECK(to_ms(at_once.time) <= 1.05 * to_ms(at_once.bound) + kBegin);
    CHECK(to_ms(in_steps.time) >= 0.94 * to_ms(at_once.time));
  }
}

TEST_SUITE_END();

}  // namespace drain_test
