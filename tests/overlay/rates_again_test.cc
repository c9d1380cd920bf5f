#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/support/survey_net.h"

namespace phx::overlay::rates_again_test {
namespace {

using support::first;
using support::is_about;
using support::is_near;
using support::p;
using support::round_robin;
using Net = support::SurveyNet;

constexpr std::uint64_t kGigabit = Net::kGigabit;

/// Ten processors in one site, and these many in another one.
std::vector<std::uint32_t> ten_and(std::uint32_t others) {
  std::vector<std::uint32_t> sites(10, 0);
  sites.resize(10 + others, 1);
  return sites;
}

}  // namespace

TEST_SUITE_BEGIN("overlay/rates_again");

TEST_CASE("a site whose members are all slow is measured once, and its ways are known") {
  Net net(ten_and(3));
  for (std::uint32_t id = 11; id <= 13; ++id) net.slow[p(id)] = kGigabit / 10;
  net.members(first(13));
  net.run_for(6s);
  const KnownNetwork network = net.common();
  CHECK(network.odd.size() == 3);
  CHECK(is_near(network.way(p(1), p(11)).bytes_per_second, kGigabit / 10));
  CHECK(is_near(network.way(p(11), p(1)).bytes_per_second, kGigabit / 10));
  const std::uint64_t loads = net.loads;
  net.run_for(60s);
  CHECK(net.loads - loads <= 12 * 2 * 2 * 8);  // Patrols.
  net.narrow[{0, 1}] = kGigabit / 100;
  net.run_for(11s);
  CHECK(is_near(net.common().way(p(1), p(11)).bytes_per_second, kGigabit / 100));
}

TEST_CASE("of a site of two one is slow: its ways are known as wide as the other one's") {
  for (const std::uint32_t slow : {11U, 12U}) {
    CAPTURE(slow);
    Net net(ten_and(2));
    net.slow[p(slow)] = kGigabit / 10;
    net.members(first(12));
    net.run_for(6s);
    CHECK(net.common().between.size() == 2);
    const std::uint64_t loads = net.loads;
    net.run_for(60s);
    CHECK(net.loads - loads <= 12 * 2 * 2 * 8 + 6 * 40);  // Patrols, and what they had doubts of.
    const KnownNetwork network = net.common();
    CHECK(network.odd.size() == 1);
    CHECK(network.odd.contains(p(slow)));
    CHECK(is_about(network.way(p(1), p(11)).bytes_per_second, kGigabit));
    CHECK(is_about(network.way(p(11), p(1)).bytes_per_second, kGigabit));
  }
}

TEST_CASE("a way that cannot be measured is asked for again, more and more seldom") {
  std::vector<std::uint32_t> sites = round_robin(18, 2);
  sites.resize(21, 2);
  Net net(sites);
  net.members(first(18));
  net.run_for(3s);
  for (const ProcessorId id : first(21).ids()) {
    net.stream[id] = static_cast<std::uint64_t>(0.9 * kGigabit);
  }
  net.members(first(21));
  net.run_for(20s);
  REQUIRE(!net.common().way(p(1), p(19)).bytes_per_second);
  const auto loads_in = [&net](Duration time) {
    const std::uint64_t before = net.loads;
    net.run_for(time);
    return net.loads - before;
  };
  loads_in(60s);
  const std::uint64_t later = loads_in(160s);
  CHECK(later < 1800);  // Asked with each patrol: 2128. The rest are glances.
  net.stream.clear();
  net.run_for(85s);
  for (const std::uint32_t other : {1U, 2U}) {
    CHECK(is_about(net.common().way(p(other), p(19)).bytes_per_second, kGigabit));
    CHECK(is_about(net.common().way(p(19), p(other)).bytes_per_second, kGigabit));
  }
}

TEST_CASE("a way that becomes a thousand times slower is known after two patrols, however long") {
  for (const Duration far : {3ms, 30ms, 75ms}) {
    CAPTURE(to_ms(far));
    Net net(round_robin(12, 3));
    net.far = far;
    net.members(first(12));
    net.run_for(8s);
    REQUIRE(is_near(net.common().way(p(1), p(2)).bytes_per_second, kGigabit));
    net.narrow[{0, 1}] = kGigabit / 1000;
    net.run_for(16s);
    CHECK(is_near(net.common().way(p(1), p(2)).bytes_per_second, kGigabit / 1000));
    CHECK(is_near(net.common().way(p(2), p(1)).bytes_per_second, kGigabit));
    CHECK(net.common().odd.empty());
  }
}

TEST_CASE("an interface that becomes a thousand times slower is known when its turn has come") {
  Net net(round_robin(12, 3));
  net.members(first(12));
  net.run_for(3s);
  net.slow[p(8)] = kGigabit / 1000;
  net.run_for(60s);
  const KnownNetwork network = net.common();
  CHECK(network.odd.size() == 1);
  CHECK(is_near(network.ability(p(8)).in_bytes_per_second, kGigabit / 1000));
  CHECK(is_near(network.way(p(1), p(2)).bytes_per_second, kGigabit));
  CHECK(is_near(network.way(p(2), p(1)).bytes_per_second, kGigabit));
}

TEST_CASE("of a download that is not over in time what came is a bound, and silence is none") {
  const auto rates_after = [](std::uint64_t came) {
    RateGauge gauge({});
    RateGauge::Outbox out;
    Instant now;
    gauge.on_members(now, first(2), out);
    gauge.on_task(now, {{p(2), std::uint64_t{512} << 10U, 10ms}}, out);
    const auto asked = std::get<RateGauge::Outbox::Send>(out.take().at(1));
    const std::uint64_t number = std::get<Fetch>(asked.message).number;
    for (std::uint64_t i = 0; i < came; ++i) {
      now += 1ms;
      gauge.on_load(now, p(2), Load{number, Payload{Bytes(std::size_t{64} << 10U)}, 0}, out);
    }
    now = Instant{} + RateGaugeOptions{}.patience;
    gauge.on_timer(now, RateGauge::Timer::kPatience, out);
    for (auto& item : out.take()) {
      if (const auto* done = std::get_if<RateGauge::Done>(&item)) return done->rates;
    }
    return std::vector<SurveyReport::Rate>{};
  };
  CHECK(rates_after(0).empty());
  const auto some = rates_after(3);
  REQUIRE(some.size() == 1);
  CHECK(some[0].at_least == (3U << 16U) / 2);
  CHECK(some[0].at_most > (4U << 16U) / 2);  // Of one more part most may have come.
  CHECK(some[0].at_most < (5U << 16U) / 2);
}

TEST_CASE("with whom somebody was slow counts while anything is doubted, and of those who live") {
  Net net(round_robin(12, 1));
  net.members(first(12));
  net.run_for(3s);
  const KnownNetwork network = net.common();
  REQUIRE(network.odd.empty());
  const std::uint64_t slow = kGigabit / 10;
  const auto odd_after = [&](const auto& meanwhile) {
    RateFinder finder;
    finder.begin(network);
    finder.on_glance({p(4), p(3)}, {1000, 1000, 0, 0}, network);
    finder.on_witness({p(4), p(3)});
    finder.on_witness({p(5), p(4)});
    meanwhile(finder);
    finder.on_measured({p(4), p(3)}, {slow, slow, slow, slow}, network);
    KnownNetwork result = network;
    finder.fill(result, network);
    return result.odd.size();
  };
  CHECK(odd_after([](RateFinder&) {}) == 1);
  CHECK(odd_after([&](RateFinder& finder) {
          finder.on_measured({p(4), p(3)}, {kGigabit, kGigabit, 0, 0}, network);
          REQUIRE(finder.doubts() == 0);
          finder.on_glance({p(4), p(3)}, {1000, 1000, 0, 0}, network);
        }) == 2);
  CHECK(odd_after([&](RateFinder& finder) {
          finder.keep_only(first(12).minus(ProcessorSet{p(5)}));
        }) == 2);
}

TEST_SUITE_END();

}  // namespace phx::overlay::rates_again_test
