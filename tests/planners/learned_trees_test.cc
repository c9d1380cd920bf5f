#include "overlay/planners/learned_trees.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "overlay/base/rng.h"
#include "overlay/planners/planned_views.h"
#include "overlay/planners/planners.h"
#include "overlay/planners/tree_styles.h"
#include "tests/planners/networks.h"
#include "tests/support/kruskal.h"
#include "tests/support/seeds.h"

namespace phx::planners::learned_trees_test {
namespace {

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

/// Learned trees of everybody who lives, over the same network.
struct Mesh {
  Mesh(const overlay::KnownNetwork& network, const ProcessorSet& live) {
    for (const ProcessorId id : live.ids()) {
      trees.emplace(id, LearnedTrees(id));
      trees.at(id).on_network(network);
      trees.at(id).on_members(live);
    }
  }
  [[nodiscard]] TreeView view(ProcessorId at, ProcessorId root) {
    auto view = trees.at(at).view({root, TreeKind::kLearned, number});
    REQUIRE(view.has_value());
    return *view;
  }
  /// Everybody hangs below the root, and knows so.
  void check_tree(ProcessorId root) {
    for (number = 0; number < kLearnedTrees; ++number) check_one(root);
    number = 0;
  }
  void check_one(ProcessorId root) {
    ProcessorSet seen{root};
    check_below(root, root, seen);
    CHECK(seen.size() == trees.size());
    CHECK(view(root, root).parent == std::nullopt);
  }
  void check_below(ProcessorId at, ProcessorId root, ProcessorSet& seen) {
    for (const TreeChild& child : view(at, root).children) {
      CHECK(view(child.id, root).parent == at);
      CHECK_FALSE(seen.contains(child.id));
      ProcessorSet below{child.id};
      check_below(child.id, root, below);
      CHECK(below == child.below);
      seen = seen.united(below);
    }
  }

  std::map<ProcessorId, LearnedTrees> trees;
  std::uint32_t number = 0;
};

}  // namespace

TEST_SUITE_BEGIN("planners/learned_trees");

TEST_CASE("all processors see the same tree, of whatever root") {
  const auto network = support::three_sites(6);
  Mesh mesh(network, network.processors());
  for (std::uint32_t root = 1; root <= 18; ++root) mesh.check_tree(p(root));
}

TEST_CASE("roots that were asked for in another order have the same trees") {
  const auto network = support::three_sites(6);
  Mesh mesh(network, network.processors());
  for (std::uint32_t root = 1; root <= 18; ++root) {
    static_cast<void>(mesh.view(p(root), p(root)));  // each begins with its own
  }
  for (std::uint32_t root = 1; root <= 18; ++root) mesh.check_tree(p(root));
}

TEST_CASE("inner processors of one tree for long messages are leaves of the other, but for some") {
  const auto network = support::three_sites(8);
  Mesh mesh(network, network.processors());
  std::size_t both = 0;
  std::size_t most = 0;
  for (std::uint32_t id = 2; id <= 24; ++id) {
    std::size_t trees = 0;
    const std::uint32_t first = learned_number(4, 0);
    for (mesh.number = first; mesh.number < first + long_trees(4); ++mesh.number) {
      const std::size_t children = mesh.view(p(id), p(1)).children.size();
      trees += children > 0 ? 1 : 0;
      most = std::max(most, children);
    }
    both += trees == long_trees(4) ? 1 : 0;
  }
  CHECK(both <= 6);  // those who feed other sites
  CHECK(most <= 3);
}

TEST_CASE("what differs only as measurements do changes no tree, and what is slow does") {
  overlay::KnownNetwork network = support::three_sites(6);
  network.usual.out_bytes_per_second = network.usual.in_bytes_per_second = 117'000'000;
  for (auto& [ends, way] : network.between) way.bytes_per_second = 117'000'000;
  const auto trees = [](const overlay::KnownNetwork& known) {
    LearnedTrees learned(p(4));
    learned.on_network(known);
    learned.on_members(known.processors());
    std::vector<TreeView> views;
    for (std::uint32_t number = 0; number < kLearnedTrees; ++number) {
      for (std::uint32_t root = 1; root <= 18; ++root) {
        views.push_back(*learned.view({p(root), TreeKind::kLearned, number}));
      }
    }
    return views;
  };
  overlay::KnownNetwork noisy = network;
  noisy.usual.in_bytes_per_second = 130'000'000;
  noisy.odd[p(3)] = {std::nullopt, 1'250'000'000, 120'000'000};
  noisy.odd[p(9)] = {std::nullopt, 1'250'000'000, 1'250'000'000};
  noisy.between.begin()->second.bytes_per_second = 80'000'000;
  CHECK(trees(noisy) == trees(network));
  noisy.odd[p(9)] = {std::nullopt, 12'500'000, 117'000'000};
  CHECK_FALSE(trees(noisy) == trees(network));
  // A site whose members are all fast is one.
  overlay::KnownNetwork fast = network;
  for (const ProcessorId one : network.sites[1].processors.ids()) {
    fast.odd[one] = {std::nullopt, 1'250'000'000, 1'250'000'000};
  }
  CHECK_FALSE(trees(fast) == trees(network));
}

TEST_CASE("fast sites with a fast way between them are not behind a usual one") {
  overlay::KnownNetwork network = support::three_sites(6);
  constexpr std::uint64_t kFast = 1'250'000'000;
  for (const std::size_t site : {std::size_t{0}, std::size_t{2}}) {
    for (const ProcessorId one : network.sites[site].processors.ids()) {
      network.odd[one] = {std::nullopt, kFast, kFast};
    }
  }
  network.between[{0, 2}].bytes_per_second = network.between[{2, 0}].bytes_per_second = kFast;
  Mesh mesh(network, network.processors());
  for (SizeClass size = 4; size < kSizeClasses; ++size) {
    for (std::uint64_t piece = 0; piece < long_trees(size); ++piece) {
      mesh.number = learned_number(size, piece);
      for (const ProcessorId one : network.sites[2].processors.ids()) {
        CHECK(*network.site_of(*mesh.view(one, p(1)).parent) != 1);
      }
    }
  }
}

TEST_CASE("as long as nothing is known all are alike") {
  Mesh mesh({}, ProcessorSet::range(p(1), p(40)));
  mesh.check_tree(p(7));
}

TEST_CASE("whoever is in no site is a leaf, and changes nothing for the others") {
  const auto network = support::three_sites(6);
  Mesh before(network, network.processors());
  ProcessorSet more = network.processors();
  for (std::uint32_t id = 30; id <= 34; ++id) more.insert(p(id));
  Mesh mesh(network, more);
  mesh.check_tree(p(3));
  for (std::uint32_t id = 30; id <= 34; ++id) CHECK(mesh.view(p(id), p(3)).children.empty());
  for (std::uint32_t id = 1; id <= 18; ++id) {
    CHECK(mesh.view(p(id), p(3)).parent == before.view(p(id), p(3)).parent);
  }
  mesh.check_tree(p(31));  // a root that is in no site
}

TEST_CASE("whoever has left is in no tree, and the ways of the others are still known") {
  const auto network = support::three_sites(6);
  ProcessorSet rest = network.processors();
  for (std::uint32_t id = 1; id <= 18; id += 2) rest.erase(p(id));
  Mesh mesh(network, rest);
  mesh.check_tree(p(8));
  std::size_t far = 0;
  for (const ProcessorId id : rest.ids()) {
    const TreeView view = mesh.view(id, p(8));
    if (view.parent != p(8) || network.site_of(id) == network.site_of(p(8))) continue;
    CHECK(view.distance_to_root == 2 * *network.way(p(8), id).latency);
    ++far;
  }
  CHECK(far >= 2);  // one to each other site at least
  LearnedTrees gone(p(1));
  gone.on_network(network);
  gone.on_members(rest);
  CHECK(!gone.view({p(8), TreeKind::kLearned, 0}).has_value());  // nor does it know one
}

TEST_CASE("a whole site is gone") {
  const auto network = support::three_sites(6);
  Mesh mesh(network, ProcessorSet::range(p(7), p(18)));
  mesh.check_tree(p(7));
  mesh.check_tree(p(18));
}

TEST_CASE("alone, unknown roots, other kinds") {
  LearnedTrees trees(p(4));
  const auto own = trees.view({p(4), TreeKind::kLearned});
  REQUIRE(own.has_value());
  CHECK(own->children.empty());
  CHECK_FALSE(trees.view({p(5), TreeKind::kLearned}).has_value());
  CHECK_FALSE(trees.view({p(4), TreeKind::kLatency}).has_value());
  const auto styles = static_cast<std::uint32_t>(tree_styles().size());
  CHECK(trees.view({p(4), TreeKind::kLearned, styles * kLearnedTrees - 1}).has_value());
  CHECK_FALSE(trees.view({p(4), TreeKind::kLearned, styles * kLearnedTrees}).has_value());
}

TEST_CASE("trees of a style are those of its planner, from each root, as all processors see them") {
  const auto network = support::three_sites(4);
  Mesh mesh(network, network.processors());
  const Costs costs(network);
  std::size_t compared = 0;
  for (const std::string_view name : tree_styles()) {
    if (planner_of(*tree_style(name)) == nullptr) continue;
    CAPTURE(name);
    for (const std::uint32_t root : {1U, 6U, 12U}) {
      for (const SizeClass size : {SizeClass{0}, SizeClass{4}}) {
        const auto planned = plan(name, network, p(root), usual_bytes(size));
        REQUIRE(planned.ok());
        for (std::uint32_t turn = 0; turn < planned.value().trees.size(); ++turn) {
          mesh.number = *tree_style(name) * kLearnedTrees + learned_number(size, turn);
          const auto views = planned_views(planned.value().trees, p(root), costs);
          const std::size_t at = learned_number(size, turn) % planned.value().trees.size();
          for (const auto& [id, all] : views) {
            CHECK(mesh.view(id, p(root)).parent == all[at].parent);
            CHECK(mesh.view(id, p(root)).children == all[at].children);
          }
          ++compared;
          if (size == 0) break;  // Short messages take one tree.
        }
      }
    }
  }
  CHECK(compared >= 3 * 2 * (tree_styles().size() - 2));
}

TEST_CASE("styles have names, and schedules are none") {
  CHECK(tree_style("learned") == kLearnedStyle);
  CHECK(planner_of(kLearnedStyle) == nullptr);
  CHECK(tree_style("agm") == agm_style());
  CHECK(planner_of(agm_style()) == nullptr);
  for (const std::string_view name : tree_styles()) {
    const Planner* planner = planner_of(*tree_style(name));
    if (planner != nullptr) CHECK(planner->name == name);
  }
  for (const char* none : {"mpich", "mpich-ring", "magpie-long", "adaptive", ""}) {
    CHECK_FALSE(tree_style(none).has_value());
  }
}

TEST_CASE("whoever is in no site is a leaf in trees of each style") {
  const auto network = support::three_sites(4);
  ProcessorSet more = network.processors();
  for (std::uint32_t id = 30; id <= 32; ++id) more.insert(p(id));
  Mesh mesh(network, more);
  for (std::uint32_t style = 0; style < tree_styles().size(); ++style) {
    CAPTURE(tree_styles()[style]);
    mesh.number = style * kLearnedTrees;
    mesh.check_one(p(5));
    mesh.check_one(p(31));
    CHECK(mesh.view(p(30), p(5)).children.empty());
  }
}

TEST_CASE("daemons of one thread make a plan once, and see what each alone sees") {
  const auto network = support::three_sites(6);
  const ProcessorSet live = ProcessorSet::range(p(2), p(17)).united(ProcessorSet{p(40)});
  const auto store = std::make_shared<PlanStore>();
  const auto shared = store->of(network, live);
  CHECK(store->of(network, live) == shared);
  CHECK(store->of(network, ProcessorSet::range(p(2), p(17))) != shared);
  CHECK(store->of({}, live) != shared);

  for (const ProcessorId self : live.ids()) {
    LearnedTrees alone(self);
    LearnedTrees beside(self, store);
    for (LearnedTrees* trees : {&alone, &beside}) {
      trees->on_network(network);
      trees->on_members(live);
    }
    for (const std::uint32_t root : {2U, 9U, 17U, 40U}) {
      for (std::uint32_t number = 0; number < kLearnedTrees; ++number) {
        const TreeId id{p(root), TreeKind::kLearned, number};
        CHECK(alone.view(id) == beside.view(id));
      }
    }
  }
}

TEST_CASE("a store that has seen more than it looks through makes plans anew, and they are right") {
  const auto network = support::three_sites(6);
  PlanStore store;
  std::vector<std::shared_ptr<NetworkPlans>> used;
  for (std::uint32_t last = 1; last <= 18; ++last) {
    used.push_back(store.of(network, ProcessorSet::range(p(1), p(last))));
  }
  CHECK(store.of(network, ProcessorSet::range(p(1), p(18))) == used.back());
  const auto anew = store.of(network, ProcessorSet::range(p(1), p(1)));
  CHECK(anew != used.front());
  CHECK(anew->live() == used.front()->live());
}

TEST_CASE("the minimum spanning tree of all pairs is that of those that it may have") {
  constexpr std::uint32_t kProcessors = 14;
  std::size_t edges = 0;
  constexpr std::uint64_t kSeeds = phx::support::seeds(100);
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    // Few different distances; insides may be longer than ways; the last one is in no site.
    const auto draw = [&] { return std::chrono::microseconds(100 * (1 + rng.below(6))); };
    overlay::KnownNetwork network;
    network.sites.resize(1 + rng.below(5));
    for (std::uint32_t id = 1; id < kProcessors; ++id) {
      network.sites[rng.below(network.sites.size())].processors.insert(p(id));
    }
    for (std::size_t from = 0; from < network.sites.size(); ++from) {
      if (rng.chance(0.8)) network.sites[from].latency = draw();
      for (std::size_t to = 0; to < network.sites.size(); ++to) {
        if (from != to && rng.chance(0.9)) network.between[{from, to}].latency = draw();
      }
    }
    for (int i = 0; i < 8; ++i) {
      const auto from = p(1 + static_cast<std::uint32_t>(rng.below(kProcessors)));
      const auto to = p(1 + static_cast<std::uint32_t>(rng.below(kProcessors)));
      if (from != to) network.pairs[{from, to}].latency = draw();
    }
    const auto live = ProcessorSet::range(p(1), p(kProcessors));
    const NetworkPlans plans(network, live);
    phx::support::Weights all;
    phx::support::Weights possible;
    for (const ProcessorId low : live.ids()) {
      for (const ProcessorId high : live.ids()) {
        if (low >= high) continue;
        all[{low, high}] = plans.round_trip(low, high);
        CHECK(plans.may_span(low, high) == plans.may_span(high, low));
        if (plans.may_span(low, high)) possible[{low, high}] = all[{low, high}];
      }
    }
    CHECK(phx::support::kruskal(possible) == phx::support::kruskal(all));
    edges += possible.size();
  }
  CHECK(edges < kSeeds * kProcessors * (kProcessors - 1) / 4);
}

TEST_SUITE_END();

}  // namespace phx::planners::learned_trees_test
