#include "overlay/tree_store.h"

#include <doctest/doctest.h>

namespace phx::overlay::tree_store_test {
namespace {

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}
constexpr TreeId kTree{ProcessorId{1}, TreeKind::kLearned, 3};

/// Draws p1 above the processors `next`.
struct Store {
  explicit Store(ProcessorSet children) : next(std::move(children)) {
    store.draw_by([this](TreeId id) {
      TreeView view;
      view.id = id;
      for (const ProcessorId child : next.ids()) view.children.push_back({child, {child}});
      return view;
    });
  }
  void draw(Drawing drawing, const ProcessorSet& children, const ProcessorSet& members) {
    next = children;
    store.draw_anew(drawing);
    store.keep_only(members);
  }
  [[nodiscard]] ProcessorSet children(Drawing drawing) const {
    ProcessorSet set;
    for (const TreeChild& child : store.view(kTree, drawing).view->children) set.insert(child.id);
    return set;
  }

  TreeStore store;
  ProcessorSet next;
};

}  // namespace

TEST_SUITE_BEGIN("overlay/tree_store");

TEST_CASE("a copy that is under way goes on along the drawing that it began with") {
  const ProcessorSet all = ProcessorSet::range(p(1), p(9));
  Store s({p(2), p(3)});
  s.draw(10, {p(2), p(3)}, all);
  CHECK(s.children(10) == ProcessorSet{p(2), p(3)});
  s.draw(11, {p(4)}, all);
  CHECK(s.children(10) == ProcessorSet{p(2), p(3)});
  CHECK(s.store.view(kTree, 10).drawing == 10);
  CHECK(s.children(11) == ProcessorSet{p(4)});
  CHECK(s.store.view(kTree)->children.size() == 1);
}

TEST_CASE("drawn anew by the same name, as often as it may be, it pushes no other drawing out") {
  const ProcessorSet all = ProcessorSet::range(p(1), p(9));
  Store s({p(2)});
  s.draw(10, {p(2)}, all);
  CHECK(s.children(10) == ProcessorSet{p(2)});
  for (std::uint32_t turn = 0; turn < 9; ++turn) {
    s.draw(11, {p(3 + turn % 2)}, all);
    CHECK(s.children(11) == ProcessorSet{p(3 + turn % 2)});
  }
  CHECK(s.children(10) == ProcessorSet{p(2)});
}

TEST_CASE("what is not known here is drawn as it is now, and is passed on by that name") {
  const ProcessorSet all = ProcessorSet::range(p(1), p(9));
  Store s({p(2)});
  s.draw(10, {p(2)}, all);
  s.draw(11, {p(3)}, all);  // nobody asked for a tree of drawing 10
  CHECK(s.children(10) == ProcessorSet{p(3)});
  CHECK(s.store.view(kTree, 10).drawing == 11);
  CHECK(s.store.view(kTree, 12).drawing == 11);  // not yet
}

TEST_CASE("who is no member any more is in no former drawing") {
  const ProcessorSet all = ProcessorSet::range(p(1), p(9));
  Store s({p(2), p(3)});
  s.draw(10, {p(2), p(3)}, all);
  CHECK(s.children(10).size() == 2);
  s.draw(11, {p(2)}, ProcessorSet{p(1), p(2)});
  CHECK(s.children(10) == ProcessorSet{p(2)});
}

TEST_CASE("limits: four former drawings are kept, of trees that were asked for") {
  const ProcessorSet all = ProcessorSet::range(p(1), p(9));
  Store s({p(2)});
  for (Drawing drawing = 1; drawing <= 6; ++drawing) {
    s.draw(drawing, {p(drawing + 1)}, all);
    CHECK(s.children(drawing) == ProcessorSet{p(drawing + 1)});
  }
  CHECK(s.children(1) == ProcessorSet{p(7)});  // as now
  for (Drawing drawing = 2; drawing <= 6; ++drawing) {
    CHECK(s.children(drawing) == ProcessorSet{p(drawing + 1)});
  }
}

TEST_CASE("names of drawings differ when the network or those who relay do") {
  CHECK(drawing_of(3, 7) == drawing_of(3, 7));
  for (std::uint64_t step = 1; step < 100; ++step) {
    CHECK(drawing_of(3, 7) != drawing_of(3 + step, 7));
    CHECK(drawing_of(3, 7) != drawing_of(3, 7 + step));
    CHECK(drawing_of(3, 7) != drawing_of(3 + step, 7 + step));
  }
}

TEST_CASE(
    "[Saito08 E1] a root takes its bandwidth tree for long messages once that reaches as many") {
  TreeStore store;
  const TreeId latency{p(1), TreeKind::kLatency};
  const TreeId bandwidth{p(1), TreeKind::kBandwidth};
  const auto known = [&](TreeId id, const ProcessorSet& below) {
    TreeView view;
    view.id = id;
    view.children = {{p(2), below}};
    store.put(view);
  };
  const SizeClass longest = kSizeClasses - 1;
  CHECK(store.widest(p(1), longest) == latency);
  known(latency, {p(2), p(3)});
  known(bandwidth, {p(2)});
  CHECK(store.widest(p(1), longest) == latency);
  known(bandwidth, {p(2), p(3)});
  CHECK(store.widest(p(1), longest) == bandwidth);
  CHECK(store.widest(p(1), 0) == latency);
  CHECK(store.widest(p(1), size_class(std::uint64_t{256} << 10U)) == latency);
  CHECK(store.widest(p(1), size_class((std::uint64_t{256} << 10U) + 1)) == bandwidth);
  store.use_bandwidth_above(~std::uint64_t{0});
  CHECK(store.widest(p(1), longest) == latency);
}

TEST_SUITE_END();

}  // namespace phx::overlay::tree_store_test
