// What a place in a tree costs, and which of two is better, by numbers.

#include "overlay/tree_rules.h"

#include <doctest/doctest.h>

namespace phx::overlay::tree_rules_test {
namespace {

const ProcessorId kRoot{1};
const ProcessorId kSelf{10};
constexpr std::uint64_t kMegabyte = 1'000'000;

/// A processor to which `rate` bytes per second come.
TreeAdvert place(std::uint64_t rate, std::uint32_t children = 0) {
  const Duration time = rate == 0 ? Duration{} : mebibyte_time(rate);
  return TreeAdvert{.tree = {kRoot, TreeKind::kBandwidth},
                    .connected = true,
                    .distance = 1ms,
                    .label = {1, time},
                    .children = children,
                    .mebibyte_time = time};
}

/// est(p, place) in MB/s, if it sends here with `rate` when it sends to nobody else.
double est(const TreeAdvert& parent, std::uint64_t rate, std::uint32_t children) {
  const Duration time = time_below(parent, mebibyte_time(rate), children, kSelf);
  return 1048576 * 1e3 / static_cast<double>(time.count());
}

TEST_CASE(
    "[Saito08 D] est is what the parent gets, or its share of the interface, whichever is less") {
  const double close = 0.002;  // a hop costs a thousandth [G5 R3]
  // A candidate without children that gets 10 MB/s, and sends 12: 10 are left.
  CHECK(est(place(10 * kMegabyte), 12 * kMegabyte, 1) == doctest::Approx(10).epsilon(close));
  // With one child already each gets half of 12 [G1: rate / (children + 1)].
  CHECK(est(place(10 * kMegabyte), 12 * kMegabyte, 2) == doctest::Approx(6).epsilon(close));
  // The root gets any rate [G3]; three children share its interface.
  CHECK(est(place(0), 12 * kMegabyte, 3) == doctest::Approx(4).epsilon(close));
  // The present parent's children include the child itself [G2]: 0 is news from before that.
  CHECK(est(place(0), 12 * kMegabyte, 0) == doctest::Approx(12).epsilon(close));
}

TEST_CASE("[Saito08 G5] what comes to a child takes longer than what comes to its parent, always") {
  for (const Duration above :
       {Duration{0}, Duration{1}, Duration{8ms}, Duration{1000s}, kDistanceMax / 2}) {
    TreeAdvert parent = place(0);
    parent.mebibyte_time = above;
    for (const Duration edge : {Duration{0}, Duration{9ms}, kDistanceMax}) {
      for (const std::uint32_t children : {0U, 1U, 7U, 0xffffffffU}) {
        CAPTURE(above.count());
        CHECK(time_below(parent, edge, children, kSelf) > above);
      }
    }
  }
}

TEST_CASE("[Saito08 G19] a tenth is no reason to move, and no reason not to") {
  CHECK_FALSE(is_wider(95ms, 100ms));
  CHECK(is_wider(90ms, 100ms));
  CHECK(is_as_wide(109ms, 100ms));
  CHECK_FALSE(is_as_wide(111ms, 100ms));
}

TEST_CASE("what no correct processor says is not believed") {
  CHECK(is_sane(place(kMegabyte)));
  TreeAdvert far = place(kMegabyte);
  far.distance = kForever;
  CHECK_FALSE(is_sane(far));
  TreeAdvert slow = place(kMegabyte);
  slow.mebibyte_time = kForever;
  CHECK_FALSE(is_sane(slow));
  TreeAdvert label = place(kMegabyte);
  label.label.feasible = label.mebibyte_time + Duration{1};
  CHECK_FALSE(is_sane(label));
  label.connected = false;
  CHECK(is_sane(label));  // it is not relied on then
}

}  // namespace
}  // namespace phx::overlay::tree_rules_test
