#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "overlay/base/rng.h"
#include "overlay/mst/fragment_search.h"
#include "tests/mst/graphs.h"
#include "tests/support/seeds.h"

namespace search_test {

using namespace phx;
using namespace phx::mst;
using namespace phx::mst::support;

namespace {

Lab lab_of(std::uint32_t processors, const Weights& weights, std::uint64_t seed) {
  Lab lab({.theta = 0}, random_delays(seed));
  lab.set_members(first(processors));
  for (const auto& [ends, weight] : weights) lab.weigh(ends.first, ends.second, weight);
  return lab;
}

}  // namespace

TEST_SUITE_BEGIN("mst/search");

TEST_CASE("the tree is Kruskal's, within 5 N log2 N + 2 E messages [Gallager83]") {
  for (const std::uint32_t n : {2U, 3U, 4U, 7U, 8U, 16U, 33U, 64U, 128U}) {
    const std::uint64_t seeds = phx::support::seeds(n < 64 ? 40 : 4);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      CAPTURE(n);
      CAPTURE(seed);
      Rng rng(seed * 1000 + n);
      const auto degree = static_cast<std::uint32_t>(rng.below(2 * n));
      const Weights weights = random_graph(n, degree, rng);
      Lab lab = lab_of(n, weights, seed);

      lab.adapt();

      REQUIRE(lab.run());
      REQUIRE(tree_of(lab) == kruskal(weights));
      CHECK(references_of(lab) == weights);
      CHECK(search_messages(lab) <= search_bound(n, weights.size()));
      CHECK(lab.sent("Rejoin") == 0);
      CHECK(lab.sent("Done") == n - 1);
    }
  }
}

TEST_CASE("a graph that is not connected gets the tree of each part") {
  for (std::uint64_t seed = 1; seed <= phx::support::seeds(50); ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Weights weights = random_graph(20, 3, rng);
    for (auto at = weights.begin(); at != weights.end();) {
      at = at->first.first.value % 3 == at->first.second.value % 3 ? ++at : weights.erase(at);
    }
    Lab lab = lab_of(20, weights, seed);

    lab.adapt();

    REQUIRE(lab.run());
    CHECK(tree_of(lab) == kruskal(weights));
    CHECK(lab.at(p(7)).version().members == first(20));
  }
}

TEST_CASE("one processor, and two without a channel, are done") {
  for (const std::uint32_t n : {1U, 2U}) {
    Lab lab = lab_of(n, {}, 1);

    lab.adapt();

    REQUIRE(lab.run());
    CHECK(lab.at(p(1)).version().members == first(n));
    CHECK(lab.at(p(1)).tree().empty());
  }
}

TEST_CASE("the lighter end of equal weights is told by the ids") {
  const Weights equal = {{{p(1), p(2)}, 5ns}, {{p(1), p(3)}, 5ns}, {{p(2), p(3)}, 5ns}};
  Lab lab = lab_of(3, equal, 1);

  lab.adapt();

  REQUIRE(lab.run());
  CHECK(tree_of(lab) == Tree{{p(1), p(2)}, {p(1), p(3)}});
}

TEST_CASE("the heavier end of a channel counts, and one end alone is no channel") {
  Lab lab = lab_of(3, {{{p(1), p(2)}, 5ns}, {{p(1), p(3)}, 6ns}, {{p(2), p(3)}, 7ns}}, 1);
  lab.weigh_end(p(2), p(1), 9ns);
  lab.adapt();
  REQUIRE(lab.run());
  CHECK(tree_of(lab) == Tree{{p(1), p(3)}, {p(2), p(3)}});
  CHECK(lab.at(p(1)).reference(p(2)) == 9ns);

  lab.weigh_end(p(3), p(2), kForever);
  lab.adapt();
  REQUIRE(lab.run());
  CHECK(tree_of(lab) == Tree{{p(1), p(2)}, {p(1), p(3)}});
}

TEST_CASE("the middle edge of a piece becomes the core of a fragment of level 1") {
  const std::map<ProcessorId, Duration> weights = {{p(1), 1ns}, {p(3), 2ns}, {p(4), 3ns}};
  FragmentSearch middle(p(2), weights, {p(1), p(3)});
  FragmentSearch::Outbox out;
  middle.start(out);
  CHECK(out.empty());

  middle.on_message(p(4), Test{1, edge_key(9ns, p(4), p(5))}, out);  // Waits: no fragment yet.
  CHECK(out.empty());

  middle.on_message(p(1), Rejoin{}, out);
  REQUIRE(out.items().size() == 1);
  const auto told = std::get<FragmentSearch::Outbox::Send>(out.take()[0]);
  CHECK(told.to == p(3));
  CHECK(std::holds_alternative<Rejoin>(told.message));

  middle.on_message(p(3), Rejoin{}, out);
  REQUIRE(out.items().size() == 1);
  const auto core = std::get<FragmentSearch::Outbox::Send>(out.take()[0]);
  CHECK(core.to == p(3));
  CHECK(std::get<Initiate>(core.message).level == 1);
  CHECK(std::get<Initiate>(core.message).fragment == edge_key(2ns, p(2), p(3)));

  middle.on_message(p(3), Initiate{1, edge_key(2ns, p(2), p(3)), true}, out);
  const auto items = out.take();  // On to p1, its own test, and the answer that waited.
  REQUIRE(items.size() == 3);
  CHECK(std::get<FragmentSearch::Outbox::Send>(items[0]).to == p(1));
  CHECK(std::holds_alternative<Test>(std::get<FragmentSearch::Outbox::Send>(items[1]).message));
  CHECK(std::holds_alternative<Accept>(std::get<FragmentSearch::Outbox::Send>(items[2]).message));
}

TEST_CASE("a search takes every message in every state, and from nobody it knows") {
  const std::map<ProcessorId, Duration> weights = {{p(1), 1ns}, {p(3), 2ns}, {p(4), 3ns}};
  const EdgeKey core = edge_key(2ns, p(2), p(3));
  const std::vector<SearchMessage> all = {Connect{0},
                                          Connect{7},
                                          Initiate{1, core, true},
                                          Initiate{2, core, false},
                                          Test{0, core},
                                          Test{3, core},
                                          Accept{},
                                          Reject{},
                                          Report{},
                                          Report{core, 3},
                                          ChangeRoot{},
                                          Rejoin{}};
  for (const std::set<ProcessorId>& branches :
       {std::set<ProcessorId>{}, std::set<ProcessorId>{p(1)}, std::set<ProcessorId>{p(1), p(3)}}) {
    for (std::uint64_t seed = 1; seed <= phx::support::seeds(300); ++seed) {
      CAPTURE(seed);
      Rng rng(seed);
      FragmentSearch search(p(2), weights, branches);
      FragmentSearch::Outbox out;
      search.start(out);
      for (int i = 0; i < 40; ++i) {
        const auto from = p(1 + static_cast<std::uint32_t>(rng.below(5)));
        out = {};
        search.on_message(from, all[rng.below(all.size())], out);
        const bool is_stranger = from == p(2) || from == p(5);
        CHECK((!is_stranger || out.empty()));
      }
      CHECK(std::includes(search.branches().begin(), search.branches().end(), branches.begin(),
                          branches.end()));
    }
  }
}

TEST_SUITE_END();

}  // namespace search_test
