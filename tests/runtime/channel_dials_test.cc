#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/channel_harness.h"

namespace phx::runtime::channel_dials_test {
namespace {

using support::kHigh;
using support::kLow;
using Harness = support::ChannelHarness;
using Texts = std::vector<std::string>;

constexpr ProcessorId kFellow{3};   // on this machine
constexpr ProcessorId kOutside{4};  // on another one

void hear(Harness& h, ProcessorId from) {
  static_cast<void>(h.ready(from, 100 + h.channels.counters().links, false));
}

/// A row of refusals, until it is reported or `most` has passed: how long that took, and its dials.
/// `heard` is, as it begins.
struct Row {
  std::optional<Duration> lasted;
  std::uint64_t dials = 1;
};
Row refuse(Harness& h, Channels::DialFailure how, Duration most, ProcessorId heard = kOutside) {
  Row row;
  if (heard != kNobody) hear(h, heard);
  const Instant begin = h.now;
  const auto answer = [&] { h.channels.on_dial_failed(h.now, kHigh, how, "connection refused"); };
  const auto is_reported = [&] {
    const auto reports = h.take_only<Channels::Unreachable>();
    for (const auto& report : reports) CHECK(report.detail == "connection refused");
    if (!reports.empty()) row.lasted = h.now - begin;
    return !reports.empty();
  };
  std::uint64_t answered = h.channels.counters().dials;
  for (answer(); !is_reported() && h.now < begin + most; h.pass(1ms)) {
    if (h.channels.counters().dials == answered) continue;
    answered = h.channels.counters().dials;
    ++row.dials;
    answer();
    if (is_reported()) break;
  }
  return row;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/channel dials");

TEST_CASE(
    "dials when there is something to send, and sends it at once to one that can have nothing") {
  Harness h;

  h.send(kHigh, 1);
  CHECK(h.take_only<Channels::Connect>().size() == 1);
  h.up({kHigh, 1}, true);

  CHECK(h.take_frames() == Texts{"1:0/0", "1:1/0"});
}

TEST_CASE("after a break, and where the other side dialled, it waits for its statement") {
  Harness h;
  h.send(kHigh, 1);
  h.up({kHigh, 1}, true);
  h.channels.on_link_down(h.now, {kHigh, 1});
  h.send(kLow, 1);
  h.take();

  h.up({kHigh, 2}, true);
  CHECK(h.take_frames() == Texts{"2:0/0"});
  h.up({kLow, 1}, false);
  CHECK(h.take_frames() == Texts{"1:0/0"});
  h.frame({kHigh, 2}, 0, 1);
  CHECK(h.take_frames().empty());
  h.frame({kLow, 1}, 0, 0);
  CHECK(h.take_frames() == Texts{"1:1/0"});
}

TEST_CASE("when all is confirmed the next link need not wait for what the peer says") {
  Harness h;
  h.send(kHigh, 1);
  h.up({kHigh, 1}, true);
  h.frame({kHigh, 1}, 0, 0);
  h.frame({kHigh, 1}, 0, 1);
  h.channels.on_link_down(h.now, {kHigh, 1});
  h.send(kHigh, 2);
  h.take();

  h.up({kHigh, 2}, true);

  CHECK(h.take_frames() == Texts{"2:0/0", "2:2/0"});
}

TEST_CASE(
    "a link that may be needed is dialled once, nobody is accused if that fails, and it ends") {
  Harness h;
  h.channels.open(h.now, kHigh);
  h.channels.open(h.now, kHigh);
  CHECK(h.take_only<Channels::Connect>().size() == 1);

  h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kRefused, "refused");
  h.pass(60s);
  CHECK(h.take().empty());
  h.send(kHigh, 1);
  CHECK(h.take_only<Channels::Connect>().size() == 1);  // At once.
  h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kRefused, "refused");
  CHECK(h.take_only<Channels::Unreachable>().empty());  // It takes two of one need.

  h.channels.open(h.now, kLow);
  CHECK(h.take_only<Channels::Connect>().size() == 1);
  h.up({kLow, 1}, true);
  h.frame({kLow, 1}, 0, 0);
  h.channels.open(h.now, kLow);
  CHECK(h.take_only<Channels::Connect>().empty());
  h.pass(ChannelOptions{}.idle_timeout + 1s);
  CHECK(h.take_only<Hangup>().size() == 1);
  h.channels.check_invariants();
}

TEST_CASE("on this machine two refused dials in a row are the proof that nobody is there") {
  Harness h;
  h.send(kHigh, 1);
  h.take();
  const Row row = refuse(h, Channels::DialFailure::kGone, 2s);
  CHECK(row.lasted == 50ms);
  CHECK(row.dials == 2);
}

TEST_CASE("another machine's refusals are reported when they have lasted for a second") {
  Harness h;
  h.send(kHigh, 1);
  h.take();
  const Row row = refuse(h, Channels::DialFailure::kRefused, 2s);
  CHECK(row.lasted == 1s);
  CHECK(row.dials == 6);  // After 50, 150, 350 and 750 ms, and when the second is over.

  SUBCASE("and again when they have lasted for another one") {
    CHECK(refuse(h, Channels::DialFailure::kRefused, 2s).lasted == 1s);
  }
  SUBCASE("a dial that says nothing begins a new row") {
    (void)refuse(h, Channels::DialFailure::kRefused, 900ms);
    h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kNoWay, "no route");
    CHECK(refuse(h, Channels::DialFailure::kRefused, 2s).lasted == 1s);
  }
}

TEST_CASE("a firewall that refuses for less than a second is nobody's death") {
  Harness h;
  h.send(kHigh, 1);
  h.take();
  CHECK_FALSE(refuse(h, Channels::DialFailure::kRefused, 999ms).lasted.has_value());
  h.up({kHigh, 1}, true);
  h.frame({kHigh, 1}, 0, 1);
  h.channels.on_link_down(h.now, {kHigh, 1});
  h.send(kHigh, 2);
  h.take();
  CHECK(refuse(h, Channels::DialFailure::kRefused, 2s).lasted == 1s);
}

TEST_CASE("refusals count only while somebody on another machine is heard") {
  Harness h;
  h.channels.know_fellows(ProcessorSet::range(kFellow, kFellow));
  hear(h, kOutside);  // Before: this machine's firewall may have been loaded since.
  h.pass(1ms);
  h.send(kHigh, 1);
  h.take();
  const auto how = Channels::DialFailure::kRefused;
  SUBCASE("nobody is, and the silence is reported when it has lasted as long as any") {
    CHECK_FALSE(refuse(h, how, 4900ms, kNobody).lasted.has_value());
    h.pass(200ms);
    const auto reports = h.take_only<Channels::Unreachable>();
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].why == Departure::kUnreachable);
  }
  SUBCASE("a fellow on this machine is behind the same firewall") {
    CHECK_FALSE(refuse(h, how, 4900ms, kFellow).lasted.has_value());
  }
  SUBCASE("the next refusal counts when one is heard late") {
    CHECK_FALSE(refuse(h, how, 1500ms, kNobody).lasted.has_value());
    hear(h, kOutside);
    CHECK(refuse(h, how, 2s, kNobody).lasted <= Duration{1s});
  }
  SUBCASE("one who accuses the peer from another machine is heard") {
    hear(h, kOutside);
    h.channels.doubt(h.now, kHigh);
    h.pass(1ms);
    CHECK(refuse(h, how, 2s, kNobody).lasted == 50ms);
  }
  SUBCASE("one who accuses it from this machine is not") {
    hear(h, kFellow);
    h.channels.doubt(h.now, kHigh);
    CHECK_FALSE(refuse(h, how, 4900ms, kNobody).lasted.has_value());
  }
}

TEST_CASE("refusals of a need that is over count for no later one") {
  Harness h;
  h.channels.watch(h.now, ProcessorSet{kHigh});
  h.take();
  CHECK_FALSE(refuse(h, Channels::DialFailure::kRefused, 500ms).lasted.has_value());
  h.channels.watch(h.now, ProcessorSet{});
  h.pass(60s);
  h.channels.watch(h.now, ProcessorSet{kHigh});
  h.take();
  CHECK(refuse(h, Channels::DialFailure::kRefused, 2s).lasted == 1s);
}

TEST_CASE("a refusal that waited for this processor counts from its dial") {
  Harness h;
  h.send(kHigh, 1);
  h.take();
  CHECK_FALSE(refuse(h, Channels::DialFailure::kRefused, 50ms).lasted.has_value());
  h.now += 5s;  // It stands still before it reads the answer to the second dial.
  h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kRefused, "connection refused");
  CHECK(h.take_only<Channels::Unreachable>().empty());
}

TEST_CASE("whom others accuse two refused dials confirm until it answers") {
  Harness h;
  SUBCASE("before the first one") {
    h.channels.doubt(h.now, kHigh);
    h.send(kHigh, 1);
    h.take();
    CHECK(refuse(h, Channels::DialFailure::kRefused, 2s).lasted == 50ms);
  }
  SUBCASE("in the middle of a row, which goes on at once") {
    h.send(kHigh, 1);
    h.take();
    CHECK_FALSE(refuse(h, Channels::DialFailure::kRefused, 500ms).lasted.has_value());
    h.channels.doubt(h.now, kHigh);
    h.pass(1ms);
    CHECK(h.take_only<Channels::Connect>().size() == 1);
    CHECK(refuse(h, Channels::DialFailure::kRefused, 2s).lasted == 0ms);  // The row goes on.
  }
  SUBCASE("and then a row has to last again") {
    h.channels.doubt(h.now, kHigh);
    h.send(kHigh, 1);
    h.up({kHigh, 1}, true);
    h.frame({kHigh, 1}, 0, 1);
    h.channels.on_link_down(h.now, {kHigh, 1});
    h.send(kHigh, 2);
    h.take();
    CHECK(refuse(h, Channels::DialFailure::kRefused, 2s).lasted == 1s);
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::channel_dials_test
