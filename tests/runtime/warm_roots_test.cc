#include "runtime/warm_roots.h"

#include <doctest/doctest.h>

#include <set>

namespace phx::runtime {
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

  // Messages of 64 KiB have numbers 1 and 2, of 4 MiB 7 and 8.
  const Partners partners = roots.take_partners(store);
  CHECK(partners == Partners{ProcessorId{101}, ProcessorId{102}, ProcessorId{107}, ProcessorId{108},
                             ProcessorId{201}, ProcessorId{202}, ProcessorId{207},
                             ProcessorId{208}});
  CHECK(roots.take_partners(store).empty());
  roots.on_drawn(short_tree(1));  // Trees are other ones now.
  CHECK(roots.take_partners(store).size() == 8);
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

}  // namespace phx::runtime
