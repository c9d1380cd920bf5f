#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "overlay/planners/planners.h"
#include "overlay/planners/tree_styles.h"
#include "runtime/sim/churn.h"
#include "runtime/sim/trial.h"
#include "tests/support/seeds.h"

using namespace phx;
using namespace phx::sim;

namespace {

constexpr ProcessorId kRoot{2};

Topology three_sites() {
  return Topology::parse(
             "site A 6 150\nsite B 6 150\nsite C 6 150\nlatency A B 2000\nlatency A C 3000\n"
             "latency B C 4000\nlink * * 1000\nnic 1000\noverhead 5\n")
      .value();
}

}  // namespace

TEST_SUITE_BEGIN("sim/tree_styles");

TEST_CASE("daemons that know nothing at their start send along the tree that a planner draws") {
  const std::uint64_t others = three_sites().processors() - 1;
  for (const std::string_view style : planners::tree_styles()) {
    CAPTURE(style);
    Trial trial({.topology = three_sites(), .tree_style = std::string(style)});
    REQUIRE(trial.start());
    trial.cluster().run_for(10s);  // until bandwidths are measured
    REQUIRE(trial.broadcast(kRoot).has_value());
    const auto round = trial.broadcast(kRoot);
    REQUIRE(round.has_value());
    CHECK(round->cost.of("FallbackCopy").messages == 0);
    CHECK(round->cost.of("TreeCopy").messages == others);
    const auto sum = trial.reduce(kRoot);
    REQUIRE(sum.has_value());
    CHECK(sum->cost.of("ReductionToken").messages == others);
    if (style == "learned" || style == "agm") continue;
    // The plan over the network as it is, which the daemons had to measure.
    const auto network = known_network(three_sites(), trial.placing());
    const auto plan = planners::plan(style, network, kRoot, 1);
    REQUIRE(plan.ok());
    const auto predicted = run_broadcast(plan.value(), three_sites(), trial.placing());
    MESSAGE(style << ": " << to_ms(round->time) << " ms, predicted " << to_ms(predicted.last()));
    CHECK(to_ms(round->time) >= 0.9 * to_ms(predicted.last()));
    CHECK(to_ms(round->time) <= 1.1 * to_ms(predicted.last()));
  }
}

TEST_CASE("churn: collectives along a planner's trees are exact while processors come and go") {
  for (const char* style : {"mgo", "list", "magpie", "agm"}) {
    ChurnOptions options = ChurnOptions::small();
    options.tree_style = style;
    for (std::uint64_t seed = 1; seed <= support::seeds(10); ++seed) {
      CAPTURE(style);
      CAPTURE(seed);
      const Outcome outcome = run_churn(seed, options);
      std::string found = outcome.waiting;
      for (const std::string& violation : outcome.violations) found += violation + '\n';
      REQUIRE(found == "");
      CHECK(outcome.counters.moves > 0);
    }
  }
}

TEST_SUITE_END();
