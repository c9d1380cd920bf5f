#include "runtime/warm_roots.h"

#include <doctest/doctest.h>

#include <set>

namespace phx::runtime::warm_roots_test {
namespace {

using Partners = std::set<ProcessorId>;

constexpr ProcessorId kRoot{1};

TreeId short_tree(std::uint32_t root) {
  return {ProcessorId{root}, TreeKind::kLearned, 0};
}

/// The number of a tree says who its parent is, and its only child.
overlay::TreeStore numbered() {
  overlay::TreeStore store;
  store.draw_by([](TreeId id) {
    TreeView view;
    view.id = id;
    view.parent = ProcessorId{100 + id.number};
    view.children.push_back({ProcessorId{200 + id.number}, {}});
    return view;
  });
  return store;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/warm_roots");

TEST_CASE("of a root in use the neighbours in its long trees are told, once") {
  const overlay::TreeStore store = numbered();
  WarmRoots roots;
  CHECK(roots.take_partners(store).empty());
  roots.on_drawn({kRoot, TreeKind::kLearned, 1});  // The first is a long one: too late.
  CHECK(roots.take_partners(store).empty());

  roots.on_drawn(short_tree(1));

  Partners expected;
  for (const SizeClass size : {SizeClass{1}, SizeClass{4}}) {  // of 64 KiB, and of 4 MiB
    for (std::uint32_t turn = 0; turn < long_trees(size); ++turn) {
      const std::uint32_t number = learned_number(size, turn);
      expected.insert({ProcessorId{100 + number}, ProcessorId{200 + number}});
    }
  }
  CHECK(roots.take_partners(store) == expected);
  CHECK(roots.take_partners(store).empty());
  roots.on_drawn(short_tree(1));  // Trees are other ones now.
  CHECK(roots.take_partners(store) == expected);
}

TEST_CASE("the ninth root in use is cold, until one of the others is gone") {
  const overlay::TreeStore store = numbered();
  WarmRoots roots;
  for (std::uint32_t root = 1; root <= 8; ++root) roots.on_drawn(short_tree(root));
  CHECK_FALSE(roots.take_partners(store).empty());
  roots.on_drawn(short_tree(9));
  CHECK(roots.take_partners(store).empty());

  roots.on_members(ProcessorSet::range(ProcessorId{2}, ProcessorId{9}));

  roots.on_drawn(short_tree(9));
  CHECK_FALSE(roots.take_partners(store).empty());
}

TEST_SUITE_END();

}  // namespace phx::runtime::warm_roots_test
