#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "runtime/channels/channels.h"
#include "tests/support/channel_harness.h"

namespace phx::runtime::channel_lateness_test {
namespace {

using support::kHigh;
using support::word;
using LateHarness = support::ChannelHarness;

}  // namespace

TEST_SUITE_BEGIN("runtime/channels");

TEST_CASE("the time in which this processor stood still is nobody's silence") {
  LateHarness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.channels.watch(h.now, ProcessorSet{kHigh});
  h.pass(900ms);

  h.now += 10s;
  h.channels.on_deadline(h.now);  // before anything is read

  const auto outputs = h.take();
  CHECK(std::ranges::none_of(outputs, [](const auto& output) {
    return std::holds_alternative<Channels::Unreachable>(output);
  }));
  const auto* note = std::get_if<Note>(&outputs.at(0));
  REQUIRE(note != nullptr);
  CHECK(note->event == "stood-still");
  CHECK(note->detail == "ms=9900");
  SUBCASE("who answers then is well") {
    h.frame(link, 0, 1);
    h.pass(4900ms);
    CHECK(h.take_only<Channels::Unreachable>().empty());
  }
  SUBCASE("who does not is reported when its silence has lasted") {
    h.pass(3900ms + 3 * 9900ms);  // it may stand still again
    CHECK(h.take_only<Channels::Unreachable>().empty());
    h.pass(100ms);
    CHECK(h.take_only<Channels::Unreachable>().size() == 1);
  }
}

TEST_CASE("nor is that time slowness of whoever had been sent something before") {
  const auto reported_after = [](Duration stood) {
    ChannelOptions options;
    options.late_factor = 0;  // else it is patient because of itself
    LateHarness h(options);
    const LinkId link = h.ready(kHigh, 1, true);
    h.channels.watch(h.now, ProcessorSet{kHigh});
    h.send(kHigh, 1);
    h.now = h.channels.next_deadline().value() + stood;
    h.channels.on_deadline(h.now);
    h.frame(link, 0, 1);
    h.take();

    Duration silence{};
    while (h.take_only<Channels::Unreachable>().empty()) {
      REQUIRE(silence < 60s);
      h.pass(100ms);
      silence += 100ms;
    }
    return silence;
  };
  CHECK(reported_after(4s) == reported_after(0s));
}

TEST_CASE("whose timers are late says so, and again when it gets worse") {
  LateHarness h;
  h.ready(kHigh, 1, true);
  h.channels.watch(h.now, ProcessorSet{kHigh});
  const auto told = [&h](Duration late) {
    h.now = h.channels.next_deadline().value() + late;
    h.channels.on_deadline(h.now);
    const auto outputs = h.take_only<channel::Late>();
    return outputs.empty() ? Duration::zero() : outputs.front().by;
  };

  CHECK(told(200ms) == Duration::zero());
  CHECK(told(300ms) == 300ms);
  CHECK(told(310ms) == Duration::zero());
  CHECK(told(600ms) == 600ms);
  CHECK(told(90s) == 30s);  // no more than what it is good for
}

TEST_CASE("who says that its timers were late is waited for longer, for a minute") {
  LateHarness h;
  const LinkId link = h.ready(kHigh, 1, true);
  h.channels.watch(h.now, ProcessorSet{kHigh});
  h.channels.on_frame(h.now, link, Frame{1, 0, Heartbeat{2s}});
  h.pass(10900ms);
  CHECK(h.take_only<Channels::Unreachable>().empty());
  h.pass(100ms);
  CHECK(h.take_only<Channels::Unreachable>().size() == 1);
  CHECK(h.channels.counters().accusations == 1);
  CHECK(h.channels.counters().false_alarms == 0);
}

TEST_CASE("who stands still again and again notices a death all the same") {
  LateHarness h;
  h.ready(kHigh, 1, true);
  h.channels.watch(h.now, ProcessorSet{kHigh});

  int pauses = 0;
  for (; pauses < 40 && h.take_only<Channels::Unreachable>().empty(); ++pauses) {
    h.now = h.channels.next_deadline().value() + 3s;
    h.channels.on_deadline(h.now);
  }

  CHECK(pauses < 40);
}

TEST_CASE("a standstill that is forgotten leaves the shorter ones behind that came since") {
  Lateness lateness;
  const Instant begin = Instant{} + 1000s;
  lateness.note(begin, 7s);
  lateness.note(begin + 50s, 2s);
  lateness.note(begin + 51s, 1s);
  CHECK(lateness.worst(begin + 60s) == 7s);
  CHECK(lateness.worst(begin + 90s) == 2s);
  CHECK(lateness.worst(begin + 110s) == 2s);
  CHECK(lateness.worst(begin + 141s) == Duration::zero());
}

TEST_CASE("what the first statement took is known of a way, so it is given time from the start") {
  LateHarness h;
  const LinkId link{kHigh, 1};
  h.up(link, false);  // Who dialled has it one way later, and its statement comes one way after.
  SUBCASE("a link that confirms within the time that the statement took is not given up") {
    h.pass(1400ms);
    h.frame(link, 0, 0);
    h.send(kHigh, 1);
    h.pass(2s + 2 * 1400ms - 1ms);
    CHECK(h.channels.counters().stalls == 0);
    h.pass(2ms);
    CHECK(h.channels.counters().stalls == 1);
  }
  SUBCASE("a fast statement gives no time") {
    h.pass(249ms);
    h.frame(link, 0, 0);
    h.send(kHigh, 1);
    h.pass(2s);
    CHECK(h.channels.counters().stalls == 1);
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::channel_lateness_test
