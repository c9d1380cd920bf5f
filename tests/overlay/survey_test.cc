#include "overlay/survey/survey.h"

#include <doctest/doctest.h>

#include "tests/support/survey_net.h"

namespace phx::overlay::survey_test {
namespace {

using support::first;
using support::p;
using support::round_robin;
using Net = support::SurveyNet;

/// 24 processors in three sites, and then so many in a fourth one.
std::vector<std::uint32_t> and_a_fourth(std::uint32_t newcomers) {
  std::vector<std::uint32_t> sites = round_robin(24, 3);
  sites.resize(24 + newcomers, 3);
  return sites;
}

/// These know their network.
void begin_with_24(Net& net) {
  net.members(first(24));
  net.run_for(3s);
}

/// In front of the landmarks of four sites stand long rows, in front of the others one or two
/// pieces.
void make_busy(Net& net) {
  for (std::uint32_t old = 1; old <= 24; ++old) {
    net.queued[p(old)] = old <= 4 ? 40ms : Duration{1200us} * (1 + old / 4 % 2);
  }
}

}  // namespace

TEST_SUITE_BEGIN("overlay/survey");

TEST_CASE("sites are found in less than a second, and all know the same") {
  for (const std::uint32_t sites : {1U, 2U, 3U, 16U, 48U}) {
    CAPTURE(sites);
    Net net(round_robin(96, sites));
    net.members(first(96));
    net.run_for(1s);
    net.check_sites(sites);
    CHECK(net.common().sites[0].latency == 150us);
    // Tasks: two rounds for the first sites, and one more whenever their number doubles.
    CHECK(net.tasks <= 96 * 6);
  }
}

TEST_CASE("a newcomer is placed without anybody else measuring anything") {
  Net net(round_robin(20, 3));
  net.members(first(19));
  net.run_for(1s);
  const std::uint64_t before = net.tasks;
  net.members(first(20));
  net.run_for(1s);
  net.check_sites(3);
  CHECK(net.tasks == before + 1);
}

TEST_CASE("newcomers that are busy when they come are of their sites a second after they are not") {
  Net net(round_robin(20, 3));
  net.members(first(12));
  net.run_for(3s);
  for (std::uint32_t newcomer = 13; newcomer <= 20; ++newcomer) {
    net.queued[p(newcomer)] = Duration{5ms} * static_cast<Duration::rep>(newcomer % 4 + 1);
  }
  net.members(first(20));
  net.run_for(700ms);
  CHECK(net.common().sites.size() > 3);
  net.queued.clear();
  net.run_for(1s);
  net.check_sites(3);
}

TEST_CASE("newcomers are of their sites at once, although all who were there are busy") {
  for (const std::uint32_t newcomers : {1U, 4U, 40U}) {
    CAPTURE(newcomers);
    Net net(round_robin(24 + newcomers, 4));
    begin_with_24(net);
    make_busy(net);
    net.members(first(24 + newcomers));
    net.run_for(800ms);
    net.check_sites(4);
  }
}

TEST_CASE("what it costs to be a new site: a look, of sixteen processors at most") {
  for (const std::uint32_t newcomers : {1U, 8U, 40U}) {
    CAPTURE(newcomers);
    Net net(and_a_fourth(newcomers));
    begin_with_24(net);
    const std::uint64_t tasks = net.tasks;
    const std::uint64_t sent = net.sent;
    net.members(first(24 + newcomers));
    net.run_for(600ms);
    net.check_sites(4);
    const SurveyorOptions options;
    const std::uint64_t lookers = std::min<std::uint64_t>(newcomers, options.look_askers);
    CHECK(net.tasks - tasks == newcomers + lookers);
    // Of a round and of the look: tasks, reports, and pings with their answers.
    const std::uint64_t pings = 2ULL * options.pings * newcomers * (3 + options.candidates);
    const std::uint64_t looks = lookers * (2 + 2ULL * 3 * options.look_witnesses);
    const std::uint64_t overheads = options.overheads * 2 * 16;
    const std::uint64_t told = 2ULL * (24 + newcomers) + newcomers;
    CHECK(net.sent - sent <= 2ULL * newcomers + pings + looks + overheads + told);
  }
}

TEST_CASE("beside rows a new site that is far from all is one of its own, after one look") {
  Net net(and_a_fourth(4));
  begin_with_24(net);
  for (std::uint32_t old = 1; old <= 24; ++old) net.queued[p(old)] = Duration{10ms} * (old % 2 + 1);
  const std::uint64_t tasks = net.tasks;
  net.members(first(28));
  net.run_for(600ms);
  net.check_sites(4);
  CHECK(net.tasks - tasks == 4 + 4);
}

TEST_CASE("whoever comes during a look has one of its own") {
  Net net(round_robin(32, 4));
  begin_with_24(net);
  make_busy(net);
  net.members(first(28));
  const std::uint64_t tasks = net.tasks;
  while (net.tasks < tasks + 5) net.run_for(1ms);  // the first task of the look
  net.members(first(32));
  net.run_for(900ms);
  net.check_sites(4);
}

TEST_CASE("members that do not answer hold a look up for its patience only") {
  Net net(and_a_fourth(4));
  begin_with_24(net);
  for (std::uint32_t old = 4; old <= 24; ++old) net.mute.insert(p(old));  // all but the landmarks
  net.members(first(28));
  net.run_for(500ms);
  CHECK(net.surveys.at(p(1)).network().sites.size() == 3);
  net.run_for(500ms);
  CHECK(net.surveys.at(p(1)).network().sites.size() == 4);
}

TEST_CASE("a newcomer is told at once what is known") {
  Net net(round_robin(20, 3));
  net.members(first(19));
  net.run_for(1s);
  net.members(first(20));
  net.run_for(7ms);
  CHECK(net.surveys.at(p(20)).network().sites.size() == 3);
}

TEST_CASE("whoever leads next goes on, and places those who come then") {
  Net net(round_robin(12, 3));
  net.members(first(9));
  net.run_for(1s);
  net.members(ProcessorSet::range(p(2), p(9)));
  net.run_for(1s);
  net.members(ProcessorSet::range(p(2), p(12)));
  net.run_for(1s);
  net.check_sites(3);
}

TEST_CASE("whoever leads next knows what a message costs, also when a slow newcomer comes first") {
  Net net(round_robin(13, 2));
  for (const ProcessorId id : first(12).ids()) net.handling[id] = 10us;
  net.members(first(12));
  net.run_for(3s);
  REQUIRE(net.common().usual.overhead == 5us);
  net.handling[p(13)] = 500us;
  net.members(ProcessorSet::range(p(2), p(13)));
  net.run_for(5s);
  CHECK(net.common().site_of(p(13)).has_value());
  CHECK(net.common().usual.overhead == 5us);
}

TEST_CASE("the surveyor is lost in the middle of a round") {
  for (const Duration after : {100ms, 105ms, 110ms, 120ms, 150ms}) {
    Net net(round_robin(12, 4));
    net.members(first(12));
    net.run_for(after);
    net.members(ProcessorSet::range(p(2), p(12)));
    net.run_for(2s);
    net.check_sites(4);
  }
}

TEST_CASE("whoever leads next knows less than the others: all know the same again") {
  Net net({0, 1, 0, 0, 0, 0, 0, 0, 0});
  net.members(first(9));
  net.run_for(2s);
  net.uninformed.insert(p(2));
  net.far = 30ms;
  net.run_for(11s);
  net.far = 300ms;
  net.run_for(15s);
  REQUIRE(net.surveys.at(p(2)).version().number + 1 < net.surveys.at(p(3)).version().number);

  net.uninformed.clear();
  net.members(ProcessorSet::range(p(2), p(9)));
  net.run_for(3s);
  net.check_sites(2);
}

TEST_CASE("a landmark that does not answer makes no second site of its own") {
  Net net(round_robin(12, 3));
  net.members(first(9));
  net.run_for(1s);
  net.mute.insert(p(2));  // the landmark of p5, p8 and p11
  net.members(first(12));
  net.run_for(5s);
  CHECK(net.surveys.at(p(1)).network().sites.size() == 3);

  net.mute.clear();
  net.run_for(15s);
  net.check_sites(3);
}

TEST_CASE("somebody joins in the middle of a patrol: one of the two is begun anew") {
  Net net(round_robin(10, 2));
  net.members(first(9));
  net.run_for(3s);
  const std::uint64_t tasks = net.tasks;
  const std::uint64_t version = net.surveys.at(p(1)).version().number;
  while (net.tasks == tasks) REQUIRE(net.step(net.now + 10s));
  net.members(first(10));
  net.run_for(1s);
  net.check_sites(2);
  CHECK(net.tasks == tasks + 3);  // two of the patrol, one for the newcomer
  CHECK(net.surveys.at(p(1)).version().number == version + 1);
}

TEST_CASE("whoever is silent for long costs a task each time, and no news for the others") {
  Net net(round_robin(9, 3));
  net.members(first(9));
  net.run_for(5ms);
  net.mute.insert(p(5));
  net.run_for(12s);
  const NetworkVersion version = net.surveys.at(p(1)).version();
  const std::uint64_t tasks = net.tasks;
  net.run_for(60s);
  CHECK(net.surveys.at(p(1)).version() == version);
  CHECK(net.tasks - tasks <= 12 * 3 + 6);  // those of patrols, and one each 10 s
}

TEST_CASE("whoever does not answer holds the others up for the patience only, and is asked again") {
  Net net(round_robin(9, 3));
  net.members(first(9));
  net.run_for(5ms);  // it has said that it is there
  net.mute.insert(p(5));
  net.run_for(12s);
  CHECK(net.surveys.at(p(2)).network().sites.size() == 3);
  CHECK_FALSE(net.surveys.at(p(2)).network().site_of(p(5)).has_value());

  net.mute.clear();
  net.run_for(25s);
  net.check_sites(3);
}

TEST_CASE("whoever is silent when it is asked again is asked once more, patrols or not") {
  Net net(round_robin(12, 3));
  net.members(first(9));
  net.run_for(3s);
  net.members(first(10));
  net.run_for(50ms);  // It says hello.
  net.mute.insert(p(10));
  net.run_for(25s);  // two rounds of 9 s
  CHECK(!net.surveys.at(p(1)).network().site_of(p(10)).has_value());
  net.mute.clear();
  net.run_for(25s);
  CHECK(net.surveys.at(p(1)).network().site_of(p(10)).has_value());
}

TEST_CASE("a way that gets longer is noticed by patrols, and all are told") {
  Net net(round_robin(9, 2));
  net.members(first(9));
  net.run_for(2s);
  REQUIRE(net.common().way(p(1), p(2)).latency == 3ms);
  net.far = 30ms;
  net.run_for(11s);
  CHECK(net.common().way(p(1), p(2)).latency == 30ms);
}

TEST_CASE("a way that gets longer is noticed, although the patrol downloads over it") {
  for (const Duration longer : {4ms, 6ms, 9ms, 12ms}) {
    CAPTURE(to_ms(longer));
    Net net(round_robin(9, 2));
    net.members(first(9));
    net.run_for(11s);
    net.far = longer;
    net.run_for(11s);
    CHECK(net.common().way(p(1), p(2)).latency == longer);
  }
}

TEST_CASE("what stands in front of a busy interface is no part of a way") {
  Net net(round_robin(9, 2));
  net.members(first(9));
  net.run_for(11s);
  for (const ProcessorId id : first(9).ids()) net.traffic[id] = Net::kGigabit / 4;
  net.far = 30ms;
  net.run_for(60s);
  CHECK(net.common().way(p(1), p(2)).latency == 3ms);

  SUBCASE("a way that gets shorter is one, whatever there is in front of it") {
    net.far = 2ms;
    net.run_for(6s);
    CHECK(net.common().way(p(1), p(2)).latency == 2ms);
  }
  SUBCASE("a little traffic is none") {
    for (auto& [id, rate] : net.traffic) rate = Net::kGigabit / 16;
    net.run_for(11s);
    CHECK(net.common().way(p(1), p(2)).latency == 30ms);
  }
  SUBCASE("the traffic of whoever measures counts") {
    for (auto& [id, rate] : net.traffic) {
      if (net.site(id) == 0) rate = 0;
    }
    net.run_for(30s);
    CHECK(net.common().way(p(1), p(2)).latency == 3ms);
    net.traffic.clear();
    net.run_for(12s);  // Two patrols, and what follows them.
    CHECK(net.common().way(p(1), p(2)).latency == 30ms);
  }
}

TEST_CASE("after the rounds only patrols are sent") {
  Net one(round_robin(9, 1));
  one.members(first(9));
  one.run_for(3s);
  const std::uint64_t before = one.sent;
  one.run_for(60s);
  // 12 patrols: a task, a report, and a download in eight parts.
  CHECK(one.sent - before <= 12 * (2 + 9));

  Net four(round_robin(40, 4));
  four.members(first(40));
  four.run_for(3s);
  const std::uint64_t then = four.sent;
  four.run_for(60s);
  // 12 patrols: 4 tasks and reports, 6 pairs with 2 pings and answers, and downloads in eight parts
  // by one of each site, from its own site and from 3 others.
  CHECK(four.sent - then <= 12 * (4 * 2 + 6 * 4 + 4 * 4 * 9));
}

TEST_CASE("what cannot be true is refused: old, from a stranger, impossible") {
  Net net({0, 0});
  net.members(first(2));
  net.run_for(1s);
  Survey& survey = net.surveys.at(p(2));
  const KnownNetwork before = survey.network();
  KnownNetwork other;
  other.sites.push_back({"", first(2), 1ms});
  Survey::Outbox out;
  survey.on_message(net.now, p(1), NetworkUpdate{survey.version(), other}, out);
  survey.on_message(net.now, p(9), NetworkUpdate{{99, p(9)}, other}, out);
  other.sites.push_back(other.sites[0]);
  survey.on_message(net.now, p(1), NetworkUpdate{{99, p(1)}, other}, out);
  other.sites.resize(1);
  other.pairs[{p(1), p(2)}].latency = 1ms;  // nobody measures that
  survey.on_message(net.now, p(1), NetworkUpdate{{99, p(1)}, other}, out);
  other.pairs.clear();
  survey.on_message(net.now, p(1), NetworkUpdate{{~0ULL, p(1)}, other}, out);
  for (std::uint32_t id = 10; id < 100; ++id) {
    other.sites.push_back({"", ProcessorSet{p(id)}, 1ms});
  }
  survey.on_message(net.now, p(1), NetworkUpdate{{99, p(1)}, other}, out);
  other.sites = {{"", ProcessorSet::range(p(1), p(1U << 30U)), 1ms}};  // No mesh is so large.
  survey.on_message(net.now, p(1), NetworkUpdate{{99, p(1)}, other}, out);
  survey.on_message(net.now, p(9), SurveyTask{1, {p(1)}, {}, 4, true, {}}, out);
  survey.on_message(net.now, p(1), SurveyReport{77, {{p(1), 1ms}}, 1us, {}, {}}, out);
  survey.on_message(net.now, p(1), Ping{12345, true}, out);
  survey.on_message(net.now, p(1), Load{12345, Payload(Bytes(100))}, out);
  survey.on_message(net.now, p(9), Fetch{1, 100}, out);
  CHECK(survey.network() == before);
  CHECK(out.empty());

  // To the surveyor: of no round, of one that was not asked, of a stranger.
  Survey& surveyor = net.surveys.at(p(1));
  for (const std::uint64_t round : {1U, 2U, 3U, 77U}) {
    surveyor.on_message(net.now, p(2), SurveyReport{round, {{p(1), 90s}}, 1us, {}, {}}, out);
    surveyor.on_message(net.now, p(9), SurveyReport{round, {{p(1), 1ms}}, 1us, {}, {}}, out);
  }
  CHECK(surveyor.network() == before);
  CHECK(out.empty());
}

TEST_CASE("whoever follows a surveyor that lied about its version is believed, by all or by some") {
  const ProcessorSet all = first(9);
  for (const ProcessorSet& deceived : {all, ProcessorSet{p(2)}, ProcessorSet{p(2), p(4)},
                                       ProcessorSet{p(9)}, ProcessorSet::range(p(3), p(9))}) {
    for (const std::uint64_t number : {(1ULL << 32U) - 1, 1ULL << 32U, (1ULL << 33U) - 1}) {
      CAPTURE(deceived.front().value);
      CAPTURE(deceived.size());
      CAPTURE(number);
      Net net(round_robin(10, 2));
      net.members(all);
      net.run_for(3s);
      KnownNetwork lie = net.common();
      lie.usual.overhead = 77us;
      for (const ProcessorId id : deceived.minus(ProcessorSet{p(1)}).ids()) {
        Survey::Outbox out;
        net.surveys.at(id).on_message(net.now, p(1), NetworkUpdate{{number, p(1)}, lie}, out);
        net.take(id, out);
        REQUIRE(net.surveys.at(id).version().number == number);
      }
      net.members(ProcessorSet::range(p(2), p(9)));
      net.run_for(3s);
      net.check_sites(2);
      net.members(ProcessorSet::range(p(2), p(10)));
      net.run_for(3s);
      net.check_sites(2);
      CHECK(net.common().site_of(p(10)).has_value());
      net.members(ProcessorSet::range(p(3), p(10)));
      net.run_for(3s);
      net.check_sites(2);
    }
  }
}

TEST_CASE(
    "that a surveyor lied is forgotten by one after the other, in whatever order they see it") {
  for (const std::uint32_t late : {2U, 3U}) {
    CAPTURE(late);
    Net net(round_robin(6, 2));
    net.members(first(6));
    net.run_for(3s);
    for (const ProcessorId id : ProcessorSet::range(p(2), p(6)).ids()) {
      Survey::Outbox out;
      const NetworkUpdate lie{{(1ULL << 33U) - 1, p(1)}, net.surveys.at(id).network()};
      net.surveys.at(id).on_message(net.now, p(1), lie, out);
      net.take(id, out);
    }
    net.live = ProcessorSet::range(p(2), p(6));
    for (const bool is_late : {false, true}) {
      for (const ProcessorId id : net.live.ids()) {
        if ((id == p(late)) != is_late) continue;
        Survey::Outbox out;
        net.surveys.at(id).on_members(net.now, net.live, out);
        net.take(id, out);
      }
      if (!is_late) net.run_for(1s);
    }
    net.run_for(2s);
    net.check_sites(2);
    CHECK(net.surveys.at(p(2)).version().number < 10);
  }
}

TEST_SUITE_END();

}  // namespace phx::overlay::survey_test
