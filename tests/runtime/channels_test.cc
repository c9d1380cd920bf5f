#include "runtime/channels/channels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/channel_harness.h"
#include "tests/support/link_net.h"
#include "tests/support/seeds.h"

namespace phx::runtime::channels_test {
namespace {

using support::kHigh;
using support::kLow;
using support::kSelf;
using support::word;
using Harness = support::ChannelHarness;
using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE_BEGIN("runtime/channels");

TEST_CASE("after a break the peer says what it has, and exactly the rest is sent again") {
  Harness h;
  const LinkId first = h.ready(kHigh, 1, true);
  for (std::uint64_t number = 1; number <= 4; ++number) h.send(kHigh, number);
  h.frame(first, 0, 1);
  h.channels.on_link_down(h.now, first);
  h.take();

  h.up({kHigh, 2}, false);
  h.frame({kHigh, 2}, 0, 3);

  CHECK(h.take_frames() == Texts{"2:0/0", "2:4/0"});
  CHECK(h.channels.counters().resent == 1);
}

TEST_CASE("what came already is dropped, but confirmed") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, false);
  h.frame(link, 1, 0);
  CHECK(h.take_only<Channels::Received>().size() == 1);

  h.frame(link, 1, 0);

  CHECK(h.take_only<Channels::Received>().empty());
  h.pass(20ms);
  CHECK(h.take_frames() == Texts{"1:0/1"});
}

TEST_CASE("a gap in the numbers costs the link, and the third one is reported") {
  Harness h;
  h.send(kHigh, 1);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const LinkId link{kHigh, round};
    h.up(link, false);
    h.frame(link, 0, 0);
    h.take();
    h.frame(link, 7, 0);
    const auto outputs = h.take();
    const bool hung_up = std::ranges::any_of(
        outputs, [](const auto& output) { return std::holds_alternative<Hangup>(output); });
    const bool reported = std::ranges::any_of(outputs, [](const auto& output) {
      return std::holds_alternative<Channels::Unreachable>(output);
    });
    CHECK(hung_up);
    CHECK(reported == (round == 3));
  }
  CHECK(h.channels.counters().violations == 3);
}

TEST_CASE("a confirmation of what was never sent costs the link") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, false);

  h.frame(link, 0, 1);

  CHECK(h.take_only<Hangup>().size() == 1);
}

TEST_CASE("a link whose first frame is no statement is hung up") {
  Harness h;
  h.up({kHigh, 1}, false);

  h.frame({kHigh, 1}, 1, 0);

  const auto outputs = h.take();
  CHECK(std::ranges::any_of(outputs,
                            [](const auto& o) { return std::holds_alternative<Hangup>(o); }));
}

TEST_CASE("confirmations ride on frames, or go alone after 32 frames or 20 ms") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);

  h.frame(link, 1, 0);
  h.send(kHigh, 1);
  CHECK(h.take_frames() == Texts{"1:1/1"});
  h.pass(19ms);
  CHECK(h.take_frames().empty());
  for (std::uint64_t seq = 2; seq <= 33; ++seq) h.frame(link, seq, 1);
  CHECK(h.take_frames() == Texts{"1:0/33"});
  h.frame(link, 34, 1);
  CHECK(h.take_frames().empty());
  h.pass(20ms);
  CHECK(h.take_frames() == Texts{"1:0/34"});
}

TEST_CASE("who leaves confirms at once, however often something comes") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  for (std::uint64_t seq = 1; seq <= 10; ++seq) {
    h.frame(link, seq, 0);
    CHECK_FALSE(h.channels.all_acknowledged());

    h.channels.confirm_all();

    CHECK(h.channels.all_acknowledged());
    CHECK(h.take_frames() == Texts{"1:0/" + std::to_string(seq)});
    h.pass(5ms);
  }
  h.channels.confirm_all();
  CHECK(h.take_frames().empty());
}

TEST_CASE("a mark is reached whatever was sent after it, and by who is forgotten") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.ready(kLow, 2, true);
  h.send(kHigh, 1);
  h.send(kLow, 1);
  ChannelMarks marks = h.channels.marks();
  h.send(kHigh, 2);
  CHECK(!h.channels.has_acknowledged(marks));

  h.frame(link, 0, 1);
  CHECK(!h.channels.has_acknowledged(marks));
  h.channels.forget(h.now, kLow);

  CHECK(h.channels.has_acknowledged(marks));
  CHECK(!h.channels.all_acknowledged());
}

TEST_CASE("confirms at once after 256 KB") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);

  const Payload bytes(Bytes(std::size_t{256} * 1024));
  h.channels.on_frame(h.now, link, Frame{1, 0, Output{JobId{1}, kHigh, false, bytes}});

  CHECK(h.take_frames() == Texts{"1:0/1"});
}

TEST_CASE("of two crossing links the greater id hangs up the one that it has dialled") {
  Harness h;
  const LinkId own = h.ready(kLow, 1, true);

  h.up({kLow, 2}, false);

  const auto hung_up = h.take_only<Hangup>();
  REQUIRE(hung_up.size() == 1);
  CHECK(hung_up[0].link == own);
  h.up({kLow, 3}, true);  // this side's dial was on its way
  const auto again = h.take_only<Hangup>();
  REQUIRE(again.size() == 1);
  CHECK(again[0].link == LinkId{kLow, 3});
}

TEST_CASE("the smaller id takes a new link although it has one: the old one may be dead") {
  Harness h;
  const LinkId own = h.ready(kHigh, 1, true);

  h.up({kHigh, 2}, false);
  h.frame({kHigh, 2}, 0, 0);
  CHECK(h.take_only<Hangup>().empty());
  h.send(kHigh, 1);
  CHECK(h.take_frames() == Texts{"2:1/0"});
  h.frame({kHigh, 2}, 0, 1);
  h.pass(2s);

  const auto hung_up = h.take_only<Hangup>();
  REQUIRE(hung_up.size() == 1);
  CHECK(hung_up[0].link == own);
}

TEST_CASE("when the peer hangs up the newer link, the older one goes on from the last word") {
  Harness h;
  h.ready(kHigh, 1, true);
  h.up({kHigh, 2}, false);
  h.frame({kHigh, 2}, 0, 0);
  h.send(kHigh, 1);
  h.take();

  h.channels.on_link_down(h.now, {kHigh, 2});

  CHECK(h.take_frames() == Texts{"1:0/0", "1:1/0"});
}

TEST_CASE("a second link with the same dialler replaces the first one") {
  Harness h;
  const LinkId old = h.ready(kHigh, 1, false);

  h.up({kHigh, 2}, false);

  const auto hung_up = h.take_only<Hangup>();
  REQUIRE(hung_up.size() == 1);
  CHECK(hung_up[0].link == old);
}

TEST_CASE("a link that confirms nothing for two seconds is replaced") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.send(kHigh, 1);
  h.take();

  h.pass(1999ms);
  CHECK(h.take().empty());
  h.pass(1ms);

  const auto outputs = h.take();
  CHECK(h.channels.counters().stalls == 1);
  CHECK(std::ranges::any_of(outputs, [&](const auto& output) {
    const auto* hangup = std::get_if<Hangup>(&output);
    return hangup != nullptr && hangup->link == link;
  }));
}

TEST_CASE("a large envelope on a slow line is given its time") {
  Harness h;
  h.ready(kHigh, 1, true);
  const Payload bytes(Bytes(10'000'000));  // 10 s at the slowest bandwidth
  h.channels.send(h.now, kHigh, Output{JobId{1}, kSelf, false, bytes});
  h.take();

  h.pass(11s);

  CHECK(h.channels.counters().stalls == 0);
  CHECK(h.take_only<Channels::Unreachable>().empty());
}

TEST_CASE("activity on a link keeps it from being given up") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.send(kHigh, 1);
  for (int i = 0; i < 20; ++i) {
    h.pass(1s);
    h.channels.on_activity(h.now, link);
  }

  CHECK(h.channels.counters().stalls == 0);
  CHECK(h.take_only<Channels::Unreachable>().empty());
}

TEST_CASE("dials again after 50 ms, doubling up to a second, and reports after five seconds") {
  Harness h;
  h.send(kHigh, 1);
  std::vector<Duration> pauses;
  const Instant begin = h.now;
  while (h.now - begin < 4900ms) {
    h.take();
    h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kNoWay, "no route");
    const Instant failed = h.now;
    while (h.take_only<Channels::Connect>().empty()) h.pass(1ms);
    pauses.push_back(h.now - failed);
  }
  REQUIRE(pauses.size() >= 7);
  CHECK(pauses[0] == 50ms);
  CHECK(pauses[1] == 100ms);
  CHECK(pauses[4] == 800ms);
  CHECK(pauses[5] == 1s);
  CHECK(pauses[6] == 1s);
  h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kNoWay, "no route");

  h.pass(begin + 5001ms > h.now ? begin + 5001ms - h.now : 1ms);
}

TEST_CASE(
    "whoever is needed and cannot be reached is reported every five seconds until it answers") {
  Harness h;
  h.send(kHigh, 1);
  h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kNoWay, "no route");

  std::size_t reports = 0;
  for (int i = 0; i < 160; ++i) {
    h.pass(100ms);
    for (auto& output : h.take()) {
      if (std::holds_alternative<Channels::Connect>(output)) {
        h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kNoWay, "no route");
      }
      if (const auto* report = std::get_if<Channels::Unreachable>(&output)) {
        ++reports;
        CHECK(report->why == Departure::kUnreachable);
        CHECK(report->detail.find("no route") != std::string::npos);
      }
    }
  }
  CHECK(reports == 3);
  h.up({kHigh, 1}, false);
  h.frame({kHigh, 1}, 0, 0);
  h.frame({kHigh, 1}, 0, 1);

  CHECK(h.take_only<Channels::Reachable>().size() == 1);
}

TEST_CASE("a watched peer is asked after a second of silence and reported after five") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.channels.watch(h.now, ProcessorSet{kHigh});

  h.pass(1s);
  const auto beats = h.take_only<Transmit>();
  REQUIRE(beats.size() == 1);
  CHECK(std::holds_alternative<Heartbeat>(*beats[0].frame.envelope));
  h.frame(link, 0, 1);
  h.pass(4900ms);
  CHECK(h.take_only<Channels::Unreachable>().empty());
  h.pass(100ms);

  const auto reports = h.take_only<Channels::Unreachable>();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].why == Departure::kSilent);
}

TEST_CASE("a heartbeat is confirmed at once and goes no further") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, false);

  h.channels.on_frame(h.now, link, Frame{1, 0, Heartbeat{}});

  const auto outputs = h.take();
  REQUIRE(outputs.size() == 1);
  REQUIRE(std::holds_alternative<Transmit>(outputs[0]));
  CHECK(std::get<Transmit>(outputs[0]).frame == Frame{0, 1, std::nullopt});
}

TEST_CASE("a watched peer is dialled at once when its link breaks") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, false);
  h.channels.watch(h.now, ProcessorSet{kHigh});

  h.channels.on_link_down(h.now, link);

  CHECK(h.take_only<Channels::Connect>().size() == 1);
}

// A mesh of N has up to N^2 / 2 such pairs, so an idle machine has hardly anything else to do.
TEST_CASE("a peer that asks each second wakes this end up once for it, and no timer besides") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, false);
  h.channels.watch(h.now, ProcessorSet{kHigh});
  std::uint64_t timers = 0;
  std::uint64_t frames = 0;
  for (std::uint64_t second = 1; second <= 60; ++second) {
    h.now += 990ms;  // It is always a little earlier than this end would be.
    h.channels.on_frame(h.now, link, Frame{second, 0, Heartbeat{}});
    frames += h.take_frames().size();
    const Instant end = h.now + 10ms;
    for (; *h.channels.next_deadline() <= end; ++timers) {
      h.channels.on_deadline(*h.channels.next_deadline());
    }
    CHECK(h.take_frames().empty());
    h.now = end;
  }
  CHECK(frames == 60);  // acknowledgements
  // Whether it has been silent for 5 s is looked at each 5 s.
  CHECK(timers <= 60 / 5 + 1);
}

TEST_CASE("a peer that is asked each second wakes this end up twice for it, with the answer") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.channels.watch(h.now, ProcessorSet{kHigh});
  std::uint64_t timers = 0;
  std::uint64_t beats = 0;
  for (const Instant end = h.now + 60s; h.now < end; ++timers) {
    h.now = *h.channels.next_deadline();
    h.channels.on_deadline(h.now);
    if (h.take_frames().empty()) continue;
    h.now += 300us;
    h.frame(link, 0, ++beats);
  }
  CHECK(beats >= 59);
  CHECK(timers <= beats + 2);
}

TEST_CASE("an idle link needs no timer but that of its end, and its loss no dial") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.send(kHigh, 1);
  h.frame(link, 1, 1);
  h.pass(10s);
  h.take();

  CHECK(h.channels.next_deadline() == Instant{} + ChannelOptions{}.idle_timeout);
  CHECK(h.channels.all_acknowledged());
  h.channels.on_link_down(h.now, link);
  CHECK(h.take_only<Channels::Connect>().empty());
}

TEST_CASE("who is forgotten already need not wait until its last words are confirmed") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.frame(link, 1, 0);
  h.channels.forget(h.now, kHigh);
  CHECK(h.take_frames() == Texts{"1:0/1"});

  h.frame(link, 2, 0);

  CHECK(h.take_frames() == Texts{"1:0/2"});
}

TEST_CASE("a forgotten peer's link lives on for its last words, then it is a stranger") {
  Harness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.send(kHigh, 1);
  h.channels.forget(h.now, kHigh);
  h.send(kHigh, 2);
  CHECK(h.take_only<Hangup>().empty());
  CHECK(h.channels.counters().to_gone == 1);
  h.frame(link, 1, 1);
  CHECK(h.take_only<Channels::Received>().empty());
  h.pass(1s);
  CHECK(h.take_only<Hangup>().size() == 1);

  const LinkId again{kHigh, 2};
  h.up(again, false);
  h.frame(again, 0, 1);
  CHECK(h.take_only<Channels::Stranger>().size() == 1);
  h.channels.refuse(h.now, again, Fenced{7, "gone"});

  const auto answers = h.take_only<Transmit>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].frame == Frame{2, 0, Fenced{7, "gone"}});  // the next number it expects
  h.pass(1s);
  CHECK(h.take_only<Hangup>().size() == 1);
}

namespace {

/// Sends `count` numbered words from each to each at random times in 20 s of faults, then waits.
void exchange(support::LinkNet& net, std::uint32_t processors, std::uint64_t count) {
  for (std::uint32_t from = 1; from <= processors; ++from) {
    for (std::uint32_t to = 1; to <= processors; ++to) {
      if (from == to) continue;
      std::vector<Instant> times;
      for (std::uint64_t i = 0; i < count; ++i) {
        times.push_back(Instant{} +
                        Duration(static_cast<Duration::rep>(net.rng().below(20'000'000'000))));
      }
      std::ranges::sort(times);
      for (std::uint64_t i = 0; i < count; ++i) {
        net.at(times[i],
               [&net, from, to, i] { net.send(ProcessorId{from}, ProcessorId{to}, word(i + 1)); });
      }
    }
  }
  net.run_until(Instant{} + 20s);
  net.heal();
  net.run_until(Instant{} + 35s);
}

void check_exactly_once_in_order(const support::LinkNet& net, std::uint32_t processors,
                                 std::uint64_t count) {
  for (std::uint32_t to = 1; to <= processors; ++to) {
    std::map<ProcessorId, std::uint64_t> last;
    for (const auto& received : net.received(ProcessorId{to})) {
      const auto& question = std::get<StatusQuestion>(received.envelope);
      REQUIRE(question.request == ++last[received.from]);
    }
    for (std::uint32_t from = 1; from <= processors; ++from) {
      if (from != to) REQUIRE(last[ProcessorId{from}] == count);
    }
  }
}

}  // namespace

TEST_CASE("over many seeds of breaking links every envelope arrives once and in order") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    CAPTURE(seed);
    support::LinkNet net(3, {}, seed);

    exchange(net, 3, 60);

    check_exactly_once_in_order(net, 3, 60);
    net.run_until(Instant{} + 70s);  // Idle links close, the last of them 30 s after it was of use.
    CHECK(net.is_quiet());
  }
}

TEST_CASE("over many seeds of very bad links every envelope arrives once and in order") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    CAPTURE(seed);
    const support::LinkNet::Faults faults{.dial_fails = 0.5,
                                          .break_per_frame = 0.2,
                                          .end_notices = 0.3,
                                          .delay_max = 300ms,
                                          .notice_max = 8s};
    support::LinkNet net(4, faults, seed);

    exchange(net, 4, 30);

    check_exactly_once_in_order(net, 4, 30);
  }
}

TEST_CASE("over many seeds watched processors on links that only break are never reported") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    CAPTURE(seed);
    const support::LinkNet::Faults faults{.dial_fails = 0,
                                          .break_per_frame = 0.05,
                                          .end_notices = 0.7,
                                          .delay_max = 20ms,
                                          .notice_max = 1s};
    support::LinkNet net(3, faults, seed);
    for (std::uint32_t id = 1; id <= 3; ++id) {
      const ProcessorSet next{ProcessorId{id % 3 + 1}};
      net.at(Instant{}, [&net, id, next] { net.channels(ProcessorId{id}).watch(net.now(), next); });
    }

    exchange(net, 3, 20);

    for (std::uint32_t id = 1; id <= 3; ++id) CHECK(net.reports(ProcessorId{id}).empty());
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::channels_test
