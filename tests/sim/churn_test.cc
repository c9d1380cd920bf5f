#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <string>

#include "runtime/sim/churn.h"
#include "tests/support/planted_runs.h"
#include "tests/support/seeds.h"

namespace churn_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// All that was found, as one text that a failing check prints.
std::string found(const Outcome& outcome) {
  std::string text;
  for (const std::string& violation : outcome.violations) text += violation + '\n';
  return text + outcome.waiting;
}

void check_found(PlantedFault fault, const std::string& what) {
  const auto run = [](std::uint64_t seed, PlantedFault planted, PlantedFault wanted) {
    ChurnOptions options = ChurnOptions::small();
    options.planted = planted;
    options.stalls_after = 10s;
    // Vnodes that never arrive are offered again and again: a healthy run settles within 5 s.
    if (wanted == PlantedFault::kLostPieces) options.settles_within = 5s;
    if (wanted == PlantedFault::kUnnumberedOutput) options.workload.output_bytes = 1000;
    return found(run_churn(seed, options));
  };
  support::check_found(
      [&](std::uint64_t seed, PlantedFault planted) { return run(seed, planted, fault); }, fault,
      what);
}

}  // namespace

TEST_SUITE_BEGIN("sim/churn");

TEST_CASE("churn: nothing is lost, doubled or disordered while processors come and go") {
  for (std::uint64_t seed = 1; seed <= support::seeds(60); ++seed) {
    CAPTURE(seed);  // replay: phoenix sim --scenario churn-small --seed N --trace
    const Outcome outcome = run_churn(seed, ChurnOptions::small());
    REQUIRE(found(outcome) == "");
    CHECK(outcome.counters.moves > 0);
    CHECK(outcome.machines > 7);
  }
}

TEST_CASE("churn: nothing is lost while states go to one receiver after the other") {
  ChurnOptions options = ChurnOptions::small();
  options.state_receivers = 1;
  for (std::uint64_t seed = 1; seed <= support::seeds(20); ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run_churn(seed, options);
    REQUIRE(found(outcome) == "");
    CHECK(outcome.counters.moves > 0);
  }
}

TEST_CASE("churn: who joins while vnodes move knows all owners in the end") {
  ChurnOptions options = ChurnOptions::small();
  options.faults = {.joins = 150ms, .drains = 200ms, .releases = 100ms, .members_max = 12};
  options.wan_latency = 50ms;
  options.settles_within = 60s;  // Ways are five times as long: the first seed takes 12 s.
  options.is_calm = true;
  for (std::uint64_t seed = 1; seed <= support::seeds(40); ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run_churn(seed, options);
    REQUIRE(found(outcome) == "");
    CHECK(outcome.counters.moves > 0);
  }
}

TEST_CASE("churn: slow links, several jobs, pairs and sites that do not reach each other") {
  for (std::uint64_t seed = 1; seed <= support::seeds(20); ++seed) {
    CAPTURE(seed);  // replay: phoenix sim --scenario drawn --seed N --trace
    const Outcome outcome = run_churn(seed, ChurnOptions::drawn());
    REQUIRE(found(outcome) == "");
    CHECK(outcome.counters.moves > 0);
  }
}

// 447: two gave up a connection for a detour, and the detour for the connection, again and again.
// 845: a copy waited for one that had come and gone in views that its sender had missed.
// 1230: whoever was cut off said of one that had left before: put out. The check counted that.
// 1427: a coordinator on a slow line gave each of many new links the largest share at once, and was
// not heard for 5 s behind that.
// 3611, 3819: dials met a short cut and failed 3 s later; systems repeat what opens a connection.
TEST_CASE("drawn runs that went wrong once") {
  constexpr std::array<std::uint64_t, 10> kSeeds = {447,  845,  1230, 1353, 1427,
                                                    1512, 1670, 1943, 3611, 3819};
  for (std::uint64_t i = 0; i < support::seeds(kSeeds.size()); ++i) {
    const std::uint64_t seed = kSeeds[i];
    CAPTURE(seed);
    ChurnOptions options = ChurnOptions::drawn();
    options.extras_share = 0;
    options.draws_faults = false;  // They did not meet those then.
    const Outcome outcome = run_churn(seed, options);
    CHECK(found(outcome) == "");
  }
}

TEST_CASE(
    "churn: a tool that is stopped now and then shows all that was written, and no job ends") {
  const ChurnOptions options = ChurnOptions::stopped();
  for (std::uint64_t seed = 51; seed < 51 + support::seeds(20); ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run_churn(seed, options);
    REQUIRE(found(outcome) == "");
    CHECK(outcome.counters.outputs > 0);
    CHECK(outcome.counters.moves > 0);
  }
}

TEST_CASE("churn: 32 processors with 200 vnodes under full load" * phx::support::long_search()) {
  // In 2056 processes wait for room all the time, and asked everybody each time.
  constexpr std::array<std::uint64_t, 4> kSeeds = {2056, 1001, 1002, 1003};
  for (std::uint64_t i = 0; i < support::seeds(kSeeds.size()); ++i) {
    const std::uint64_t seed = kSeeds[i];
    CAPTURE(seed);
    const Outcome outcome = run_churn(seed, ChurnOptions::full());
    REQUIRE(found(outcome) == "");
    CHECK(outcome.counters.messages == 200 * 40);
    CHECK(outcome.counters.broadcasts == 200 * 300);
    // With the hops of those that look for a vnode.
    CHECK(outcome.cost.of("FlowQuestion").messages < 2 * outcome.counters.messages);
  }
}

TEST_CASE("deaths: a job that loses vnodes ends everywhere, for one reason") {
  ChurnOptions options = ChurnOptions::stopped();
  options.faults.kills = 1500ms;
  options.faults.losses = 2s;
  std::uint64_t failed = 0;
  for (std::uint64_t seed = 241; seed < 241 + support::seeds(40); ++seed) {
    CAPTURE(seed);
    const Outcome outcome = run_deaths(seed, options);
    REQUIRE(found(outcome) == "");
    if (outcome.has_failed) ++failed;
  }
  CHECK(failed > support::seeds(40) / 4);
}

TEST_CASE("relays: a job goes on, and is exact, when only those die that hold nothing of it") {
  std::uint64_t left = 0;
  for (std::uint64_t seed = 1; seed <= support::seeds(60); ++seed) {
    CAPTURE(seed);  // replay: phoenix sim --scenario relays --seed N --trace
    const Outcome outcome = run_deaths(seed, ChurnOptions::relays());
    REQUIRE(found(outcome) == "");
    CHECK(!outcome.has_failed);
    left += outcome.left;
  }
  CHECK(left > 3 * support::seeds(60));
}

TEST_CASE("the same seed leads to the same run, another one to another") {
  const Outcome once = run_churn(7, ChurnOptions::small());
  const Outcome again = run_churn(7, ChurnOptions::small());
  const Outcome other = run_churn(8, ChurnOptions::small());

  CHECK(once.hash == again.hash);
  CHECK(once.steps == again.steps);
  CHECK(once.hash != other.hash);
}

TEST_CASE("a run through the bytes of the wire is the same run") {
  ChurnOptions options = ChurnOptions::small();
  const Outcome plain = run_churn(7, options);
  options.wire = true;
  const Outcome wired = run_churn(7, options);

  CHECK(found(wired) == "");
  CHECK(wired.hash == plain.hash);
}

TEST_CASE("the checkers find a missing duplicate filter" * phx::support::long_search()) {
  check_found(PlantedFault::kNoDuplicateFilter, "(again)");
}

TEST_CASE("the checkers find a copy that is forwarded to the wrong child" *
          phx::support::long_search()) {
  check_found(PlantedFault::kWrongChild, "missing: broadcast");
}

TEST_CASE("the checkers find a counter that is forgotten when a vnode moves" *
          phx::support::long_search()) {
  check_found(PlantedFault::kForgottenCounter, "(again)");
}

TEST_CASE("the checkers find parcels that are lost, states that are cut and sums that are wrong" *
          phx::support::long_search()) {
  check_found(PlantedFault::kLostParcels, "to arrive from");
  check_found(PlantedFault::kCutState, "came with another state");
  check_found(PlantedFault::kWrongSum, "wrong result");
}

TEST_CASE("the checkers find pieces of states, and of messages, that change places" *
          phx::support::long_search()) {
  check_found(PlantedFault::kSwappedState, "came with another state");
  check_found(PlantedFault::kSwappedPieces, "was damaged");
}

TEST_CASE("the checkers find pieces of states that are lost, and owners before the last piece" *
          phx::support::long_search()) {
  check_found(PlantedFault::kLostPieces, "piece 1 of its state is missing");
  check_found(PlantedFault::kEarlyOwner, "without its state");
}

TEST_CASE("the checkers find leavers that never go, and those that go unasked" *
          phx::support::long_search()) {
  check_found(PlantedFault::kUnansweredLeaver, "the mesh does not settle");
  check_found(PlantedFault::kUnaskedLeaver, "left, and nobody had told it to");
}

TEST_CASE("the checkers find contributions that are lost, counted twice, or too far ahead" *
          phx::support::long_search()) {
  const auto check_relays = [](PlantedFault fault, const std::string& what) {
    const auto run = [fault](std::uint64_t seed, PlantedFault planted) {
      ChurnOptions options = ChurnOptions::relays();
      options.planted = planted;
      options.stalls_after = 10s;
      // An ignored line shows if a death meets a reduction: one run in 600, and in 50 with more.
      if (fault == PlantedFault::kIgnoredLine) {
        options.long_share = 0;
        options.workload.reductions = 400;
      }
      return found(run_deaths(seed, options));
    };
    support::check_found(run, fault, what);
  };
  check_relays(PlantedFault::kIgnoredLine, "missing: results of reductions");
  check_relays(PlantedFault::kForgottenContributions, "missing: results of reductions");
  check_relays(PlantedFault::kNoContributionWindow, "towards one vnode are not complete");
}

TEST_CASE("the checkers find broadcasts that are dropped and not told, and credit that is ignored" *
          phx::support::long_search()) {
  check_found(PlantedFault::kLostCopies, "missing: broadcast");
  check_found(PlantedFault::kUntoldDrops, "missing: broadcast");
  check_found(PlantedFault::kNoCastCredit, "missing: broadcast");
}

TEST_CASE("the checkers find output that comes out of order when the home of its job moves" *
          phx::support::long_search()) {
  check_found(PlantedFault::kUnnumberedOutput, "the tool that follows j1, to read its output");
}

TEST_CASE("200 processors in three sites start, broadcast and reduce") {
  ChurnOptions options;
  options.sites = {80, 60, 60};
  options.workload.vnodes = 200;
  options.workload.messages = 2;
  options.workload.broadcasts = 5;
  options.workload.reductions = 2;
  options.faults = {};

  const Outcome outcome = run_churn(1, options);

  CHECK(found(outcome) == "");
  CHECK(outcome.counters.broadcasts == 200 * 5);
}

}  // namespace churn_test
