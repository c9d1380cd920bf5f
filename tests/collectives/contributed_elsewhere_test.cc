#include "collectives/contributed_elsewhere.h"

#include <doctest/doctest.h>

#include "tests/collectives/values.h"

namespace phx::collectives::contributed_elsewhere_test {
namespace {

constexpr VnodeId kTarget{7};

}  // namespace

TEST_SUITE_BEGIN("collectives/contributed_elsewhere");

TEST_CASE(
    "[Saito08 G16 d] a vnode that moved here gave elsewhere what comes before its next number") {
  ContributedElsewhere elsewhere;
  elsewhere.on_arrived(VnodeId{50}, {{kTarget, 3}});

  CHECK(elsewhere.covers({kTarget, 2}, vnodes(50, 50)));
  CHECK_FALSE(elsewhere.covers({kTarget, 3}, vnodes(50, 50)));
  CHECK_FALSE(elsewhere.covers({VnodeId{8}, 2}, vnodes(50, 50)));
}

TEST_CASE("all missing vnodes must have given elsewhere") {
  ContributedElsewhere elsewhere;
  elsewhere.on_arrived(VnodeId{50}, {{kTarget, 3}});
  elsewhere.on_arrived(VnodeId{51}, {{kTarget, 2}});

  CHECK(elsewhere.covers({kTarget, 1}, vnodes(50, 51)));
  CHECK_FALSE(elsewhere.covers({kTarget, 2}, vnodes(50, 51)));
  CHECK_FALSE(elsewhere.covers({kTarget, 1}, vnodes(50, 52)));
}

TEST_CASE("a vnode that went away and came again is known by its newer number") {
  ContributedElsewhere elsewhere;
  elsewhere.on_arrived(VnodeId{50}, {{kTarget, 3}});
  elsewhere.on_arrived(VnodeId{50}, {{kTarget, 5}});

  CHECK(elsewhere.size() == 1);
  CHECK(elsewhere.covers({kTarget, 4}, vnodes(50, 50)));
}

TEST_CASE("it is forgotten when a reduction was passed on in which the vnode took part here") {
  ContributedElsewhere elsewhere;
  elsewhere.on_arrived(VnodeId{50}, {{kTarget, 3}});
  elsewhere.on_arrived(VnodeId{51}, {{kTarget, 4}});

  elsewhere.on_passed({kTarget, 2});
  CHECK(elsewhere.size() == 2);
  elsewhere.on_passed({kTarget, 3});

  CHECK(elsewhere.size() == 1);
  CHECK_FALSE(elsewhere.covers({kTarget, 2}, vnodes(50, 50)));
  CHECK(elsewhere.covers({kTarget, 2}, vnodes(51, 51)));
}

TEST_CASE("limits: when as much is remembered as may be, it begins anew") {
  ContributedElsewhere elsewhere;
  for (std::uint64_t v = 0; v < ContributedElsewhere::kEntriesMax; ++v) {
    elsewhere.on_arrived(VnodeId{v}, {{kTarget, 1}});
  }
  elsewhere.on_arrived(VnodeId{0}, {{kTarget, 2}});
  CHECK(elsewhere.size() == ContributedElsewhere::kEntriesMax);
  CHECK(elsewhere.covers({kTarget, 1}, vnodes(0, 0)));

  elsewhere.on_arrived(VnodeId{1'000'000}, {{kTarget, 1}});

  CHECK(elsewhere.size() == 1);
  CHECK(elsewhere.covers({kTarget, 0}, vnodes(1'000'000, 1'000'000)));
}

TEST_SUITE_END();

}  // namespace phx::collectives::contributed_elsewhere_test
