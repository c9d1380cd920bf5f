#include <doctest/doctest.h>

#include "collectives/redistribution/random_graph.h"
#include "collectives/redistribution/schedule.h"

namespace schedule_test {

using namespace phx;
using namespace phx::redistribution;

TEST_SUITE_BEGIN("redistribution/schedule");

TEST_CASE("graphs that are none are refused") {
  CHECK(MessageGraph{2, {{0, 1, 5}, {1, 0, 7}, {0, 1, 1}}}.check().ok());
  CHECK_FALSE(MessageGraph{2, {{0, 2, 5}}}.check().ok());
  CHECK_FALSE(MessageGraph{2, {{2, 0, 5}}}.check().ok());
  CHECK_FALSE(MessageGraph{2, {{1, 1, 5}}}.check().ok());
  CHECK_FALSE(MessageGraph{2, {{0, 1, 0}}}.check().ok());
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 59U;
  CHECK_FALSE(MessageGraph{2, {{0, 1, kHalf}, {1, 0, kHalf + 1}}}.check().ok());
  CHECK_FALSE(MessageGraph{2, {{0, 1, ~std::uint64_t{0}}, {1, 0, 2}}}.check().ok());
}

TEST_CASE("bounds are those of the busiest, or of all") {
  const MessageGraph graph{4, {{0, 1, 5}, {0, 2, 6}, {3, 2, 7}, {1, 2, 1}}};
  const Bounds bounds = bounds_of(graph);
  CHECK(bounds.load == 14);
  CHECK(bounds.degree == 3);
  CHECK(bounds.total == 19);
  CHECK(bounds.count == 4);
  CHECK(bounds.duration(4) == 14);
  CHECK(bounds.duration(1) == 19);
  CHECK(bounds.steps(4) == 3);
  CHECK(bounds.steps(1) == 4);
  CHECK(bounds.cost(4, 10) == 14 + 30);
  CHECK(bounds_of({3, {}}).cost(3, 10) == 0);
}

TEST_CASE("a schedule is refused unless it moves all once without conflicts") {
  const MessageGraph graph{3, {{0, 1, 5}, {0, 2, 6}, {1, 2, 7}}};
  const auto is_good = [&](std::vector<Step> steps, std::size_t at_once = 3) {
    return validate({std::move(steps)}, graph, at_once).ok();
  };
  CHECK(is_good({{{0, 5}, {2, 7}}, {{1, 6}}}));
  CHECK(is_good({{{0, 5}}, {{2, 3}}, {{2, 4}}, {{1, 6}}}));
  CHECK_FALSE(is_good({{{0, 5}, {2, 7}}, {{1, 6}}}, 1));  // two at once
  CHECK_FALSE(is_good({{{0, 5}, {1, 6}}, {{2, 7}}}));     // one sender
  CHECK_FALSE(is_good({{{0, 5}}, {{1, 6}, {2, 7}}}));     // one receiver
  CHECK_FALSE(is_good({{{0, 5}, {2, 6}}, {{1, 6}}}));     // one byte is left
  CHECK_FALSE(is_good({{{0, 5}, {2, 7}}, {{1, 6}}, {{0, 1}}}));
  CHECK_FALSE(is_good({{{0, 5}, {2, 7}}, {{1, 6}}, {}}));
  CHECK_FALSE(is_good({{{0, 5}, {2, 7}, {1, 0}}, {{1, 6}}}));
  CHECK_FALSE(is_good({{{0, 5}, {2, 7}}, {{1, 6}}, {{3, 1}}}));
  CHECK_FALSE(is_good({}));
}

TEST_CASE("cost is the setup and the heaviest part of each step") {
  const Schedule schedule{{{{0, 5}, {2, 7}}, {{1, 6}}}};
  CHECK(schedule.cost(0) == 13);
  CHECK(schedule.cost(10) == 33);
  CHECK(schedule.parts() == 3);
}

TEST_CASE("random graphs have what was asked for") {
  for (const Sizes sizes : {Sizes::kEqual, Sizes::kUniform, Sizes::kThreeDecades}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const MessageGraph graph = random_graph({6, 30, 1003, sizes}, seed);
      CHECK(graph.check().ok());
      CHECK(graph == random_graph({6, 30, 1003, sizes}, seed));
      const Bounds bounds = bounds_of(graph);
      CHECK(bounds.total == 1003);
      CHECK(bounds.count == 30);
      CHECK(bounds.degree == 5);  // Each pair once, and there are 30.
    }
  }
  CHECK(random_graph({6, 10, 100}, 1) != random_graph({6, 10, 100}, 2));
}

}  // namespace schedule_test
