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

TEST_SUITE_END();

}  // namespace phx::runtime::tree_status_test
