#include "runtime/endpoint/vnode_counts.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>

#include "overlay/base/rng.h"

namespace phx::runtime::vnode_counts_test {
namespace {

/// The highest number that half of all reach.
std::uint64_t median_of(const std::map<std::uint64_t, std::uint64_t>& counts) {
  std::uint64_t total = 0;
  for (const auto& [number, vnodes] : counts) total += vnodes;
  std::uint64_t reached = 0;
  for (auto at = counts.rbegin(); at != counts.rend(); ++at) {
    reached += at->second;
    if (2 * reached >= total) return at->first;
  }
  return 0;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/vnode_counts");

TEST_CASE("the median is right, whatever is added and removed in whatever order") {
  constexpr int kSteps = 20'000;
  constexpr std::uint64_t kNumbers = 40;
  Rng rng(7);
  VnodeCounts counts;
  std::map<std::uint64_t, std::uint64_t> all;
  for (int i = 0; i < kSteps; ++i) {
    const std::uint64_t number = rng.below(kNumbers);
    const auto known = all.find(number);
    // At times more goes than comes, so that all has gone now and then.
    if (known != all.end() && rng.below(10) < (i / 500 % 2 == 0 ? 3U : 8U)) {
      const std::uint64_t vnodes = 1 + rng.below(known->second);
      counts.remove(number, vnodes);
      known->second -= vnodes;
      if (known->second == 0) all.erase(known);
    } else if (i / 500 % 2 == 0) {
      const std::uint64_t vnodes = 1 + rng.below(9);
      counts.add(number, vnodes);
      all[number] += vnodes;
    }
    CAPTURE(i);
    REQUIRE(counts.median() == median_of(all));
    REQUIRE(counts.is_empty() == all.empty());
    REQUIRE(counts.highest() == (all.empty() ? 0 : all.rbegin()->first));
    REQUIRE(counts.lowest() == (all.empty() ? 0 : all.begin()->first));
  }
}

TEST_CASE("a copy counts on its own") {
  VnodeCounts counts;
  counts.add(7, 1);
  VnodeCounts copy = counts;
  copy.add(9, 5);
  counts.remove(7, 1);
  CHECK(copy.median() == 9);
  CHECK(counts.median() == 0);
}

TEST_SUITE_END();

}  // namespace phx::runtime::vnode_counts_test
