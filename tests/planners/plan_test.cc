#include <doctest/doctest.h>

#include "overlay/planners/plan.h"
#include "overlay/planners/planned_views.h"
#include "tests/planners/networks.h"

namespace plan_test {

using namespace phx;
using namespace phx::planners;

namespace {

constexpr ProcessorId kOne{1};
constexpr ProcessorId kTwo{2};
constexpr ProcessorId kThree{3};
const ProcessorSet kThreeOfThem{kOne, kTwo, kThree};

Plan trees(std::vector<PlannedTree> list) {
  return {.algorithm = "test", .root = kOne, .bytes = 6, .trees = std::move(list)};
}

Plan transfers(std::vector<Transfer> list) {
  return {.algorithm = "test", .root = kOne, .bytes = 6, .transfers = std::move(list)};
}

}  // namespace

TEST_SUITE_BEGIN("planners/plan");

TEST_CASE("a tree that misses somebody, serves one twice, or begins nowhere is refused") {
  CHECK(validate(trees({{{kOne, kTwo}, {kTwo, kThree}}}), kThreeOfThem).ok());

  CHECK_FALSE(validate(trees({{{kOne, kTwo}}}), kThreeOfThem).ok());
  CHECK_FALSE(validate(trees({{{kOne, kTwo}, {kOne, kThree}, {kTwo, kThree}}}), kThreeOfThem).ok());
  CHECK_FALSE(validate(trees({{{kTwo, kThree}, {kOne, kTwo}}}), kThreeOfThem).ok());
  CHECK_FALSE(validate(trees({{{kOne, kTwo}, {kTwo, kOne}}}), kThreeOfThem).ok());
  CHECK_FALSE(validate(trees({}), kThreeOfThem).ok());
  CHECK_FALSE(validate(trees({{{kOne, kTwo}, {kTwo, kThree}}}), {kTwo, kThree}).ok());
}

TEST_CASE("a schedule that sends what is not there, or leaves a gap, is refused") {
  CHECK(validate(transfers({{kOne, kTwo, 0, 6}, {kTwo, kThree, 2, 4}, {kOne, kThree, 0, 2}}),
                 kThreeOfThem)
            .ok());

  CHECK_FALSE(validate(transfers({{kTwo, kThree, 0, 6}, {kOne, kTwo, 0, 6}}), kThreeOfThem).ok());
  CHECK_FALSE(validate(transfers({{kOne, kTwo, 0, 6}, {kOne, kThree, 1, 5}}), kThreeOfThem).ok());
  CHECK_FALSE(validate(transfers({{kOne, kTwo, 0, 7}, {kOne, kThree, 0, 6}}), kThreeOfThem).ok());
}

TEST_CASE("a schedule is a tree for each part that takes its own way, without what comes twice") {
  const Plan plan = transfers({{kOne, kThree, 4, 2},
                               {kOne, kTwo, 2, 2},
                               {kOne, kTwo, 0, 2},
                               {kTwo, kThree, 2, 2},
                               {kThree, kOne, 4, 2},
                               {kOne, kTwo, 4, 2},
                               {kTwo, kThree, 0, 2}});

  const PlanTrees result = trees_of(plan);

  CHECK(result.segment_bytes == 2);
  REQUIRE(result.trees.size() == 3);
  CHECK(result.trees[0] == PlannedTree{{kOne, kTwo}, {kTwo, kThree}});
  CHECK(result.trees[1] == PlannedTree{{kOne, kTwo}, {kTwo, kThree}});
  CHECK(result.trees[2] == PlannedTree{{kOne, kThree}, {kOne, kTwo}});
}

TEST_CASE("depth and degree of a tree") {
  CHECK(shape_of({}, kOne) == TreeShape{0, 0});
  CHECK(shape_of({{kOne, kTwo}, {kTwo, kThree}}, kOne) == TreeShape{2, 1});
  CHECK(shape_of({{kOne, kTwo}, {kOne, kThree}}, kOne) == TreeShape{1, 2});
}

TEST_CASE(
    "views name parents, who is below each child, and the distance, in the order of serving") {
  const Costs costs(support::known({.sites = {2, 1, 1}}));
  const PlannedTree tree{{kOne, kThree}, {kOne, kTwo}, {kThree, ProcessorId{4}}};

  const auto views = planned_views({tree}, kOne, costs);

  const TreeId id{kOne, TreeKind::kPlanned, 0};
  REQUIRE(views.size() == 4);
  CHECK(views.at(kOne)[0] ==
        TreeView{id, std::nullopt, {{kThree, {kThree, ProcessorId{4}}}, {kTwo, {kTwo}}}, 1, 0ms});
  CHECK(views.at(ProcessorId{4})[0] == TreeView{id, kThree, {}, 1, 12ms});
  CHECK(views.at(kTwo)[0].distance_to_root == 300us);
}

TEST_SUITE_END();

}  // namespace plan_test
