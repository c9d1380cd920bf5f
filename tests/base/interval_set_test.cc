#include "overlay/base/interval_set.h"

#include <doctest/doctest.h>

#include <limits>
#include <set>

#include "overlay/base/rng.h"

namespace phx::interval_set_test {
namespace {

constexpr std::uint64_t kSmall = 24;

/// The slow but obvious set, to compare with.
using Plain = std::set<std::uint64_t>;

VnodeSet make(const Plain& plain) {
  VnodeSet set;
  for (const std::uint64_t value : plain) set.insert(VnodeId{value});
  return set;
}

Plain plain(const VnodeSet& set) {
  Plain values;
  for (const VnodeId id : set.ids()) values.insert(id.value);
  return values;
}

Plain draw(Rng& rng) {
  Plain values;
  for (std::uint64_t value = 0; value < kSmall; ++value) {
    if (rng.chance(0.5)) values.insert(value);
  }
  return values;
}

void check_normal(const VnodeSet& set) {
  for (std::size_t i = 0; i < set.ranges().size(); ++i) {
    CHECK(set.ranges()[i].first <= set.ranges()[i].last);
    if (i > 0) CHECK(set.ranges()[i].first.value > set.ranges()[i - 1].last.value + 1);
  }
}

TEST_CASE("the algebra of sets agrees with that of plain sets, and ranges never touch") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    const Plain a = draw(rng);
    const Plain b = draw(rng);
    Plain both = a;
    both.insert(b.begin(), b.end());
    Plain common;
    Plain minus;
    for (const std::uint64_t value : a) (b.count(value) != 0 ? common : minus).insert(value);

    CHECK(plain(make(a)) == a);
    CHECK(plain(make(a).united(make(b))) == both);
    CHECK(plain(make(a).common(make(b))) == common);
    CHECK(plain(make(a).minus(make(b))) == minus);
    CHECK(make(a).size() == a.size());
    CHECK(make(both).contains_all(make(a)));
    CHECK(make(a).contains_all(make(b)) == (common.size() == b.size()));
    check_normal(make(a).united(make(b)));
    check_normal(make(a).minus(make(b)));
    for (std::uint64_t value = 0; value < kSmall; ++value) {
      CHECK(make(a).contains(VnodeId{value}) == (a.count(value) != 0));
    }
  }
}

TEST_CASE("inserting ranges in any order joins what overlaps or touches") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    VnodeSet set;
    Plain expected;
    for (int i = 0; i < 6; ++i) {
      const std::uint64_t first = rng.below(kSmall);
      const std::uint64_t last = first + rng.below(5);
      set.insert(VnodeSet::Range{VnodeId{first}, VnodeId{last}});
      for (std::uint64_t value = first; value <= last; ++value) expected.insert(value);
      check_normal(set);
    }
    CHECK(plain(set) == expected);
  }
}

TEST_CASE("the greatest ids of a set can be taken") {
  const VnodeSet set =
      VnodeSet::range(VnodeId{0}, VnodeId{3}).united(VnodeSet::range(VnodeId{10}, VnodeId{11}));
  CHECK(to_string(set.last_ids(1)) == "11");
  CHECK(to_string(set.last_ids(4)) == "2-3,10-11");
  CHECK(set.last_ids(100) == set);
  CHECK(set.last_ids(0).empty());
}

TEST_CASE("the least and the greatest id of all are ids like others") {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  VnodeSet set{VnodeId{kMost}, VnodeId{0}};
  set.insert(VnodeId{kMost - 1});
  CHECK(set.ranges().size() == 2);
  CHECK(set.contains(VnodeId{kMost}));
  set.erase(VnodeId{kMost});
  set.erase(VnodeId{0});
  CHECK(set == VnodeSet{VnodeId{kMost - 1}});
}

TEST_CASE("a set reads as people write it") {
  CHECK(to_string(VnodeSet{}) == "none");
  CHECK(to_string(VnodeSet{VnodeId{4}}) == "4");
  CHECK(to_string(VnodeSet{VnodeId{0}, VnodeId{1}, VnodeId{2}, VnodeId{9}}) == "0-2,9");
}

}  // namespace
}  // namespace phx::interval_set_test
