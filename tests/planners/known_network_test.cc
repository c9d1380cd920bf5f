#include <doctest/doctest.h>

#include "overlay/network/known_network.h"
#include "tests/planners/networks.h"

namespace known_network_test {

using namespace phx;
using overlay::coarse_rate;
using overlay::kFastestMeasured;
using overlay::kGigabit;
using overlay::KnownNetwork;
using overlay::kUnlimited;

namespace {

constexpr ProcessorId kOne{1};
constexpr ProcessorId kTwo{2};
constexpr ProcessorId kThree{3};
constexpr ProcessorId kStranger{9};

KnownNetwork two_sites() {
  return support::known({.sites = {2, 1}});
}

}  // namespace

TEST_SUITE_BEGIN("planners/known_network");

TEST_CASE("what was not measured is empty, and nobody fills it") {
  KnownNetwork network = two_sites();
  network.between.erase({1, 0});
  network.sites[0].latency.reset();
  network.usual = {};

  CHECK(network.way(kThree, kOne) == KnownNetwork::Way{});
  CHECK(network.way(kOne, kTwo) == KnownNetwork::Way{std::nullopt, kUnlimited});
  CHECK(network.way(kOne, kThree) == KnownNetwork::Way{3ms, 125'000'000});
  CHECK(network.way(kOne, kStranger) == KnownNetwork::Way{});
  CHECK(network.ability(kOne) == KnownNetwork::Ability{});
}

TEST_CASE("what a pair has measured wins over its sites, field by field") {
  KnownNetwork network = two_sites();
  network.pairs[{kOne, kThree}] = {7ms, std::nullopt};
  network.odd[kTwo] = {std::nullopt, 1'000'000, std::nullopt};

  CHECK(network.way(kOne, kThree) == KnownNetwork::Way{7ms, 125'000'000});
  CHECK(network.way(kTwo, kThree) == KnownNetwork::Way{3ms, 125'000'000});
  CHECK(network.ability(kTwo) == KnownNetwork::Ability{5us, 1'000'000, 125'000'000});
}

TEST_CASE("everybody of whom something is known is one of its processors") {
  KnownNetwork network = two_sites();
  network.odd[kStranger] = {1us, std::nullopt, std::nullopt};

  CHECK(network.processors() == ProcessorSet{kOne, kTwo, kThree, kStranger});
  CHECK(network.site_of(kThree) == std::size_t{1});
  CHECK_FALSE(network.site_of(kStranger).has_value());
}

TEST_CASE("an impossible network is refused, and it is said why") {
  KnownNetwork twice = two_sites();
  twice.sites[1].processors.insert(kOne);
  KnownNetwork nowhere = two_sites();
  nowhere.between[{0, 5}] = {};
  KnownNetwork backwards = two_sites();
  backwards.between[{0, 1}].latency = -1ms;
  KnownNetwork closed = two_sites();
  closed.usual.in_bytes_per_second = 0;
  KnownNetwork narrow = two_sites();
  narrow.pairs[{kOne, kTwo}].bytes_per_second = 0;

  CHECK(two_sites().check().ok());
  CHECK(twice.check().error().what == "p1 is in two sites");
  for (const KnownNetwork& network : {nowhere, backwards, closed, narrow}) {
    CHECK_FALSE(network.check().ok());
  }
}

TEST_CASE("rates go by steps of two, from 0.7 to 1.4 times each, and what is unlimited stays so") {
  CHECK(coarse_rate(kGigabit) == kGigabit);
  CHECK(coarse_rate(kGigabit / 10 * 7) == kGigabit);
  CHECK(coarse_rate(kGigabit / 10 * 7 - 1) == kGigabit / 2);
  CHECK(coarse_rate(kGigabit / 10 * 14 - 1) == kGigabit);
  CHECK(coarse_rate(kGigabit / 10 * 14) == 2 * kGigabit);
  CHECK(coarse_rate(0) == 1);
  CHECK(coarse_rate(kFastestMeasured) <= 2 * kFastestMeasured);
  CHECK(coarse_rate(kFastestMeasured + 1) == kFastestMeasured + 1);
  CHECK(coarse_rate(kUnlimited) == kUnlimited);
}

TEST_CASE("restricted to some, it says the same of them, and nothing of the others") {
  KnownNetwork network = support::three_sites(2);  // p1 p2, p3 p4, p5 p6
  network.odd[ProcessorId{2}].overhead = 1ms;
  network.odd[ProcessorId{5}].overhead = 2ms;
  network.pairs[{ProcessorId{1}, ProcessorId{5}}].latency = 7ms;
  network.pairs[{ProcessorId{5}, ProcessorId{6}}].latency = 8ms;
  const ProcessorSet live{ProcessorId{1}, ProcessorId{5}, ProcessorId{6}, ProcessorId{9}};

  const KnownNetwork some = network.restricted_to(live);

  CHECK(some.check().ok());
  CHECK(some.processors() == ProcessorSet{ProcessorId{1}, ProcessorId{5}, ProcessorId{6}});
  CHECK(some.sites.size() == 2);
  for (const ProcessorId from : some.processors().ids()) {
    CHECK(some.ability(from) == network.ability(from));
    for (const ProcessorId to : some.processors().ids()) {
      if (from != to) CHECK(some.way(from, to) == network.way(from, to));
    }
  }
  CHECK(some.odd.size() == 1);
  CHECK(network.restricted_to(network.processors()) == network);
}

TEST_SUITE_END();

}  // namespace known_network_test
