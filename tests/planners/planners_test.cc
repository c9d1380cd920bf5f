#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include "overlay/planners/planners.h"
#include "overlay/planners/shapes.h"
#include "tests/planners/networks.h"

namespace planners_test {

using namespace phx;
using namespace phx::planners;

namespace {

constexpr std::uint64_t kShort = 1;
constexpr std::uint64_t kMiddle = 20'000;
constexpr std::uint64_t kLong = std::uint64_t{1} << 20U;

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

Plan made(std::string_view algorithm, const overlay::KnownNetwork& network, ProcessorId root,
          std::uint64_t bytes) {
  auto result = plan(algorithm, network, root, bytes);
  if (!result.ok()) FAIL(result.error().what);
  return std::move(result).value();
}

std::size_t crossings(const PlannedTree& tree, const overlay::KnownNetwork& network) {
  return static_cast<std::size_t>(std::count_if(tree.begin(), tree.end(), [&](const Edge& edge) {
    return network.site_of(edge.from) != network.site_of(edge.to);
  }));
}

/// What each processor passes on along the trees of `plan`: edges, and of how many trees.
struct Passed {
  std::map<ProcessorId, std::size_t> edges;
  std::map<ProcessorId, std::set<std::size_t>> inner;
};
Passed passed_on(const Plan& plan) {
  Passed passed;
  for (std::size_t tree = 0; tree < plan.trees.size(); ++tree) {
    for (const Edge& edge : plan.trees[tree]) {
      ++passed.edges[edge.from];
      passed.inner[edge.from].insert(tree);
    }
  }
  return passed;
}

}  // namespace

TEST_SUITE_BEGIN("planners/planners");

TEST_CASE("binomial over five, from the third: the farthest first, counted round") {
  const Plan plan = made("binomial", support::known({.sites = {5}}), p(3), kShort);

  CHECK(plan.trees.at(0) == PlannedTree{{p(3), p(2)}, {p(3), p(5)}, {p(3), p(4)}, {p(5), p(1)}});
}

TEST_CASE("magpie takes each way between sites once, then binomial inside") {
  const auto network = support::known({.sites = {3, 3}});
  const Plan plan = made("magpie", network, p(2), kShort);

  CHECK(plan.trees.at(0) ==
        PlannedTree{{p(2), p(4)}, {p(2), p(1)}, {p(2), p(3)}, {p(4), p(6)}, {p(4), p(5)}});
}

TEST_CASE("ring: a binomial scatter of pieces, then each goes round") {
  const Plan plan = made("mpich-ring", support::known({.sites = {3}}), p(1), 5);

  // Pieces of 2, 2 and 1 bytes, of p1, p2 and p3.
  CHECK(plan.transfers == std::vector<Transfer>{{p(1), p(3), 4, 1},
                                                {p(1), p(2), 2, 2},
                                                {p(1), p(2), 0, 2},
                                                {p(2), p(3), 2, 2},
                                                {p(3), p(1), 4, 1},
                                                {p(1), p(2), 4, 1},
                                                {p(2), p(3), 0, 2},
                                                {p(3), p(1), 2, 2}});
}

TEST_CASE("mpich chooses by size and by powers of two") {
  const auto eight = support::known({.sites = {8}});
  const auto nine = support::known({.sites = {9}});

  CHECK(made("mpich", eight, p(1), kShort).transfers.size() == 7);
  // Scatter: 7; doubling: 8 in each of 3 steps.
  CHECK(made("mpich", eight, p(1), kMiddle).transfers.size() == 7 + 3 * 8);
  CHECK(made("mpich", eight, p(1), kLong).transfers.size() == 7 + 7 * 8);
  CHECK(made("mpich", nine, p(1), kMiddle).transfers.size() == 8 + 8 * 9);
}

TEST_CASE("list visits sites so that the narrowest way is as wide as possible") {
  auto network = support::known({.sites = {2, 2, 2}});
  const auto set = [&](std::size_t a, std::size_t b, std::uint64_t bytes_per_second) {
    network.between[{a, b}].bytes_per_second = bytes_per_second;
    network.between[{b, a}].bytes_per_second = bytes_per_second;
  };
  set(0, 1, 10'000'000);
  set(0, 2, 100'000'000);
  set(1, 2, 50'000'000);

  const Plan plan = made("list", network, p(2), kLong);

  CHECK(plan.trees.at(0) ==
        PlannedTree{{p(2), p(1)}, {p(1), p(5)}, {p(5), p(6)}, {p(6), p(3)}, {p(3), p(4)}});
}

TEST_CASE("list puts a slow processor at the end of its site, and cuts long messages only") {
  auto network = support::known({.sites = {4}});
  network.odd[p(2)].in_bytes_per_second = 1'000'000;

  const Plan plan = made("list", network, p(1), kLong);

  CHECK(plan.trees.at(0) == PlannedTree{{p(1), p(3)}, {p(3), p(4)}, {p(4), p(2)}});
  CHECK(plan.segment_bytes > 0);
  CHECK(made("list", network, p(1), kShort).segment_bytes == 0);
}

TEST_CASE("who is inner in one of several trees is a leaf of the others, and sends what it gets") {
  std::set<std::size_t> numbers;
  for (const char* algorithm : {"two-tree", "striped"}) {
    for (std::uint32_t count : {2U, 3U, 7U, 16U, 17U, 40U, 64U, 100U, 256U, 1024U}) {
      for (const std::uint64_t bytes : {kLong / 16, kLong / 4, kLong, 8 * kLong}) {
        CAPTURE(std::string(algorithm));
        CAPTURE(count);
        CAPTURE(bytes);
        const Plan plan = made(algorithm, support::known({.sites = {count}}), p(1), bytes);
        const std::size_t trees = plan.trees.size();
        numbers.insert(trees);
        REQUIRE((trees == 2 || trees == 4 || trees == 8));
        for (const PlannedTree& tree : plan.trees) {
          // Each level is as many times wider than the last one as there are trees.
          const std::size_t levels = std::bit_width(count) / (std::bit_width(trees) - 1) + 2;
          CHECK(shape_of(tree, p(1)).depth <= levels);
        }
        const Passed passed = passed_on(plan);
        // But for those who have room, fewer than there are trees.
        const auto twice = std::ranges::count_if(passed.inner, [](const auto& one) {
          return one.first != p(1) && one.second.size() > 1;
        });
        CHECK(static_cast<std::size_t>(twice) < (trees == 2 ? 1 : trees));
        // Each tree carries its part of the message, so nobody sends more than the whole of it.
        for (const auto& [id, edges] : passed.edges) CHECK(edges <= trees);
      }
    }
  }
  for (const std::size_t number : {2U, 4U, 8U}) {
    CAPTURE(number);
    CHECK(numbers.contains(number));
  }
}

TEST_CASE("between sites several trees send nothing twice, and load nobody with two ways") {
  for (const std::uint32_t each : {2U, 5U, 16U, 67U, 341U}) {
    for (const std::uint64_t bytes : {kLong / 16, kLong / 4, kLong, 8 * kLong}) {
      CAPTURE(each);
      CAPTURE(bytes);
      const auto network = support::three_sites(each);
      const Plan plan = made("striped", network, p(1), bytes);
      const std::size_t trees = plan.trees.size();
      for (const PlannedTree& tree : plan.trees) CHECK(crossings(tree, network) == 2);
      // The root sends to its own site, and what it begins itself to the other two.
      const Passed passed = passed_on(plan);
      for (const auto& [id, edges] : passed.edges) {
        CHECK(edges <= (id == p(1) ? 3 * trees : trees + 2));
      }
    }
  }
}

TEST_CASE("where ways between sites are narrow all of them carry a part") {
  using Way = std::pair<std::size_t, std::size_t>;
  for (const std::uint64_t bytes : {kLong / 4, kLong, 16 * kLong}) {
    CAPTURE(bytes);
    auto network = support::known({.sites = {8, 8, 8, 8}, .bytes_per_second = 12'500'000});
    for (auto& [ends, way] : network.between) way.bytes_per_second = 4'000'000;
    const auto carried = [&] {
      std::map<Way, std::size_t> edges;
      const Plan plan = made("striped", network, p(1), bytes);
      for (const PlannedTree& tree : plan.trees) {
        CHECK(crossings(tree, network) == 3);
        for (const Edge& edge : tree) {
          const Way way{*network.site_of(edge.from), *network.site_of(edge.to)};
          if (way.first != way.second) ++edges[way];
        }
      }
      return std::pair(edges, plan.trees.size());
    };
    const auto [edges, trees] = carried();
    for (const auto& [way, count] : edges) CHECK(2 * count <= trees);

    // And what each carries goes by how wide it is.
    network.between[{0, 3}].bytes_per_second = 2'500'000;
    network.between[{2, 1}].bytes_per_second = 2'500'000;
    const auto [uneven, of] = carried();
    for (const auto& [way, count] : uneven) {
      CHECK(2 * count * 4'000'000 <= of * *network.between[way].bytes_per_second);
    }
  }
}

TEST_CASE("of a small site beside large ones nobody sends much more than it gets, either") {
  for (const std::uint32_t small : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 15U}) {
    for (const std::uint64_t bytes : {kLong / 16, kLong / 4, kLong}) {
      CAPTURE(small);
      CAPTURE(bytes);
      const auto network = support::known({.sites = {67, small, 67}});
      const Plan plan = made("striped", network, p(1), bytes);
      REQUIRE(validate(plan, network.processors()).ok());
      const std::size_t trees = plan.trees.size();
      const Passed passed = passed_on(plan);
      for (const ProcessorId id : network.sites[1].processors.ids()) {
        const auto edges = passed.edges.find(id);
        // And what goes on to the next site.
        if (edges != passed.edges.end())
          CHECK(edges->second <= trees + (trees + small - 1) / small + 1);
      }
    }
  }
}

TEST_CASE("long trees lead through nobody who is slow, nor over a narrow way and back") {
  for (const std::vector<std::uint32_t>& sites :
       {std::vector<std::uint32_t>{9, 8, 7, 6}, {1, 1, 1, 1}, {5, 1, 5, 1}, {2, 2}}) {
    CAPTURE(sites.size());
    auto network = support::known({.sites = sites});
    const std::size_t last = sites.size() - 1;
    for (auto& [ends, way] : network.between) {
      if (ends.first == 1 || ends.second == 1) way.bytes_per_second = 2'500'000;
    }
    std::set<ProcessorId> slow;
    for (const std::size_t site : {std::size_t{0}, last}) {
      const ProcessorSet& members = network.sites[site].processors;
      if (members.size() > 3) slow.insert(members.ids()[3]);
    }
    for (const ProcessorId id : slow) {
      network.odd[id] = {std::nullopt, 12'500'000, 12'500'000};
    }
    for (const ProcessorId root :
         {network.sites[0].processors.front(), network.sites[1].processors.front(),
          network.sites[last].processors.front()}) {
      const Plan plan = made("two-tree", network, root, kLong);
      REQUIRE(validate(plan, network.processors()).ok());
      for (const PlannedTree& tree : plan.trees) {
        std::size_t narrow = 0;
        for (const Edge& edge : tree) {
          CHECK_FALSE(slow.contains(edge.from));
          const bool leaves = network.site_of(edge.from) == 1 && network.site_of(edge.to) != 1;
          const bool enters = network.site_of(edge.from) != 1 && network.site_of(edge.to) == 1;
          narrow += (leaves || enters) ? 1 : 0;
        }
        CHECK(narrow == 1);
      }
    }
  }
}

TEST_CASE("no tree leads through somebody who stands still, unless nobody else is there") {
  for (const std::vector<std::uint32_t>& sites :
       {std::vector<std::uint32_t>{40}, {9, 8, 7, 6}, {5, 1, 5, 1}, {2, 2}}) {
    CAPTURE(sites.size());
    const auto well = support::known({.sites = sites});
    auto network = well;
    std::set<ProcessorId> still;
    for (const auto& site : network.sites) {
      const std::vector<ProcessorId> members = site.processors.ids();
      for (std::size_t i = 1; i < members.size(); i += 3) still.insert(members[i]);
    }
    for (const ProcessorId id : still) network.odd[id].wait = 32ms;
    for (const std::string_view name : {"greedy", "striped", "two-tree"}) {
      CAPTURE(name);
      for (const ProcessorId root : {p(1), *still.begin()}) {
        const std::uint64_t bytes = name == "greedy" ? kShort : kLong;
        const Plan plan = made(name, network, root, bytes);
        REQUIRE(validate(plan, network.processors()).ok());
        for (const PlannedTree& tree : plan.trees) {
          for (const Edge& edge : tree) CHECK((edge.from == root || !still.contains(edge.from)));
        }
      }
    }
    // Who is slow and who stands still may be all of a site together.
    auto both = network;
    for (const auto& site : both.sites) {
      for (const ProcessorId id : site.processors.ids()) {
        if (!still.contains(id)) both.odd[id] = {std::nullopt, 1'000'000, 1'000'000};
      }
    }
    for (const std::string_view name : {"striped", "two-tree"}) {
      CHECK(validate(made(name, both, p(1), kLong), both.processors()).ok());
    }
    // If all do, the root alone does not serve everybody.
    for (const ProcessorId id : network.processors().ids()) network.odd[id].wait = 32ms;
    const Plan plan = made("striped", network, p(1), kLong);
    REQUIRE(validate(plan, network.processors()).ok());
    const auto passes_on = [](const Edge& edge) { return edge.from != p(1); };
    for (const PlannedTree& tree : plan.trees) CHECK(std::ranges::any_of(tree, passes_on));
  }
}

TEST_CASE("of two ways to a site the wide one is taken, although the others are nearer") {
  auto network = support::known({.sites = {6, 6, 6}});
  const auto set = [&](std::size_t a, std::size_t b, std::uint64_t rate, Duration latency) {
    network.between[{a, b}] = network.between[{b, a}] = {latency, rate};
  };
  set(0, 1, 12'500'000, 1ms);
  set(0, 2, 125'000'000, 5ms);
  set(1, 2, 50'000'000, 5ms);
  const Plan plan = made("two-tree", network, network.sites[0].processors.front(), kLong);
  std::size_t wide = 0;
  for (const PlannedTree& tree : plan.trees) {
    for (const Edge& edge : tree) {
      CHECK_FALSE((network.site_of(edge.from) == 0 && network.site_of(edge.to) == 1));
      if (network.site_of(edge.from) == 2 && network.site_of(edge.to) == 1) ++wide;
    }
  }
  CHECK(wide > 0);
}

TEST_CASE("every plan reaches everybody, from every root, at every size") {
  const std::vector<std::vector<std::uint32_t>> shapes = {
      {1},    {2},    {3},        {7},      {8},
      {1, 1}, {1, 5}, {16, 3, 1}, {33, 31}, {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}};
  for (const auto& sites : shapes) {
    const auto network = support::known({.sites = sites});
    const ProcessorSet members = network.processors();
    for (const Planner& planner : all_planners()) {
      for (const ProcessorId root :
           {members.front(), p(static_cast<std::uint32_t>(members.size()))}) {
        for (const std::uint64_t bytes : {std::uint64_t{0}, kShort, kMiddle, kLong}) {
          CAPTURE(planner.name);
          CAPTURE(sites.size());
          CAPTURE(bytes);
          const Plan plan = made(planner.name, network, root, bytes);
          const Status status = validate(plan, members);
          if (!status.ok()) FAIL_CHECK(status.error().what);
          CHECK(plan.algorithm == planner.name);
          const PlanTrees trees = trees_of(plan);
          CHECK(validate({.root = root, .trees = trees.trees}, members).ok());
        }
      }
    }
  }
}

TEST_CASE("depth, degree and ways between sites are what the algorithms promise") {
  for (const std::uint32_t each : {5U, 16U, 67U}) {
    CAPTURE(each);
    const auto network = support::three_sites(each);
    const std::size_t all = 3 * std::size_t{each};
    const auto tree = [&](std::string_view name) {
      return made(name, network, p(2), kShort).trees.at(0);
    };
    const auto shape = [&](std::string_view name) { return shape_of(tree(name), p(2)); };
    const std::size_t rounds = std::bit_width(std::bit_ceil(all) - 1);

    CHECK(shape("flat") == TreeShape{1, all - 1});
    CHECK(shape("binomial").degree == rounds);
    CHECK(shape("binomial").depth <= rounds);
    CHECK(shape("list") == TreeShape{all - 1, 1});
    CHECK(shape("binary").degree == 2);
    CHECK(shape("binary").depth <= std::bit_width(each) + 2U);
    for (const std::string_view once : {"magpie", "list", "binary"}) {
      CHECK(crossings(tree(once), network) == 2);
    }
    CHECK(crossings(tree("flat"), network) == 2 * each);
    const Plan pair = made("two-tree", network, p(2), kLong);
    for (const PlannedTree& half : pair.trees) CHECK(crossings(half, network) == 2);
  }
}

TEST_CASE("who asks for a plan that cannot be is told why") {
  const auto network = support::known({.sites = {2}});
  auto impossible = network;
  impossible.usual.overhead = -1ms;

  CHECK(plan("best", network, p(1), kShort).error().code == ErrorCode::kNotFound);
  CHECK(plan("flat", network, p(3), kShort).error().what == "nothing is known of the root p3");
  CHECK(plan("flat", impossible, p(1), kShort).error().code == ErrorCode::kBadInput);
  CHECK(plan("mpich", support::known({.sites = {3000}}), p(1), kShort).error().code ==
        ErrorCode::kLimit);
}

TEST_SUITE_END();

}  // namespace planners_test
