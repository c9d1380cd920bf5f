#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "tests/support/seeds.h"
#include "tests/support/survey_net.h"

namespace phx::overlay::rates_test {
namespace {

using support::first;
using support::is_about;
using support::is_near;
using support::p;
using support::round_robin;
using Net = support::SurveyNet;

constexpr std::uint64_t kGigabit = Net::kGigabit;

}  // namespace

TEST_SUITE_BEGIN("overlay/rates");

TEST_CASE("bandwidths of interfaces and of all ways are known three seconds after the start") {
  for (const std::uint32_t sites : {1U, 3U, 16U}) {
    CAPTURE(sites);
    Net net(round_robin(48, sites));
    if (sites > 1) net.narrow[{0, 1}] = 2'500'000;
    net.members(first(48));
    net.run_for(3s);
    const KnownNetwork network = net.common();
    CHECK(is_about(network.usual.out_bytes_per_second, kGigabit));
    CHECK(is_about(network.usual.in_bytes_per_second, kGigabit));
    CHECK(network.odd.empty());
    CHECK(network.between.size() == sites * (sites - 1));
    for (const auto& [ends, way] : network.between) {
      const bool is_narrow = net.site(network.sites[ends.first].processors.front()) == 0 &&
                             net.site(network.sites[ends.second].processors.front()) == 1;
      CHECK(is_near(way.bytes_per_second, is_narrow ? 2'500'000 : kGigabit));
    }
    // Three requests in eight parts each by everybody; over each way three of 64 KiB to 1 MiB.
    CHECK(net.loads <= 48 * 24 + sites * (sites - 1) * 32);
  }
}

TEST_CASE("with as many sites as there may be, all ways are known, eight by each in a run" *
          phx::support::long_search()) {
  constexpr std::uint32_t kSites = 64;
  Net net(round_robin(kSites, kSites));
  net.members(first(kSites));
  net.run_for(10s);
  const KnownNetwork network = net.common();
  REQUIRE(network.sites.size() == kSites);
  CHECK(network.between.size() == kSites * (kSites - 1));
  for (const auto& [ends, way] : network.between) {
    CHECK(is_near(way.bytes_per_second, kGigabit));
  }
  CHECK(net.loads <= kSites * (kSites - 1) * 32 + 2 * kSites * 4 * 8);
}

TEST_CASE("a slow interface is told from the fast ones that were measured with it") {
  Net net(round_robin(20, 2));
  net.slow[p(7)] = kGigabit / 10;
  net.slow[p(12)] = kGigabit / 10;
  net.members(first(20));
  net.run_for(5s);
  const KnownNetwork network = net.common();
  CHECK(network.odd.size() == 2);
  for (const ProcessorId slow : {p(7), p(12)}) {
    CHECK(is_about(network.ability(slow).out_bytes_per_second, kGigabit / 10));
    CHECK(is_about(network.ability(slow).in_bytes_per_second, kGigabit / 10));
  }
  CHECK(is_about(network.usual.out_bytes_per_second, kGigabit));
}

TEST_CASE("a newcomer is measured, and nobody is told of it if it is as the others are") {
  Net net(round_robin(20, 2));
  net.slow[p(20)] = kGigabit / 5;
  net.members(first(18));
  net.run_for(3s);
  const std::uint64_t loads = net.loads;
  const std::uint64_t tasks = net.tasks;
  net.members(first(19));
  net.run_for(2s);
  CHECK(net.loads - loads <= 2 * 24);
  CHECK(net.tasks - tasks <= 1 + 2);
  CHECK(net.common().odd.empty());
  net.members(first(20));
  net.run_for(4s);
  CHECK(net.common().odd.contains(p(20)));
}

TEST_CASE("whoever comes to a stream that fills all interfaces is measured by 64 KiB each way") {
  for (const double part : {0.0, 0.2, 0.9}) {
    CAPTURE(part);
    Net net(round_robin(19, 2));
    net.members(first(18));
    net.run_for(3s);
    for (const ProcessorId id : first(19).ids()) {
      net.stream[id] = static_cast<std::uint64_t>(part * kGigabit);
    }
    const std::uint64_t loaded = net.loaded;
    net.members(first(19));
    net.run_for(2s);
    const std::uint64_t kib = (net.loaded - loaded) >> 10U;
    CHECK(kib >= 2 * 64);
    CHECK((part > 0.5 ? kib <= 2 * 64 : kib >= 2 * 192));
    CHECK(net.common().odd.empty());
  }
}

TEST_CASE("a way that becomes ten times slower, or faster, is known after two patrols") {
  Net net(round_robin(12, 3));
  net.members(first(12));
  net.run_for(3s);
  REQUIRE(is_about(net.common().way(p(1), p(2)).bytes_per_second, kGigabit));
  net.narrow[{0, 1}] = kGigabit / 10;
  net.run_for(11s);
  CHECK(is_about(net.common().way(p(1), p(2)).bytes_per_second, kGigabit / 10));
  CHECK(is_about(net.common().way(p(2), p(1)).bytes_per_second, kGigabit));
  net.narrow.clear();
  net.run_for(11s);
  CHECK(is_about(net.common().way(p(1), p(2)).bytes_per_second, kGigabit));
}

// As between continents: the window of a connection is the narrow place, not the way.
TEST_CASE("a long way is not taken for a narrow one because TCP begins slowly on it") {
  for (const Duration far : {3ms, 18ms, 70ms}) {
    CAPTURE(to_ms(far));
    Net net(round_robin(24, 6));
    net.far = far;
    net.narrow[{0, 1}] = kGigabit / 50;
    net.members(first(24));
    net.run_for(8s);
    for (int round = 0; round < 2; ++round) {
      const KnownNetwork network = net.common();
      CHECK(is_about(network.usual.out_bytes_per_second, kGigabit));
      CHECK(network.odd.empty());
      CHECK(network.between.size() == 6 * 5);
      for (const auto& [ends, way] : network.between) {
        const bool is_narrow = net.site(network.sites[ends.first].processors.front()) == 0 &&
                               net.site(network.sites[ends.second].processors.front()) == 1;
        CHECK(is_near(way.bytes_per_second, is_narrow ? kGigabit / 50 : kGigabit));
      }
      const std::uint64_t before = net.loaded;
      net.run_for(60s);
      // Per patrol, into each site: 128 KiB from its own, at most 640 from others.
      CHECK(net.loaded - before <= 12 * 6 * (std::uint64_t{768} << 10U));
    }
  }
}

// What half a megabyte takes on it is less than two round trips, so that it might be TCP's window;
// two megabytes take longer.
TEST_CASE("a long way is known that holds much and still is narrower than the interfaces") {
  struct Case {
    Duration far;
    std::uint64_t part;
  };
  for (const Case& one :
       {Case{10ms, 6}, Case{10ms, 16}, Case{36ms, 16}, Case{36ms, 40}, Case{70ms, 40}}) {
    const Duration far = one.far;
    const std::uint64_t part = one.part;
    CAPTURE(to_ms(far));
    CAPTURE(part);
    Net net(round_robin(12, 3));
    net.far = far;
    net.narrow[{0, 1}] = kGigabit / part;
    net.members(first(12));
    net.run_for(8s);
    const KnownNetwork network = net.common();
    CHECK(is_near(network.way(p(1), p(2)).bytes_per_second, kGigabit / part));
    CHECK(is_near(network.way(p(2), p(1)).bytes_per_second, kGigabit));
    CHECK(is_near(network.way(p(3), p(2)).bytes_per_second, kGigabit));
    // Over each way 64 KiB, 256 KiB, 1 and 2 MiB, and over the narrow one 4 MiB.
    CHECK(net.loads <= 12 * 24 + 3 * 2 * 64 + 64);
  }
}

TEST_CASE("others' traffic that takes two thirds of a way is not taken for a narrow way") {
  Net net(round_robin(12, 3));
  net.members(first(12));
  net.run_for(3s);
  const NetworkVersion before = net.surveys.at(p(1)).version();
  net.narrow[{0, 1}] = kGigabit / 3;
  net.run_for(30s);
  CHECK(net.surveys.at(p(1)).version() == before);
}

TEST_CASE("whoever leads next keeps what is known, also when a slow newcomer comes first") {
  Net net(round_robin(13, 2));
  net.slow[p(13)] = kGigabit / 10;
  net.members(first(12));
  net.run_for(3s);
  net.members(ProcessorSet::range(p(2), p(13)));
  net.run_for(5s);
  const KnownNetwork network = net.common();
  CHECK(is_about(network.usual.out_bytes_per_second, kGigabit));
  CHECK(is_about(network.way(p(3), p(2)).bytes_per_second, kGigabit));
  CHECK(network.odd.size() == 1);
}

TEST_CASE("whoever does not send what it is asked for holds nobody up for long") {
  Net net(round_robin(9, 3));
  net.members(first(9));
  net.run_for(1s);
  net.mute.insert(p(5));
  net.run_for(15s);
  const KnownNetwork network = net.surveys.at(p(1)).network();
  CHECK(is_about(network.usual.out_bytes_per_second, kGigabit));
  CHECK(is_about(network.way(p(1), p(3)).bytes_per_second, kGigabit));
  const std::uint64_t sent = net.sent;
  net.run_for(60s);
  CHECK(net.sent - sent <= 12 * (3 * 2 + 3 * 4 + 3 * 3 * 9));
}

TEST_CASE("nobody sends without end because somebody asks without end") {
  Net net(round_robin(2, 1));
  net.members(first(2));
  net.run_for(3s);
  Survey::Outbox out;
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    net.surveys.at(p(2)).on_message(net.now, p(1), Fetch{i, ~0ULL}, out);
    for (auto& item : out.take()) {
      auto* send = std::get_if<Survey::Outbox::Send>(&item);
      REQUIRE(send != nullptr);
      bytes += std::get<Load>(send->message).bytes.size();
    }
  }
  CHECK(bytes > 0);
  CHECK(bytes <= RateGaugeOptions{}.served_max);
}

TEST_CASE("whoever finds a link slow has it measured at once, and the slow end is found") {
  for (const std::uint32_t sites : {1U, 3U}) {
    CAPTURE(sites);
    Net net(round_robin(24, sites));
    net.members(first(24));
    net.run_for(3s);
    REQUIRE(net.common().odd.empty());
    net.slow[p(8)] = kGigabit / 10;
    const std::uint64_t tasks = net.tasks;
    Survey::Outbox out;
    net.surveys.at(p(4)).on_paced(net.now, p(8), {kGigabit / 10, kGigabit / 5}, out);
    net.surveys.at(p(4)).on_paced(net.now, p(8), {kGigabit / 10, kGigabit / 5}, out);
    net.take(p(4), out);
    net.run_for(1500ms);
    const KnownNetwork network = net.common();
    CHECK(network.odd.size() == 1);
    CHECK(is_about(network.ability(p(8)).in_bytes_per_second, kGigabit / 10));
    for (const auto& [ends, way] : network.between) CHECK(is_near(way.bytes_per_second, kGigabit));
    CHECK(net.tasks - tasks <= 20);
  }
}

TEST_CASE("whoever is slow with several is to blame, and not those who say so") {
  Net net(round_robin(12, 1));
  net.members(first(12));
  net.run_for(3s);
  const KnownNetwork network = net.common();
  REQUIRE(network.odd.empty());
  const auto odd_after = [&](bool is_witnessed) {
    RateFinder finder;
    finder.begin(network);
    finder.on_glance({p(4), p(3)}, {1000, 1000, 0, 0}, network);
    finder.on_witness({p(4), p(3)});
    if (is_witnessed) finder.on_witness({p(5), p(4)});
    const std::uint64_t slow = kGigabit / 10;
    finder.on_measured({p(4), p(3)}, {slow, slow, slow, slow}, network);
    KnownNetwork result = network;
    finder.fill(result, network);
    std::set<ProcessorId> odd;
    for (const auto& [one, ability] : result.odd) odd.insert(one);
    return odd;
  };
  CHECK(odd_after(true) == std::set<ProcessorId>{p(4)});
  CHECK(odd_after(false) == std::set<ProcessorId>{p(3), p(4)});
}

TEST_CASE("whoever was blamed wrongly is cleared, also by what is measured beside other traffic") {
  Net net(round_robin(12, 1));
  net.members(first(12));
  net.run_for(3s);
  const KnownNetwork network = net.common();
  RateFinder finder;
  finder.begin(network);
  finder.on_glance({p(4), p(3)}, {1000, 1000, 0, 0}, network);
  const std::uint64_t slow = kGigabit / 10;
  finder.on_measured({p(4), p(3)}, {slow, slow, slow, slow}, network);
  KnownNetwork blamed = network;
  finder.fill(blamed, network);
  REQUIRE(blamed.odd.size() == 2);

  // p3 sends to p5, whose interface a stream fills; p4 is found slow, and so is p3 by nobody.
  const std::uint64_t part = kGigabit / 3;
  finder.on_measured({p(5), p(3)}, {part, part, kGigabit, 0}, blamed);
  finder.on_measured({p(3), p(5)}, {part, part, kGigabit, 0}, blamed);
  finder.on_measured({p(4), p(5)}, {slow, slow, slow, 0}, blamed);
  KnownNetwork result = network;
  finder.fill(result, blamed);
  CHECK(result.odd.size() == 1);
  CHECK(is_about(result.ability(p(4)).in_bytes_per_second, slow));
}

TEST_CASE("where bytes have waited at their receiver, the time of all of them counts") {
  const auto rate_of = [](Duration per_byte) {
    RateGauge gauge({});
    RateGauge::Outbox out;
    Instant now;
    gauge.on_members(now, first(2), out);
    gauge.on_interface(kGigabit);  // nothing else fills it
    gauge.on_task(now, {{p(2), 0, {}}}, out);
    std::uint64_t asked = 0;
    std::uint64_t taken = 0;
    while (true) {
      for (auto& item : out.take()) {
        if (const auto* done = std::get_if<RateGauge::Done>(&item))
          return done->rates.at(0).at_most;
        const auto* send = std::get_if<RateGauge::Outbox::Send>(&item);
        if (send == nullptr) continue;
        const Fetch fetch = std::get<Fetch>(send->message);
        asked += fetch.bytes;
        REQUIRE(asked <= (4U << 20U));
        const Payload half{Bytes(static_cast<std::size_t>(fetch.bytes / 2))};
        const Duration second_half = per_byte * static_cast<Duration::rep>(half.size());
        for (const Duration pause : {Duration{5ms}, second_half}) {
          now += pause;
          gauge.on_traffic({taken += half.size(), 0});
          gauge.on_load(now, p(2), Load{fetch.number, half, 0}, out);
        }
      }
    }
  };
  CHECK(rate_of(100ns) == 10'000'000);
  CHECK(rate_of(1ns) < 200'000'000);
  CHECK(rate_of(1ns) > 90'000'000);  // of 1 MiB: those 5 ms count for less
}

TEST_CASE("of a long way no round trip is taken off that it cannot have waited") {
  // Parts of 64 KiB at 5 MB/s, and before one of them a pause of its own.
  const auto rates_with = [](Duration pause, Duration round_trip = 8ms) {
    RateGauge gauge({});
    RateGauge::Outbox out;
    Instant now;
    gauge.on_members(now, first(2), out);
    gauge.on_task(now, {{p(2), std::uint64_t{1} << 20U, round_trip}}, out);
    const auto asked = std::get<RateGauge::Outbox::Send>(out.take().at(1));
    const std::uint64_t number = std::get<Fetch>(asked.message).number;
    const Payload part{Bytes(std::size_t{64} << 10U)};
    for (int i = 1; i <= 16; ++i) {
      now += Duration{200} * static_cast<Duration::rep>(part.size()) + (i == 12 ? pause : 0ms);
      gauge.on_load(now, p(2), Load{number, part, 0}, out);
    }
    for (auto& item : out.take()) {
      if (const auto* done = std::get_if<RateGauge::Done>(&item)) return done->rates.at(0);
    }
    return SurveyReport::Rate{};
  };
  const SurveyReport::Rate even = rates_with(0ms);
  CHECK(even.at_least == 5'000'000);
  CHECK(even.at_most == 5'000'000);
  const SurveyReport::Rate waited = rates_with(8ms);
  CHECK(waited.at_least < 4'700'000);
  CHECK(waited.at_most == 5'000'000);
  // What takes less than two round trips may be as fast as it likes.
  CHECK(rates_with(0ms, 60ms).at_most > 11'000'000);
  CHECK(rates_with(0ms, 60ms).at_least == 5'000'000);
  // More than a round trip is not the window's.
  CHECK(rates_with(30ms).at_most < 4'200'000);
}

TEST_CASE("what comes slowly, bit by bit, is known at once, and not what comes after a pause") {
  // Each part of the second half comes after a pause; the gauge asks until it knows.
  const auto asked_for = [](std::initializer_list<Duration> pauses) {
    RateGauge gauge({});
    RateGauge::Outbox out;
    Instant now;
    gauge.on_members(now, first(2), out);
    gauge.on_task(now, {{p(2), 0, {}}}, out);
    std::vector<std::uint64_t> asked;
    const auto part = [](const Fetch& fetch, std::uint64_t of) {
      return Load{fetch.number, Payload{Bytes(static_cast<std::size_t>(fetch.bytes / of))}, 0};
    };
    while (true) {
      for (auto& item : out.take()) {
        if (std::holds_alternative<RateGauge::Done>(item)) return asked;
        const auto* send = std::get_if<RateGauge::Outbox::Send>(&item);
        if (send == nullptr) continue;
        const Fetch fetch = std::get<Fetch>(send->message);
        asked.push_back(fetch.bytes >> 10U);
        REQUIRE(asked.size() <= 10);
        now += 5ms;
        gauge.on_load(now, p(2), part(fetch, 2), out);
        for (const Duration pause : pauses) {
          now += pause;
          gauge.on_load(now, p(2), part(fetch, 8), out);
        }
      }
    }
  };
  CHECK(asked_for({30ms, 30ms, 30ms, 30ms}) == std::vector<std::uint64_t>{64});
  CHECK(asked_for({60ms, 0ms, 0ms, 0ms}).size() > 1);
}

TEST_CASE(
    "after a complaint only what is slow counts, and tells who is to blame of which two say so") {
  Net net(round_robin(12, 2));
  net.members(first(12));
  net.run_for(3s);
  const KnownNetwork network = net.common();
  const std::uint64_t slow = kGigabit / 10;
  struct Result {
    bool is_as_before;
    bool has_culprit;
  };
  const auto measure = [&](const RateFinder::Rate& rate, std::initializer_list<std::uint32_t> say) {
    RateFinder finder;
    finder.begin(network);
    for (const std::uint32_t witness : say) finder.on_witness({p(witness), p(4)});
    finder.on_complaint({p(1), p(4)}, network);
    const auto all = finder.wanted(network);
    REQUIRE_FALSE(all.empty());
    bool has_culprit = false;
    for (const RateFinder::Download& one : all) {
      has_culprit = finder.on_measured(one, rate, network) || has_culprit;
    }
    KnownNetwork result = network;
    finder.fill(result, network);
    return Result{result == network, has_culprit};
  };
  CHECK(measure({10 * kGigabit, 10 * kGigabit, 0, 0}, {}).is_as_before);
  CHECK(measure({kGigabit, kGigabit, 0, 0}, {1, 2}).is_as_before);
  CHECK_FALSE(measure({kGigabit, kGigabit, 0, 0}, {1, 2}).has_culprit);
  CHECK_FALSE(measure({slow, slow, slow, slow}, {}).is_as_before);
  CHECK_FALSE(measure({slow, slow, slow, slow}, {}).has_culprit);
  CHECK(measure({slow, slow, slow, slow}, {1, 2}).has_culprit);
}

// The link that is complained of is full of what the complaint is about.
TEST_CASE("after a complaint of a way others of both sites measure it, beside its ends") {
  Net net(round_robin(12, 2));
  net.members(first(12));
  net.run_for(3s);
  const KnownNetwork network = net.common();
  RateFinder finder;
  finder.begin(network);
  finder.on_complaint({p(1), p(4)}, network);
  CHECK(finder.wanted(network) ==
        std::vector<RateFinder::Download>{{p(1), p(3)}, {p(6), p(4)}, {p(7), p(10)}});
}

TEST_CASE("complaints that go on are measured more and more seldom") {
  Complaints complaints({});
  std::vector<std::int64_t> taken;
  for (std::int64_t second = 0; second < 700; ++second) {
    if (complaints.take(Instant{} + second * 1s, p(1), p(3))) taken.push_back(second);
  }
  CHECK(taken == std::vector<std::int64_t>{0, 10, 30, 70, 150, 310, 470, 630});
  CHECK(complaints.take(Instant{} + 700s, p(1), p(4)));
  CHECK(complaints.take(Instant{} + 2000s, p(2), p(3)));
  CHECK(complaints.take(Instant{} + 2010s, p(2), p(3)));  // That was something new.
}

TEST_CASE("a doubt that cannot be measured is none, or it would stand for good") {
  Net net(round_robin(3, 3));
  net.members(first(3));
  net.run_for(5s);
  const KnownNetwork network = net.common();
  REQUIRE(network.sites.size() == 3);
  RateFinder finder;
  finder.begin(network);
  const RateFinder::Download way{p(1), p(2)};
  finder.on_complaint(way, network);
  CHECK(finder.doubts() == 1);
  CHECK(finder.wanted(network) == std::vector<RateFinder::Download>{way});
}

TEST_CASE("nobody complains where the own interface is full, or processors are the narrow place") {
  for (const bool is_fast : {false, true}) {
    Net net(round_robin(12, 1));
    for (const ProcessorId id : first(12).ids()) net.slow[id] = (is_fast ? 8 : 1) * kGigabit;
    net.members(first(12));
    net.run_for(3s);
    const std::uint64_t sent = net.sent;
    Survey::Outbox out;
    const std::uint64_t all = is_fast ? kGigabit / 10 : kGigabit;
    net.surveys.at(p(4)).on_paced(net.now, p(8), {kGigabit / 10, all}, out);
    net.surveys.at(p(4)).on_paced(net.now, p(8), {2 * kGigabit, 2 * kGigabit}, out);
    net.take(p(4), out);
    CHECK(net.sent == sent);
  }
}

TEST_CASE("what is measured beside other traffic that fills an end changes nothing") {
  Net net(round_robin(12, 2));
  net.members(first(12));
  net.run_for(3s);
  const KnownNetwork network = net.common();
  const RateFinder::Download near{p(3), p(5)};
  const RateFinder::Download far{p(3), p(4)};
  const auto after = [&](const RateFinder::Download& download, const RateFinder::Rate& rate) {
    RateFinder finder;
    finder.begin(network);
    finder.on_glance(download, {1000, 1000, 0, 0}, network);
    REQUIRE(finder.doubts() == 1);
    finder.on_measured(download, rate, network);
    KnownNetwork result = network;
    result.odd.clear();
    finder.fill(result, network);
    return result;
  };
  constexpr std::uint64_t kSlow = kGigabit / 6;
  for (const RateFinder::Download& one : {near, far}) {
    CHECK(after(one, {kSlow, kSlow, kSlow, kSlow}) != network);
    CHECK(after(one, {kSlow, kSlow, kGigabit, 0}) == network);
    CHECK(after(one, {kSlow, kSlow, kSlow, kGigabit}) == network);
    // A sender that is busy with few others would have had more for it.
    CHECK(after(one, {kSlow / 4, kSlow / 4, kSlow / 4, kGigabit}) != network);
  }
}

TEST_SUITE_END();

}  // namespace phx::overlay::rates_test
