#include <doctest/doctest.h>

#include <vector>

#include "runtime/endpoint/contributions.h"

namespace phx::runtime::contributions_moves_test {

TEST_SUITE_BEGIN("runtime/contributions");

TEST_CASE("a vnode that comes later than the answer to its process has it asked for again") {
  constexpr VnodeId kTarget{0}, kHere{1}, kComing{2};
  constexpr collectives::ReductionKind kSum{collectives::ReduceOp::kSum,
                                            collectives::ReduceType::kInt64, false};
  Contributions here({4 * kPieceOverhead, 2});
  Contributions elsewhere({4 * kPieceOverhead, 2});
  elsewhere.push(kComing, {kTarget, 0}, {kSum, {}});
  here.push(kHere, {kTarget, 0}, {kSum, {}});
  CHECK(here.ask({.once = true}).size() == 1);
  CHECK(here.ask({.once = true}).empty());
  here.on_complete(kTarget, 1);

  here.add(kComing, elsewhere.remove(kComing));

  CHECK(here.ask({.once = true}) == std::vector<FlowQuestion>{{kComing, kTarget, false, 0, 1}});
  CHECK(here.ask({.once = true}).empty());
}

TEST_CASE(
    "what a target knows to be incomplete when it closes has no result, and is kept no more") {
  constexpr VnodeId kTarget{0}, kHere{1}, kOther{2};
  constexpr collectives::ReductionKind kSum{collectives::ReduceOp::kSum,
                                            collectives::ReduceType::kInt64, false};
  Contributions here({4 * kPieceOverhead, 2});
  here.push(kHere, {kTarget, 0}, {kSum, {}});
  here.push(kHere, {kOther, 0}, {kSum, {}});
  here.on_complete(kOther, 1);
  CHECK_FALSE(here.lost().has_value());

  here.on_complete(kTarget, kFlowIncomplete);
  here.push(kHere, {kTarget, 1}, {kSum, {}});

  REQUIRE(here.lost().has_value());
  CHECK(here.lost()->target == kTarget);
  CHECK(here.lost()->vnodes == VnodeSet{kHere});  // also when it is held elsewhere by now
  CHECK(here.kept_bytes() == 0);
  here.check_invariants();
}

TEST_SUITE_END();

}  // namespace phx::runtime::contributions_moves_test
