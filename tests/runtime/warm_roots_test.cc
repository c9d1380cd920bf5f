#include "runtime/warm_roots.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

namespace phx::runtime::warm_roots_test {
namespace {

using Partners = std::set<ProcessorId>;
using Amounts = std::map<ProcessorId, std::uint64_t>;

constexpr ProcessorId kRoot{1};
constexpr Instant kStart{};

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
  roots.on_drawn(kStart, {kRoot, TreeKind::kLearned, 1});  // The first is a long one: too late.
  CHECK(roots.take_partners(store).empty());

  roots.on_drawn(kStart, short_tree(1));

  Amounts expected;
  for (const SizeClass size : {SizeClass{1}, SizeClass{4}}) {  // of 64 KiB, and of 4 MiB
    for (std::uint32_t turn = 0; turn < long_trees(size); ++turn) {
      const std::uint32_t number = learned_number(size, turn);
      expected[ProcessorId{100 + number}] = 65536 / long_trees(size);
      expected[ProcessorId{200 + number}] = 65536 / long_trees(size);
    }
  }
  CHECK(roots.take_partners(store) == expected);
  CHECK(roots.take_partners(store).empty());
  roots.on_drawn(kStart, short_tree(1));  // Trees are other ones now.
  CHECK(roots.take_partners(store) == expected);
}

TEST_CASE("the ninth root in use is cold, until one of the others is gone") {
  const overlay::TreeStore store = numbered();
  WarmRoots roots;
  for (std::uint32_t root = 1; root <= 8; ++root) roots.on_drawn(kStart, short_tree(root));
  CHECK_FALSE(roots.take_partners(store).empty());
  roots.on_drawn(kStart, short_tree(9));
  CHECK(roots.take_partners(store).empty());

  roots.on_members(ProcessorSet::range(ProcessorId{2}, ProcessorId{9}));

  roots.on_drawn(kStart, short_tree(9));
  CHECK_FALSE(roots.take_partners(store).empty());
}

TEST_CASE("whoever was not used for a minute makes room for the ninth root") {
  const overlay::TreeStore store = numbered();
  WarmRoots roots;
  for (std::uint32_t root = 1; root <= 8; ++root) roots.on_drawn(kStart, short_tree(root));
  static_cast<void>(roots.take_partners(store));
  for (std::uint32_t root = 2; root <= 8; ++root) {
    roots.on_used(kStart + 50s, {ProcessorId{root}, TreeKind::kLearned, learned_number(1, 1)});
  }
  roots.on_drawn(kStart + 59s, short_tree(9));
  CHECK(roots.take_partners(store).empty());
  roots.on_drawn(kStart + 60s, short_tree(9));
  CHECK_FALSE(roots.take_partners(store).empty());
  roots.on_drawn(kStart + 61s, short_tree(1));  // The others are in use.
  CHECK(roots.take_partners(store).empty());
}

TEST_CASE("a root whose trees were drawn when there was no room is warm once there is") {
  const overlay::TreeStore store = numbered();
  WarmRoots roots;
  for (std::uint32_t root = 1; root <= 9; ++root) roots.on_drawn(kStart, short_tree(root));
  static_cast<void>(roots.take_partners(store));
  const TreeId ninth{ProcessorId{9}, TreeKind::kLearned, learned_number(1, 1)};

  roots.on_used(kStart + 59s, ninth);
  CHECK(roots.take_partners(store).empty());
  roots.on_used(kStart + 60s, ninth);
  CHECK_FALSE(roots.take_partners(store).empty());
  roots.on_used(kStart + 61s, ninth);
  CHECK(roots.take_partners(store).empty());
}

// Pieces of two short messages after each other take other trees.
TEST_CASE("the first piece in a second opens the ways of all trees that take turns with its own") {
  const overlay::TreeStore store = numbered();
  const TreeId second{kRoot, TreeKind::kLearned, learned_number(1, 1)};
  Partners expected;
  for (std::uint32_t turn = 0; turn < long_trees(1); ++turn) {
    expected.insert(ProcessorId{200 + learned_number(1, turn)});
  }
  WarmRoots roots;
  Instant now{};
  roots.on_used(now, short_tree(1));
  CHECK(roots.take_children(store).empty());

  roots.on_used(now, second);
  CHECK(roots.take_children(store) == expected);
  CHECK(roots.take_children(store).empty());
  for (int piece = 0; piece < 20; ++piece) roots.on_used(now += 200ms, second);
  CHECK(roots.take_children(store).empty());  // A stream.
  roots.on_used(now += 1s, second);
  CHECK(roots.take_children(store) == expected);

  roots.on_members(ProcessorSet{ProcessorId{2}});
  roots.on_used(now, second);
  CHECK(roots.take_children(store) == expected);  // It was gone.
  for (std::uint32_t root = 2; root <= 8; ++root) roots.on_drawn(kStart, short_tree(root));
  roots.on_used(now, {ProcessorId{9}, TreeKind::kLearned, second.number});
  CHECK(roots.take_children(store).empty());
}

TEST_SUITE_END();

}  // namespace phx::runtime::warm_roots_test
