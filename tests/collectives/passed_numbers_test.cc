#include "collectives/passed_numbers.h"

#include <doctest/doctest.h>

namespace phx::collectives {
namespace {

constexpr VnodeId kTarget{7};
constexpr Instant kStart{};

}  // namespace

TEST_SUITE_BEGIN("collectives/passed_numbers");

TEST_CASE("a reduction is remembered from the moment it was passed on") {
  PassedNumbers passed(4);
  CHECK_FALSE(passed.contains({kTarget, 3}));

  passed.insert({kTarget, 3}, kStart + 5ms);

  CHECK(passed.contains({kTarget, 3}));
  CHECK_FALSE(passed.contains({kTarget, 2}));
  CHECK_FALSE(passed.contains({VnodeId{8}, 3}));
  CHECK(passed.first_token({kTarget, 3}) == kStart + 5ms);
  CHECK(passed.first_token({kTarget, 2}) == std::nullopt);
}

TEST_CASE("only the reduction passed last has its time remembered") {
  PassedNumbers passed(4);
  passed.insert({kTarget, 3}, kStart);
  passed.insert({kTarget, 4}, kStart + 1ms);

  CHECK(passed.first_token({kTarget, 3}) == std::nullopt);
  CHECK(passed.first_token({kTarget, 4}) == kStart + 1ms);
}

TEST_CASE("when too many gaps are open, the oldest closes and its numbers count as passed") {
  PassedNumbers passed(4);
  for (std::uint64_t i = 0; i <= PassedNumbers::kRangesMax; ++i) {
    passed.insert({kTarget, 10 * i}, kStart);
  }

  CHECK(passed.contains({kTarget, 5}));
  CHECK_FALSE(passed.contains({kTarget, 15}));
  CHECK(passed.contains({kTarget, 20}));
}

TEST_CASE("the target that was not used for longest is forgotten first") {
  PassedNumbers passed(2);
  passed.insert({VnodeId{1}, 0}, kStart);
  passed.insert({VnodeId{2}, 0}, kStart);
  passed.insert({VnodeId{1}, 1}, kStart);

  passed.insert({VnodeId{3}, 0}, kStart);

  CHECK(passed.targets() == 2);
  CHECK(passed.contains({VnodeId{1}, 0}));
  CHECK_FALSE(passed.contains({VnodeId{2}, 0}));
  CHECK(passed.contains({VnodeId{3}, 0}));
}

TEST_SUITE_END();

}  // namespace phx::collectives
