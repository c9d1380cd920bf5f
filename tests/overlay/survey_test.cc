#include "overlay/survey/survey.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace phx::overlay {
namespace {

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

/// Surveys joined by a network: a message takes half of the round trip of its ends' sites.
struct Net {
  explicit Net(std::vector<std::uint32_t> wanted) : sites(std::move(wanted)) {}

  [[nodiscard]] std::uint32_t site(ProcessorId id) const { return sites[id.value - 1]; }
  [[nodiscard]] Duration way(ProcessorId a, ProcessorId b) const {
    return site(a) == site(b) ? 150us : far;
  }
  /// Everybody hears that these live.
  void members(const ProcessorSet& ids) {
    live = ids;
    for (const ProcessorId id : ids.ids()) {
      if (!surveys.contains(id)) surveys.emplace(id, Survey(id, {}, id.value));
      Survey::Outbox out;
      surveys.at(id).on_members(now, live, out);
      take(id, out);
    }
  }
  void take(ProcessorId from, Survey::Outbox& out) {
    for (auto& item : out.take()) {
      if (auto* send = std::get_if<Survey::Outbox::Send>(&item)) {
        ++sent;
        if (std::holds_alternative<SurveyTask>(send->message)) ++tasks;
        if (mute.contains(from)) continue;
        if (uninformed.contains(send->to) && std::holds_alternative<NetworkUpdate>(send->message)) {
          continue;
        }
        mail.emplace(now + way(from, send->to), Letter{from, send->to, std::move(send->message)});
      } else if (const auto* arm = std::get_if<Survey::Outbox::Arm>(&item)) {
        timers[{from, arm->timer}] = arm->at;
      }
    }
  }
  void run_for(Duration time) {
    const Instant end = now + time;
    while (step(end)) {
    }
    now = end;
  }
  bool step(Instant end) {
    auto due = timers.end();
    for (auto at = timers.begin(); at != timers.end(); ++at) {
      if (at->second && (due == timers.end() || *at->second < *due->second)) due = at;
    }
    const bool has_mail = !mail.empty() && mail.begin()->first <= end;
    const bool has_timer = due != timers.end() && *due->second <= end;
    Survey::Outbox out;
    if (has_mail && (!has_timer || mail.begin()->first <= *due->second)) {
      now = mail.begin()->first;
      const Letter letter = std::move(mail.begin()->second);
      mail.erase(mail.begin());
      if (!live.contains(letter.to)) return true;
      surveys.at(letter.to).on_message(now, letter.from, letter.message, out);
      take(letter.to, out);
      return true;
    }
    if (!has_timer) return false;
    now = *due->second;
    due->second.reset();
    const auto [who, timer] = due->first;
    if (!live.contains(who)) return true;
    surveys.at(who).on_timer(now, timer, out);
    take(who, out);
    return true;
  }
  /// All have this one.
  [[nodiscard]] KnownNetwork common() {
    const KnownNetwork& first = surveys.at(live.front()).network();
    for (const ProcessorId id : live.ids()) {
      CAPTURE(to_string(id));
      CHECK(surveys.at(id).network() == first);
    }
    return first;
  }
  /// As it is: sites are what they should be.
  void check_sites(std::size_t count) {
    const KnownNetwork network = common();
    CHECK(network.sites.size() == count);
    ProcessorSet placed;
    for (const auto& known : network.sites) {
      for (const ProcessorId id : known.processors.ids()) {
        CHECK(site(id) == site(known.processors.front()));
      }
      placed = placed.united(known.processors);
    }
    CHECK(placed.contains_all(live));
  }

  struct Letter {
    ProcessorId from;
    ProcessorId to;
    Message message;
  };
  std::vector<std::uint32_t> sites;  ///< Of p1, p2, ...
  Duration far = 3ms;
  Instant now{};
  ProcessorSet live;
  std::set<ProcessorId> mute;        ///< What they send is lost.
  std::set<ProcessorId> uninformed;  ///< What they should be told of the network is lost.
  std::map<ProcessorId, Survey> surveys;
  std::multimap<Instant, Letter> mail;
  std::map<std::pair<ProcessorId, Survey::Timer>, std::optional<Instant>> timers;
  std::uint64_t sent = 0;
  std::uint64_t tasks = 0;
};

std::vector<std::uint32_t> round_robin(std::uint32_t processors, std::uint32_t sites) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i < processors; ++i) result.push_back(i % sites);
  return result;
}

ProcessorSet first(std::uint32_t count) {
  return ProcessorSet::range(p(1), p(count));
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
  net.run_for(1s);
  const std::uint64_t tasks = net.tasks;
  while (net.tasks == tasks) REQUIRE(net.step(net.now + 10s));
  net.members(first(10));
  net.run_for(1s);
  net.check_sites(2);
  CHECK(net.tasks == tasks + 2);  // one of the patrol, one for the newcomer
  CHECK(net.surveys.at(p(1)).version().number == 2);
}

TEST_CASE("whoever is silent for long costs a task each time, and no news for the others") {
  Net net(round_robin(9, 3));
  net.members(first(9));
  net.run_for(5ms);
  net.mute.insert(p(5));
  net.run_for(5s);
  const NetworkVersion version = net.surveys.at(p(1)).version();
  const std::uint64_t tasks = net.tasks;
  net.run_for(60s);
  CHECK(net.surveys.at(p(1)).version() == version);
  CHECK(net.tasks - tasks <= 12 * 2 + 6);  // those of patrols, and one each 10 s
}

TEST_CASE("whoever does not answer holds the others up for the patience only, and is asked again") {
  Net net(round_robin(9, 3));
  net.members(first(9));
  net.run_for(5ms);  // it has said that it is there
  net.mute.insert(p(5));
  net.run_for(5s);
  CHECK(net.surveys.at(p(2)).network().sites.size() == 3);
  CHECK_FALSE(net.surveys.at(p(2)).network().site_of(p(5)).has_value());

  net.mute.clear();
  net.run_for(15s);
  net.check_sites(3);
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

TEST_CASE("after the rounds only patrols are sent, and nothing with one site") {
  Net one(round_robin(9, 1));
  one.members(first(9));
  one.run_for(1s);
  const std::uint64_t before = one.sent;
  one.run_for(60s);
  CHECK(one.sent == before);

  Net four(round_robin(40, 4));
  four.members(first(40));
  four.run_for(1s);
  const std::uint64_t then = four.sent;
  four.run_for(60s);
  // 12 patrols: 3 tasks and reports, and 6 pairs with 2 pings and answers.
  CHECK(four.sent - then <= 12 * (3 * 2 + 6 * 4));
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
  other.usual.out_bytes_per_second = 1;  // nobody measures that
  survey.on_message(net.now, p(1), NetworkUpdate{{99, p(1)}, other}, out);
  other.usual = {};
  survey.on_message(net.now, p(1), NetworkUpdate{{~0ULL, p(1)}, other}, out);
  for (std::uint32_t id = 10; id < 100; ++id) {
    other.sites.push_back({"", ProcessorSet{p(id)}, 1ms});
  }
  survey.on_message(net.now, p(1), NetworkUpdate{{99, p(1)}, other}, out);
  survey.on_message(net.now, p(9), SurveyTask{1, {p(1)}, {}, 4, true}, out);
  survey.on_message(net.now, p(1), SurveyReport{77, {{p(1), 1ms}}, 1us, {}}, out);
  survey.on_message(net.now, p(1), Ping{12345, true}, out);
  CHECK(survey.network() == before);
  CHECK(out.empty());

  // To the surveyor: of no round, of one that was not asked, of a stranger.
  Survey& surveyor = net.surveys.at(p(1));
  for (const std::uint64_t round : {1U, 2U, 3U, 77U}) {
    surveyor.on_message(net.now, p(2), SurveyReport{round, {{p(1), 90s}}, 1us, {}}, out);
    surveyor.on_message(net.now, p(9), SurveyReport{round, {{p(1), 1ms}}, 1us, {}}, out);
  }
  CHECK(surveyor.network() == before);
  CHECK(out.empty());
}

TEST_SUITE_END();

}  // namespace phx::overlay
