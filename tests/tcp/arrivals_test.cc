#include "runtime/tcp/arrivals.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace phx::tcp::arrivals_test {
namespace {

constexpr ClientId kOne{1}, kOther{2};

}  // namespace

TEST_SUITE_BEGIN("tcp/arrivals");

TEST_CASE("nobody looks while nothing was sent, and soon after something was") {
  Arrivals arrivals;
  const Instant now{};
  CHECK(!arrivals.next_deadline());
  arrivals.on_sent(now, kOne);
  arrivals.on_sent(now + 500us, kOther);
  CHECK(arrivals.next_deadline() == now + Arrivals::kSoon);  // more does not put it off

  arrivals.on_look(now + 1ms, {kOne, kOther});
  CHECK(!arrivals.next_deadline());
}

TEST_CASE("a tool that stops reading is looked at more and more seldom") {
  Arrivals arrivals;
  Instant now{};
  arrivals.on_sent(now, kOne);
  int looks = 0;
  for (const Instant end = now + 1min; now < end; now = *arrivals.next_deadline()) {
    arrivals.on_look(now, {});
    ++looks;
  }
  CHECK(looks < 130);

  arrivals.on_sent(now, kOther);
  CHECK(arrivals.next_deadline() == now + Arrivals::kSoon);
  arrivals.on_look(now + 1ms, {kOther});
  CHECK(arrivals.awaited().contains(kOne));
  CHECK(arrivals.next_deadline() == now + 2ms);
}

TEST_CASE("what arrives late is noticed an eighth of its time later, or a second") {
  for (const Duration takes : {3ms, 100ms, 524ms, 5000ms, 60'000ms}) {
    CAPTURE(takes / 1ms);
    Arrivals arrivals;
    Instant now{};
    arrivals.on_sent(now, kOne);
    while (*arrivals.next_deadline() < Instant{} + takes) {
      now = *arrivals.next_deadline();
      arrivals.on_look(now, {});
    }
    const Duration late = *arrivals.next_deadline() - (Instant{} + takes);
    CHECK(late <= std::min<Duration>(takes / 8 + Arrivals::kSoon, Arrivals::kSeldom));
  }
}

TEST_CASE("it is asked who is gone once in a second also while another tool reads all the time") {
  Arrivals arrivals;
  int asked = 0;
  const Instant begin = Instant{} + 1h;
  for (Instant now = begin; now < begin + 1min; now += 1ms) {
    arrivals.on_sent(now, kOne);
    arrivals.on_sent(now, kOther);
    if (arrivals.asks(now)) ++asked;
    arrivals.on_look(now, {kOther});
  }
  CHECK(asked == 60);
}

TEST_SUITE_END();

}  // namespace phx::tcp::arrivals_test
