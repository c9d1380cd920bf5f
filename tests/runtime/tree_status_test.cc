#include "runtime/tree_status.h"

#include <doctest/doctest.h>

#include <vector>

#include "overlay/planners/tree_styles.h"

namespace phx::runtime::tree_status_test {
namespace {

constexpr ProcessorId kRoot{1}, kChild{3};

TreeView view_of(TreeId id) {
  TreeView view;
  view.id = id;
  view.parent = kRoot;
  view.children.push_back({kChild, {kChild}});
  view.distance_to_root = 4ms;
  return view;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/tree_status");

TEST_CASE("of trees that take turns all are told, once each, with children in their order") {
  overlay::TreeStore store;
  store.draw_by([](TreeId id) { return view_of(id); });

  const auto shorter = known_trees(store, planners::kLearnedStyle, {kRoot, 0});
  const auto longer = known_trees(store, planners::kLearnedStyle, {kRoot, 4});

  REQUIRE(shorter.size() == 1);
  CHECK(shorter[0] == TreeStatus{{kRoot, TreeKind::kLearned, 0}, kRoot, {kChild}, 4ms});
  REQUIRE(longer.size() == long_trees(4));
  CHECK(longer[0].tree.number == learned_number(4, 0));
  CHECK(longer[1].tree.number == learned_number(4, 1));
}

TEST_CASE(
    "planned trees are told instead while there are some, and what is not known is not told") {
  overlay::TreeStore store;
  CHECK(known_trees(store, planners::kLearnedStyle, {kRoot, 0}).empty());

  store.put(view_of({kRoot, TreeKind::kPlanned, 0}));
  store.put(view_of({kRoot, TreeKind::kPlanned, 2}));

  const auto known = known_trees(store, planners::kLearnedStyle, {kRoot, 0});
  REQUIRE(known.size() == 2);
  CHECK(known[1].tree.number == 2);
}

TEST_CASE(
    "a root tells of the adaptive tree that it takes, others of their place in the wide one") {
  overlay::TreeStore store;
  store.use_bandwidth_above(1024);
  constexpr SizeClass kLong = 5;
  const auto tree_of = [&](Duration distance, bool reaches_less) {
    TreeView narrow = view_of({kRoot, TreeKind::kLatency, 0});
    TreeView wide = view_of({kRoot, TreeKind::kBandwidth, 0});
    narrow.distance_to_root = wide.distance_to_root = distance;
    if (reaches_less) narrow.children.push_back({ProcessorId{4}, {ProcessorId{4}}});
    store.put(std::move(narrow));
    store.put(std::move(wide));
    const auto known = known_trees(store, planners::kLearnedStyle, {kRoot, kLong});
    REQUIRE(known.size() == 1);
    return known[0].tree.kind;
  };
  CHECK(tree_of(0ms, true) == TreeKind::kLatency);
  CHECK(tree_of(0ms, false) == TreeKind::kBandwidth);
  CHECK(tree_of(4ms, true) == TreeKind::kBandwidth);
}

TEST_SUITE_END();

}  // namespace phx::runtime::tree_status_test
