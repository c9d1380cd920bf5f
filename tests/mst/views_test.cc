#include <doctest/doctest.h>

#include <map>

#include "overlay/base/rng.h"
#include "overlay/mst/tree_sides.h"
#include "tests/mst/graphs.h"

namespace views_test {

using namespace phx;
using namespace phx::mst;
using namespace phx::mst::support;

namespace {

/// Whom a message reaches that goes down the views of `root` from `at`, which is to serve `all`.
void follow(const Lab& lab, ProcessorId root, ProcessorId at, ProcessorSet& reached) {
  const auto view = lab.at(at).view(root);
  REQUIRE(view);
  REQUIRE(!reached.contains(at));
  reached.insert(at);
  for (const TreeChild& child : view->children) {
    CHECK(lab.at(child.id).view(root)->parent == at);
    ProcessorSet below;
    follow(lab, root, child.id, below);
    CHECK(below == child.below);
    CHECK(reached.common(below).empty());
    reached = reached.united(below);
  }
}

}  // namespace

TEST_SUITE_BEGIN("mst/views");

TEST_CASE("the views of each root are the tree as it sees it, after each change") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const std::uint32_t n = 1 + static_cast<std::uint32_t>(rng.below(14));
    Weights weights = random_graph(n, 5, rng);
    Lab lab({.theta = 0, .makes_views = true}, random_delays(seed));
    lab.set_members(first(n));
    for (int round = 0; round < 4; ++round) {
      for (auto& [ends, weight] : weights) {
        if (round > 0 && rng.chance(0.3)) weight = Duration(1 + rng.below(20));
        lab.weigh(ends.first, ends.second, weight);
      }
      lab.forget_sent();
      lab.adapt();
      REQUIRE(lab.run());
      CHECK(lab.sent("Behind") == (lab.sent("Done") > 0 ? 2 * (n - 1) : 0));
      for (const ProcessorId root : lab.live().ids()) {
        ProcessorSet reached;
        CHECK(!lab.at(root).view(root)->parent);
        follow(lab, root, root, reached);
        CHECK(reached == lab.live());
      }
    }
  }
}

TEST_CASE(
    "a root that is not connected has no view, and the distance is that of its side's farthest") {
  Lab lab({.theta = 0, .makes_views = true}, random_delays(1));
  lab.set_members(first(5));
  lab.weigh(p(1), p(2), 5ns);
  lab.weigh(p(2), p(3), 7ns);
  lab.weigh(p(3), p(4), 9ns);
  lab.adapt();
  REQUIRE(lab.run());

  CHECK(!lab.at(p(1)).view(p(5)));
  CHECK(lab.at(p(5)).view(p(5))->children.empty());
  CHECK(lab.at(p(2)).view(p(3))->distance_to_root == 16ns);
  CHECK(lab.at(p(2)).view(p(2))->children[0].id == p(3));  // The longer edge first.
}

TEST_CASE("while the tree is adapted the views of before stay") {
  Lab lab({.theta = 0, .makes_views = true}, random_delays(1));
  lab.set_members(first(3));
  lab.weigh(p(1), p(2), 1ns);
  lab.weigh(p(2), p(3), 2ns);
  lab.adapt();
  REQUIRE(lab.run());
  const auto before = lab.at(p(2)).view(p(1));
  lab.weigh(p(1), p(3), 1ns);
  lab.forget_sent();

  lab.adapt();
  while (lab.sent("Done") == 0 && lab.step()) CHECK(lab.at(p(2)).view(p(1)) == before);
  REQUIRE(lab.run());

  CHECK(lab.at(p(2)).view(p(1))->children.empty());
  CHECK(lab.at(p(3)).view(p(1))->parent == p(1));
}

TEST_CASE("strangers and what comes twice change no side") {
  SideSearch search(p(2), RoundId{1, p(1)}, {{p(1), 3ns}, {p(3), 4ns}});
  SideSearch::Outbox out;
  search.start(out);
  search.on_behind(p(9), {RoundId{1, p(1)}, {p(9)}, 1ns}, out);
  CHECK(out.empty());

  search.on_behind(p(1), {RoundId{1, p(1)}, {p(1)}, 0ns}, out);
  CHECK(out.take().size() == 1);
  search.on_behind(p(1), {RoundId{1, p(1)}, {p(1), p(7)}, 0ns}, out);
  CHECK(out.empty());
  CHECK(search.sides().at(p(1)) == TreeSide{3ns, {p(1)}, 0ns});
}

TEST_SUITE_END();

}  // namespace views_test
