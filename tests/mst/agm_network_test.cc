#include <doctest/doctest.h>

#include "overlay/mst/agm_network.h"
#include "tests/mst/graphs.h"

namespace agm_network_test {

using namespace phx;
using namespace phx::mst;
using namespace phx::mst::support;

TEST_SUITE_BEGIN("mst/agm_network");

TEST_CASE("the network of the paper has the tree that its table gives, in every site") {
  Lab lab({.theta = 0}, [](ProcessorId from, ProcessorId to) {
    return from == kNobody ? Duration{} : agm_latency(from, to);
  });
  lab.set_members(agm_processors());
  for (const ProcessorId a : agm_processors().ids()) {
    for (const ProcessorId b : agm_processors().ids()) {
      if (a < b) lab.weigh(a, b, agm_latency(a, b));
      CHECK(agm_latency(a, b) == agm_latency(b, a));
    }
  }
  lab.adapt();
  REQUIRE(lab.run());

  const Tree tree = tree_of(lab);
  const Weights weights = references_of(lab);
  CHECK(weights.size() == 276);
  CHECK(total(tree, weights) == 758'600us + 18 * 1ms);  // Five ways between sites; the insides.
  // S3 to S2 leads over S4 and S1: 331.0 + 13.5 + 364.1, and a step inside where it needs one.
  Duration way{};
  for (ProcessorId at = kAgmRoot; at != p(9);) {
    const EdgeKey none{kForever, {}, {}};
    ProcessorId next{};
    for (const ProcessorId other : lab.at(at).tree()) {
      Tree beyond = tree;
      beyond.erase(std::minmax(at, other));
      if (other == p(9) || heaviest_between(beyond, weights, {other, p(9)}) != none) next = other;
    }
    REQUIRE(next != kNobody);
    way += agm_latency(at, next);
    at = next;
  }
  CHECK(way >= 708'600us);
  CHECK(way <= 708'600us + 4 * 1ms);
}

TEST_SUITE_END();

}  // namespace agm_network_test
