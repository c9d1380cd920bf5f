#include "runtime/vnodes/vnode_map.h"

#include <doctest/doctest.h>

#include <map>

#include "overlay/base/rng.h"

TEST_SUITE_BEGIN("runtime/vnode_map");

namespace phx::runtime::vnode_map_test {
namespace {

constexpr ProcessorId p1{1}, p2{2}, p3{3};

VnodeSet range(std::uint64_t first, std::uint64_t last) {
  return VnodeSet::range(VnodeId{first}, VnodeId{last});
}

TEST_CASE("equal contiguous shares in the order of the processors") {
  const VnodeMap map(10, {p3, p1, p2});

  CHECK(map.owned_by(p3) == range(0, 2));
  CHECK(map.owned_by(p1) == range(3, 5));
  CHECK(map.owned_by(p2) == range(6, 9));
  CHECK(map.owner(VnodeId{4}) == VnodeMap::Owner{p1, 1});
  map.check_invariants();
}

TEST_CASE("more processors than vnodes leaves some without any") {
  const VnodeMap map(2, {p1, p2, p3});

  CHECK(map.loads().size() == 2);
  CHECK(map.owned_by_any(ProcessorSet{p1, p2, p3}) == map.all());
}

TEST_CASE("a route of a higher epoch is taken, an equal or older one is not") {
  VnodeMap map(8, {p1});

  CHECK(map.learn({range(2, 5), p2, 2}) == range(2, 5));
  CHECK(map.learn({range(0, 7), p3, 2}) == range(0, 1).united(range(6, 7)));
  CHECK(map.learn({range(0, 7), p1, 1}).empty());
  CHECK(map.owned_by(p2) == range(2, 5));
  map.check_invariants();
}

TEST_CASE("vnodes beyond the space are ignored") {
  VnodeMap map(4, {p1});

  CHECK(map.learn({range(3, 9), p2, 5}) == range(3, 3));
  CHECK(map.learn({range(7, 9), p2, 5}).empty());
  CHECK(map.groups(range(2, 100)).size() == 2);
  map.check_invariants();
}

TEST_CASE("random routes give the map that a plain table gives") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    VnodeMap map(40, {p1, p2});
    std::map<std::uint64_t, VnodeMap::Owner> plain;
    for (std::uint64_t v = 0; v < 40; ++v) plain[v] = {v < 20 ? p1 : p2, 1};

    for (int i = 0; i < 60; ++i) {
      const std::uint64_t first = rng.below(45);
      const std::uint64_t last = first + rng.below(12);
      const Epoch epoch = 1 + rng.below(8);
      const ProcessorId owner{static_cast<std::uint32_t>(1 + rng.below(4))};
      map.learn({range(first, last), owner, epoch});
      for (std::uint64_t v = first; v <= last && v < 40; ++v) {
        if (plain[v].second < epoch) plain[v] = {owner, epoch};
      }
    }

    map.check_invariants();
    for (std::uint64_t v = 0; v < 40; ++v) REQUIRE(map.owner(VnodeId{v}) == plain[v]);
    VnodeSet grouped;
    for (const auto& group : map.groups(map.all())) {
      CHECK(grouped.common(group.vnodes).empty());
      grouped = grouped.united(group.vnodes);
    }
    CHECK(grouped == map.all());
  }
}

}  // namespace
}  // namespace phx::runtime::vnode_map_test

TEST_SUITE_END();
