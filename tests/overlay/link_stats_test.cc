#include "overlay/link_stats.h"

#include <doctest/doctest.h>

namespace phx::overlay::link_stats_test {
namespace {

const ProcessorId kPeer{2};
const ProcessorId kOther{3};

TEST_CASE("a round trip is the minimum of at least three samples [Saito08 G18]") {
  LinkStats links;
  links.add(kPeer, 30ms);
  links.add(kPeer, 20ms);
  CHECK_FALSE(links.round_trip(kPeer));
  CHECK(links.estimate(kPeer) == 20ms);

  links.add(kPeer, 25ms);

  CHECK(links.round_trip(kPeer) == 20ms);
}

TEST_CASE("a minimum leaves with its sample") {
  LinkStats links;
  links.add(kPeer, 1ms);
  for (std::size_t i = 1; i < LinkStats::kKept; ++i) links.add(kPeer, 5ms);
  CHECK(links.round_trip(kPeer) == 1ms);

  links.add(kPeer, 5ms);

  CHECK(links.round_trip(kPeer) == 5ms);
  CHECK(links.samples(kPeer) == LinkStats::kKept);
}

TEST_CASE("a round trip is never zero, whatever the clock says") {
  LinkStats links;
  for (int i = 0; i < 3; ++i) links.add(kPeer, Duration{0});
  CHECK(links.round_trip(kPeer) > Duration{0});
}

TEST_CASE("the nearest come first, and only measured ones come") {
  LinkStats links;
  for (int i = 0; i < 3; ++i) {
    links.add(kPeer, 20ms);
    links.add(kOther, 1ms);
    links.add(ProcessorId{4}, 20ms);
  }
  links.add(ProcessorId{5}, 1us);

  CHECK(links.nearest(2) == std::vector<ProcessorId>{kOther, kPeer});
  CHECK(links.is_near(kOther));
  CHECK_FALSE(links.is_near(kPeer));
  CHECK(links.knows_near());
}

TEST_CASE("near is who is half as far as the farthest, or nearer") {
  LinkStats links;
  for (int i = 0; i < 3; ++i) {
    links.add(kPeer, 20ms);
    links.add(kOther, 10ms);
    links.add(ProcessorId{4}, 10ms + 1ns);
  }

  CHECK(links.is_near(kOther));
  CHECK_FALSE(links.is_near(ProcessorId{4}));
}

TEST_CASE("nobody is near while all are equally far") {
  LinkStats links;
  CHECK_FALSE(links.knows_near());
  for (int i = 0; i < 3; ++i) {
    links.add(kPeer, 20ms);
    links.add(kOther, 19ms);
  }
  CHECK_FALSE(links.knows_near());
}

TEST_CASE("those who left are forgotten") {
  LinkStats links;
  links.add(kPeer, 1ms);
  links.add(kOther, 1ms);

  links.keep_only({kOther});

  CHECK(links.size() == 1);
  CHECK(links.samples(kPeer) == 0);
}

}  // namespace
}  // namespace phx::overlay::link_stats_test
