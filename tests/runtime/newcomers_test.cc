#include "runtime/channels/newcomers.h"

#include <doctest/doctest.h>

#include "runtime/channels/channels.h"
#include "tests/support/channel_harness.h"

namespace phx::runtime::newcomers_test {
namespace {

using support::ChannelHarness;
using support::kHigh;
using support::kLow;

}  // namespace

TEST_SUITE_BEGIN("runtime/newcomers");

TEST_CASE("each processor is new from the first row that reaches it, and rows end") {
  Newcomers newcomers;
  const Instant now{};
  newcomers.add(now, now + 15s, ProcessorId{3});
  newcomers.add(now + 1s, now + 16s, ProcessorId{3});  // a view in which nobody is new
  newcomers.add(now + 2s, now + 17s, ProcessorId{7});

  CHECK(newcomers.until(ProcessorId{1}) == now + 15s);
  CHECK(newcomers.until(ProcessorId{3}) == now + 15s);
  CHECK(newcomers.until(ProcessorId{4}) == now + 17s);
  CHECK(newcomers.until(ProcessorId{8}) == Instant::min());
  newcomers.add(now + 17s, now + 32s, ProcessorId{8});
  CHECK(newcomers.until(ProcessorId{7}) == Instant::min());
  CHECK(newcomers.until(ProcessorId{8}) == now + 32s);
  CHECK(newcomers.until(ProcessorId{9}) == Instant::min());
}

TEST_CASE("a newcomer that was never heard of is reported after three times the time-out") {
  ChannelHarness h;
  h.channels.expect(h.now, kHigh);
  h.channels.watch(h.now, ProcessorSet{kHigh});
  SUBCASE("if nobody answers") {
    h.pass(14900ms);
    CHECK(h.take_only<Channels::Unreachable>().empty());
    h.pass(100ms);
    CHECK(h.take_only<Channels::Unreachable>().size() == 1);
    CHECK(h.channels.counters().accusations == 1);
  }
  SUBCASE("but as everybody if nobody listens there") {
    h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kGone, "refused");
    h.pass(50ms);
    h.channels.on_dial_failed(h.now, kHigh, Channels::DialFailure::kGone, "refused");
    CHECK(h.take_only<Channels::Unreachable>().size() == 1);
  }
  SUBCASE("and as everybody else once it was heard of") {
    h.ready(kHigh, 1, true);
    h.pass(4900ms);
    CHECK(h.take_only<Channels::Unreachable>().empty());
    h.pass(200ms);
    CHECK(h.take_only<Channels::Unreachable>().size() == 1);
  }
}

TEST_CASE("who has been a member for longer is no newcomer, though it was never heard of") {
  ChannelHarness h;
  h.channels.expect(h.now, kLow);
  h.pass(12s);
  h.channels.expect(h.now, kHigh);
  h.channels.watch(h.now, ProcessorSet{kLow, kHigh});
  h.pass(5s);
  const auto reported = h.take_only<Channels::Unreachable>();
  REQUIRE(reported.size() == 1);
  CHECK(reported.front().peer == kLow);
}

TEST_SUITE_END();

}  // namespace phx::runtime::newcomers_test
