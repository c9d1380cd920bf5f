#include "overlay/prober.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

namespace phx::overlay::prober_test {
namespace {

const ProcessorId kSelf{1};

/// A prober whose peers answer after a round trip that depends on the peer.
struct Bench {
  explicit Bench(const ProberOptions& options = {}) : prober(kSelf, options, Rng(1)) {}

  void members(std::uint32_t last) {
    Prober::Outbox out;
    prober.on_members(now, ProcessorSet::range(kSelf, ProcessorId{last}), true, out);
    take(out);
  }
  /// Takes what the prober wants, at the time at which it wants it.
  void take(Prober::Outbox& out) {
    for (auto& item : out.take()) {
      if (const auto* send = std::get_if<Prober::Outbox::Send>(&item)) {
        pings.push_back(send->to);
        flight = *send;
      } else if (const auto* arm = std::get_if<Prober::Outbox::Arm>(&item)) {
        timers[arm->timer] = arm->at;
      } else if (const auto* report = std::get_if<Prober::Report>(&item)) {
        if (const auto* p = std::get_if<Prober::Probed>(report)) probed.push_back(p->peer);
      }
    }
  }
  void answer() {
    now += 1ms * flight->to.value;
    const auto reply = *std::exchange(flight, std::nullopt);
    Prober::Outbox out;
    prober.on_reply(now, reply.to, ProbeReply{reply.message.seq, {}, {}}, links, out);
    take(out);
  }
  void fire(Prober::Timer timer) {
    REQUIRE(timers[timer]);
    now = std::max(now, *timers[timer]);
    timers[timer].reset();
    Prober::Outbox out;
    prober.on_timer(now, timer, links, out);
    take(out);
  }
  /// One round or look, all answered.
  void round() {
    fire(Prober::Timer::kRound);
    while (flight) answer();
  }
  void until_silent() {
    while (!prober.is_idle()) round();
  }

  Instant now{};
  LinkStats links;
  Prober prober;
  std::vector<ProcessorId> pings;
  std::vector<ProcessorId> probed;
  std::optional<Prober::Outbox::Send> flight;
  std::map<Prober::Timer, std::optional<Instant>> timers;
};

TEST_CASE("a change of the members makes ten of them measured, each by three pings [Saito08 B]") {
  Bench bench;
  bench.members(100);

  bench.round();

  CHECK(bench.probed.size() == 10);
  CHECK(bench.pings.size() == 30);
  CHECK(std::set<ProcessorId>(bench.probed.begin(), bench.probed.end()).size() == 10);
  CHECK(std::count(bench.probed.begin(), bench.probed.end(), kSelf) == 0);
  for (const ProcessorId peer : bench.probed) {
    CHECK(bench.links.round_trip(peer) == 1ms * peer.value);
  }
}

TEST_CASE("one exchange at a time is under way") {
  Bench bench;
  bench.members(20);

  bench.fire(Prober::Timer::kRound);

  CHECK(bench.pings.size() == 1);
}

TEST_CASE("changes within a second count as one, and none is forgotten [Saito08 G18]") {
  Bench bench({.looks = 0});
  bench.members(50);
  bench.round();
  const Instant first = bench.now;

  for (std::uint32_t last = 51; last <= 60; ++last) bench.members(last);
  const std::size_t before = bench.probed.size();
  bench.until_silent();

  CHECK(bench.probed.size() <= before + 10);
  CHECK(bench.probed.size() > before);
  CHECK(bench.now >= first + 500ms);
}

TEST_CASE("after a round and its looks there is silence") {
  Bench bench;
  bench.members(30);

  bench.until_silent();

  CHECK_FALSE(bench.timers[Prober::Timer::kRound]);
  CHECK_FALSE(bench.timers[Prober::Timer::kLost]);
}

TEST_CASE("a known peer is pinged once, for what it says") {
  Bench bench({.looks = 0});
  bench.members(4);
  bench.until_silent();
  REQUIRE(bench.pings.size() == 9);

  bench.members(5);
  bench.until_silent();

  CHECK(bench.pings.size() == 9 + 3 + 3);
}

TEST_CASE("suggested peers are asked first, the unknown before the known") {
  Bench bench({.looks = 0});
  bench.members(100);
  Prober::Outbox out;
  bench.prober.suggest(bench.now, ProcessorId{77}, out);
  CHECK(out.empty());

  bench.round();

  CHECK(bench.probed.front() == ProcessorId{77});
}

TEST_CASE("a suggestion after the end starts a look, and their number is limited") {
  Bench bench({.looks = 2, .extra_looks = 2});
  bench.members(100);
  bench.until_silent();
  int started = 0;

  for (std::uint32_t id = 50; id < 60; ++id) {
    Prober::Outbox out;
    bench.prober.suggest(bench.now, ProcessorId{id}, out);
    bench.take(out);
    if (!bench.prober.is_idle()) ++started;
    bench.until_silent();
  }

  CHECK(started == 2);
}

TEST_CASE("limits: of too many suggestions the oldest is forgotten") {
  Bench bench({.candidates = 1, .nearest = 0, .suggestions = 1});
  bench.members(100);
  for (const std::uint32_t id : {50U, 51U, 52U}) {
    Prober::Outbox out;
    bench.prober.suggest(bench.now, ProcessorId{id}, out);
    bench.take(out);
  }

  bench.until_silent();

  CHECK(std::count(bench.pings.begin(), bench.pings.end(), ProcessorId{50}) == 0);
  CHECK(std::count(bench.pings.begin(), bench.pings.end(), ProcessorId{51}) > 0);
  CHECK(std::count(bench.pings.begin(), bench.pings.end(), ProcessorId{52}) > 0);
}

TEST_CASE("stopped in the middle of an exchange it has no timer left") {
  Bench bench;
  bench.members(10);
  bench.fire(Prober::Timer::kRound);
  REQUIRE(bench.timers[Prober::Timer::kLost]);

  Prober::Outbox out;
  bench.prober.stop(out);
  bench.take(out);

  CHECK(!bench.timers[Prober::Timer::kLost]);
  CHECK(!bench.timers[Prober::Timer::kRound]);
}

TEST_CASE("a peer that does not answer is passed over") {
  Bench bench;
  bench.members(3);
  bench.fire(Prober::Timer::kRound);
  const ProcessorId silent = bench.flight->to;
  bench.flight.reset();

  bench.fire(Prober::Timer::kLost);

  REQUIRE(bench.flight);
  CHECK(bench.flight->to != silent);
}

TEST_CASE("a peer that leaves is passed over at once") {
  Bench bench;
  bench.members(3);
  bench.fire(Prober::Timer::kRound);
  const ProcessorId gone = bench.flight->to;
  bench.flight.reset();
  ProcessorSet rest{kSelf, ProcessorId{2}, ProcessorId{3}};
  rest.erase(gone);

  Prober::Outbox out;
  bench.prober.on_members(bench.now, rest, false, out);
  bench.take(out);

  REQUIRE(bench.flight);
  CHECK(rest.contains(bench.flight->to));
}

TEST_CASE("stale and foreign answers, and early timers, change nothing") {
  Bench bench;
  bench.members(5);
  Prober::Outbox out;
  bench.prober.on_timer(bench.now - 1s, Prober::Timer::kRound, bench.links, out);
  bench.prober.on_timer(bench.now, Prober::Timer::kLost, bench.links, out);
  CHECK(out.empty());
  bench.fire(Prober::Timer::kRound);

  const ProcessorId asked = bench.flight->to;
  const std::uint64_t seq = bench.flight->message.seq;
  bench.prober.on_reply(bench.now, asked, ProbeReply{seq + 1, {}, {}}, bench.links, out);
  bench.prober.on_reply(bench.now, kSelf, ProbeReply{seq, {}, {}}, bench.links, out);

  CHECK(out.empty());
  CHECK(bench.links.size() == 0);
}

TEST_CASE("as long as nobody near is known, looks go on searching") {
  Bench bench;
  bench.members(100);
  for (int i = 0; i < 3; ++i) {
    for (std::uint32_t id = 2; id <= 30; ++id) bench.links.add(ProcessorId{id}, 20ms);
  }
  CHECK_FALSE(bench.links.knows_near());

  bench.round();  // everybody new is further away, but not so far that the first are near
  const std::size_t before = bench.probed.size();
  if (!bench.links.knows_near()) bench.round();

  CHECK(bench.probed.size() >= before);
}

}  // namespace
}  // namespace phx::overlay::prober_test
