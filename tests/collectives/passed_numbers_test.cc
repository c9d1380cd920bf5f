#include "collectives/passed_numbers.h"

#include <doctest/doctest.h>

namespace phx::collectives::passed_numbers_test {
namespace {

constexpr VnodeId kTarget{7};
constexpr Instant kStart{};
constexpr ProcessorId kParent{2};

PassedNumbers::Passing first_token_at(Instant at) {
  return {at, at, std::nullopt};
}

}  // namespace

TEST_SUITE_BEGIN("collectives/passed_numbers");

TEST_CASE("a reduction is remembered from the moment it was passed on") {
  PassedNumbers passed(4);
  CHECK_FALSE(passed.contains({kTarget, 3}));

  passed.insert({kTarget, 3}, first_token_at(kStart + 5ms));

  CHECK(passed.contains({kTarget, 3}));
  CHECK_FALSE(passed.contains({kTarget, 2}));
  CHECK_FALSE(passed.contains({VnodeId{8}, 3}));
  CHECK(passed.first_token({kTarget, 3}) == kStart + 5ms);
  CHECK(passed.first_token({kTarget, 2}) == std::nullopt);
}

TEST_CASE("only the reduction passed last has its time remembered") {
  PassedNumbers passed(4);
  passed.insert({kTarget, 3}, first_token_at(kStart));
  passed.insert({kTarget, 4}, first_token_at(kStart + 1ms));

  CHECK(passed.first_token({kTarget, 3}) == std::nullopt);
  CHECK(passed.first_token({kTarget, 4}) == kStart + 1ms);
}

TEST_CASE("when too many gaps are open, the oldest closes and its numbers count as passed") {
  PassedNumbers passed(4);
  for (std::uint64_t i = 0; i <= PassedNumbers::kRangesMax; ++i) {
    passed.insert({kTarget, 10 * i}, first_token_at(kStart));
  }

  CHECK(passed.contains({kTarget, 5}));
  CHECK_FALSE(passed.contains({kTarget, 15}));
  CHECK(passed.contains({kTarget, 20}));
}

TEST_CASE("the target that was not used for longest is forgotten first") {
  PassedNumbers passed(2);
  passed.insert({VnodeId{1}, 0}, first_token_at(kStart));
  passed.insert({VnodeId{2}, 0}, first_token_at(kStart));
  passed.insert({VnodeId{1}, 1}, first_token_at(kStart));

  passed.insert({VnodeId{3}, 0}, first_token_at(kStart));

  CHECK(passed.targets() == 2);
  CHECK(passed.contains({VnodeId{1}, 0}));
  CHECK_FALSE(passed.contains({VnodeId{2}, 0}));
  CHECK(passed.contains({VnodeId{3}, 0}));
}

TEST_CASE("per target it is known when something was passed last, and who knows of it") {
  PassedNumbers passed(4);
  CHECK(passed.last(kTarget) == nullptr);
  passed.insert({kTarget, 3}, {kStart, kStart + 1ms, kParent});
  passed.insert({kTarget, 4}, {kStart, kStart + 2ms, std::nullopt});

  REQUIRE(passed.last(kTarget) != nullptr);
  CHECK(passed.last(kTarget)->at == kStart + 2ms);
  CHECK(passed.last(kTarget)->told == std::nullopt);
  passed.tell(kTarget, kParent);
  CHECK(passed.last(kTarget)->told == kParent);
}

TEST_CASE("targets to which something was passed lately") {
  PassedNumbers passed(4);
  passed.insert({VnodeId{1}, 5}, first_token_at(kStart));
  passed.insert({VnodeId{2}, 6}, first_token_at(kStart + 1ms));
  passed.insert({VnodeId{3}, 7}, first_token_at(kStart + 2ms));

  CHECK(passed.targets_since(kStart + 1ms) == std::vector<VnodeId>{VnodeId{3}, VnodeId{2}});
  CHECK(passed.targets_since(kStart + 3ms).empty());
}

TEST_CASE("the greatest numbers of a target") {
  PassedNumbers passed(4);
  for (const std::uint64_t number : {9U, 1U, 2U, 3U}) {
    passed.insert({kTarget, number}, first_token_at(kStart));
  }

  CHECK(passed.greatest(kTarget, 3) ==
        std::vector<ReductionId>{{kTarget, 2}, {kTarget, 3}, {kTarget, 9}});
  CHECK(passed.greatest(kTarget, 10).size() == 4);
  CHECK(passed.greatest(VnodeId{8}, 3).empty());
}

TEST_SUITE_END();

}  // namespace phx::collectives::passed_numbers_test
