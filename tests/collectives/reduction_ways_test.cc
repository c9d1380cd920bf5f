#include <doctest/doctest.h>

#include <map>
#include <set>

#include "collectives/reduction.h"
#include "tests/collectives/values.h"

namespace phx::collectives::reduction_ways_test {
namespace {

using Box = Reduction::Outbox;

constexpr VnodeId kTarget{0};
constexpr ProcessorId kOwner{1};
constexpr ProcessorId kChild{6};

/// p5 holds v50. On the short way it is a leaf below p1; on ways 1 and 2 its parents are p2 and p3,
/// and on way 2 it has p6 below it, with v60.
struct Crossing {
  Crossing() : reduction(ProcessorId{5}) {
    for (ReductionWay way = 0; way < kWays; ++way) {
      trees[way].parent = ProcessorId{way + std::uint32_t{1}};
    }
    trees[2].children = {{kChild, processors(6, 6)}};
  }
  [[nodiscard]] Reduction::Situation situation(ReductionWay way) const {
    return {own, kOwner, &trees.at(way), [](std::size_t) { return vnodes(60, 60); }, false, way};
  }
  std::vector<Box::Item> token(std::optional<ProcessorId> from, ReductionToken token,
                               ReductionWay way) {
    token.way = way;
    Box out;
    const ReductionWay taken = reduction.way_of(token);
    reduction.on_token(now, from, std::move(token), situation(taken), out);
    reduction.check_invariants();
    return out.take();
  }
  std::vector<Box::Item> timer(const ReductionId& id) {
    Box out;
    reduction.on_timer(now, id, situation(reduction.way_of(id)), out);
    return out.take();
  }

  VnodeSet own = vnodes(50, 50);
  std::map<ReductionWay, TreeView> trees;
  Instant now{};
  Reduction reduction;
};

/// Parents that something was sent to, in order.
std::vector<ProcessorId> receivers(const std::vector<Box::Item>& items) {
  std::vector<ProcessorId> result;
  for (const Box::Item& item : items) {
    if (const auto* sent = std::get_if<Box::Send>(&item)) result.push_back(sent->to);
  }
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("collectives/reduction_ways");

TEST_CASE("long values take turns on the ways of their size, short ones have their own") {
  CHECK(way_of(4, 0, false) == kShortWay);
  CHECK(way_of(5, 0, false) == kShortWay);
  std::set<ReductionWay> ways;
  for (SizeClass size = 1; size < kSizeClasses; ++size) {
    for (std::uint64_t number = 4; number < 20; ++number) {
      for (const bool ordered : {false, true}) {
        const ReductionWay way = way_of(number, size, ordered);
        ways.insert(way);
        CHECK(size_of_learned(way) == size);
        CHECK(has_ranges(way) == (ordered && long_trees(size) > kRangeTrees));
      }
    }
  }
  CHECK_FALSE(ways.contains(kShortWay));
  CHECK(*ways.rbegin() + 1 == kWays);
  CHECK(ways.size() + 1 == kWays);
}

TEST_CASE("two parents in turns are no new parents: nothing is told but the contributions") {
  Crossing c;
  c.trees[2].children.clear();
  for (std::uint64_t number = 0; number < 6; ++number) {
    const auto way = static_cast<ReductionWay>(1 + number % 2);
    const auto items = c.token(std::nullopt, sum_token(vnodes(50, 50), 1, number), way);
    CHECK(receivers(items) == std::vector<ProcessorId>{*c.trees[way].parent});
  }
}

TEST_CASE("who has nothing to say may name a wrong way, and the first value decides") {
  Crossing c;
  CHECK(receivers(c.token(ProcessorId{9}, {{kTarget, 3}, {}, {}, true}, kShortWay)).empty());
  CHECK(c.reduction.way_of(ReductionId{kTarget, 3}) == kShortWay);

  CHECK(receivers(c.token(std::nullopt, sum_token(vnodes(50, 50), 1, 3), 2)).empty());
  CHECK(c.reduction.way_of(ReductionId{kTarget, 3}) == 2);
  c.token(ProcessorId{9}, {{kTarget, 3}, {}, {}, true}, kShortWay);
  CHECK(c.reduction.way_of(ReductionId{kTarget, 3}) == 2);

  const auto passed = c.token(kChild, sum_token(vnodes(60, 60), 1, 3), 2);
  CHECK(receivers(passed) == std::vector<ProcessorId>{ProcessorId{3}});
}

TEST_CASE("long values wait for their turn as long as others of the target come") {
  Crossing c;
  c.token(std::nullopt, sum_token(vnodes(50, 50), 1, 1), 2);
  c.now += 900ms;
  c.token(std::nullopt, sum_token(vnodes(50, 50), 1, 0), 1);  // passed at once

  c.now += 200ms;
  CHECK(receivers(c.timer({kTarget, 1})).empty());
  c.now += 800ms;
  CHECK(receivers(c.timer({kTarget, 1})) == std::vector<ProcessorId>{ProcessorId{3}});
}

TEST_CASE("pieces that nobody will send wait at the same time, not one after the other") {
  Crossing c;
  constexpr std::uint64_t kPieces = 100;
  for (std::uint64_t i = 0; i < kPieces; ++i) {
    c.token(std::nullopt, sum_token(vnodes(50, 50), 1, 2 * i + 1), 2);
    c.now += 1ms;
  }
  c.now += 1s;
  std::size_t passed = 0;
  for (std::uint64_t i = 0; i < kPieces; ++i)
    passed += receivers(c.timer({kTarget, 2 * i + 1})).size();
  CHECK(passed == kPieces);
}

TEST_CASE("a new parent is told of as many pieces as may be on their way") {
  Crossing c;
  constexpr std::uint64_t kPieces = 300;
  for (std::uint64_t i = 0; i < kPieces; ++i) {
    c.token(std::nullopt, sum_token(vnodes(50, 50), 1, 2 * i), 1);
  }
  c.trees[1].parent = kChild;
  Box out;
  c.reduction.on_situation(c.now, kTarget, kOwner, &c.trees[1], out, 1);
  CHECK(receivers(out.take()) == std::vector<ProcessorId>(256, kChild));
}

TEST_SUITE_END();

}  // namespace phx::collectives::reduction_ways_test
