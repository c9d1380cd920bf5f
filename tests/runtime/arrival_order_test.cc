#include "runtime/endpoint/arrival_order.h"

#include <doctest/doctest.h>

#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "overlay/base/rng.h"

namespace phx::runtime::arrival_order_test {
namespace {

using Entries = std::vector<std::pair<std::uint64_t, VnodeId>>;

Entries entries_of(const ArrivalOrder& order) {
  Entries entries;
  order.find_if([&](std::uint64_t arrival, VnodeId vnode) {
    entries.emplace_back(arrival, vnode);
    return false;
  });
  return entries;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/arrival_order");

TEST_CASE("whatever comes and goes, it is what a map would be") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    ArrivalOrder order;
    std::map<std::uint64_t, VnodeId> wanted;
    std::uint64_t next = 0;
    std::vector<std::uint64_t> late;  // numbers that come after higher ones
    for (int i = 0; i < 1000; ++i) {
      if (rng.chance(0.1)) late.push_back(next++);
      if (!late.empty() && rng.chance(0.1)) {
        order.add(late.back(), VnodeId{rng.below(5)});
        wanted[late.back()];
        late.pop_back();
      } else if (wanted.empty() || rng.chance(0.5)) {
        order.add(next, VnodeId{1});
        wanted[next++] = VnodeId{1};
      } else {
        const bool is_first = rng.chance(0.5);
        const std::uint64_t index = is_first ? 0 : rng.below(wanted.size());
        const auto at = std::next(wanted.begin(), static_cast<std::ptrdiff_t>(index));
        order.remove(at->first);
        wanted.erase(at);
      }
      REQUIRE(order.size() == wanted.size());
      REQUIRE(order.empty() == wanted.empty());
    }
    const Entries entries = entries_of(order);
    REQUIRE(entries.size() == wanted.size());
    auto at = wanted.begin();
    for (const auto& [arrival, vnode] : entries) CHECK(arrival == (at++)->first);
  }
}

TEST_CASE("the first that is wanted may be removed when it is found") {
  ArrivalOrder order;
  for (std::uint64_t arrival = 0; arrival < 10; ++arrival) order.add(arrival, VnodeId{arrival % 3});
  order.find_if([&](std::uint64_t arrival, VnodeId vnode) {
    if (vnode != VnodeId{2}) return false;
    order.remove(arrival);
    return true;
  });
  CHECK(order.size() == 9);
  CHECK(entries_of(order).at(2) == std::pair(std::uint64_t{3}, VnodeId{0}));
}

TEST_CASE("one may look at those only that have come since") {
  ArrivalOrder order;
  for (std::uint64_t n = 0; n < 10; ++n) order.add(n, VnodeId{n});
  order.remove(6);
  std::vector<std::uint64_t> seen;
  const auto see = [&](std::uint64_t arrival, VnodeId) {
    seen.push_back(arrival);
    return arrival == 8;
  };
  order.find_if(see, 5);
  CHECK(seen == std::vector<std::uint64_t>{5, 7, 8});
  order.find_if(see, 10);
  CHECK(seen.size() == 3);
}

TEST_SUITE_END();

}  // namespace phx::runtime::arrival_order_test
