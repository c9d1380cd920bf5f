#include "overlay/survey/standstills.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <ratio>
#include <vector>

#include "overlay/survey/waits.h"
#include "tests/support/survey_net.h"

namespace phx::overlay::standstills_test {
namespace {

using support::first;
using support::p;
using support::round_robin;
using Net = support::SurveyNet;

/// One processor's timers, and when it runs: `run` of each `run` + `still`.
class Timers {
 public:
  void pause(Duration still, Duration run) {
    still_ = still;
    run_ = run;
    begun_ = now_;
  }
  /// A timer of something else fires each 70 ms.
  void run_for(Duration time) {
    const Instant end = now_ + time;
    while (now_ < end) {
      const Instant due = std::min(other_, look_.value_or(other_));
      now_ = std::max(now_, due);
      if (is_still(now_)) now_ = begun_ + ((now_ - begun_) / (still_ + run_) + 1) * (still_ + run_);
      Standstills::Outbox out;
      if (look_ && *look_ <= now_) {
        look_.reset();
        ++looks;
        standstills.on_timer(now_, out);
      }
      if (other_ <= now_) {
        standstills.on_late(now_, now_ - other_, out);
        other_ = now_ + 70ms;
      }
      for (auto& item : out.take()) {
        if (auto* arm = std::get_if<Standstills::Outbox::Arm>(&item)) look_ = arm->at;
        if (std::holds_alternative<Standstills::News>(item)) news.push_back(standstills.wait());
      }
    }
  }

  Standstills standstills{{}, Rng(7)};
  std::vector<Duration> news;
  std::uint64_t looks = 0;

 private:
  [[nodiscard]] bool is_still(Instant at) const {
    return still_ > Duration{} && (at - begun_) % (still_ + run_) >= run_;
  }

  Duration still_{};
  Duration run_{};
  Instant begun_{};
  Instant now_{};
  Instant other_{};
  std::optional<Instant> look_;
};

/// `who` says that.
void wait(Net& net, ProcessorId who, Duration wait) {
  Survey::Outbox out;
  Survey& surveyor = net.surveys.at(net.live.front());
  surveyor.on_message(net.now, who,
                      SurveyReport{.round = 0, .version = surveyor.version(), .wait = wait}, out);
  net.take(net.live.front(), out);
}

}  // namespace

TEST_SUITE_BEGIN("overlay/standstills");

TEST_CASE("the mean wait is that of a message at any moment") {
  // still^2 / 2 (still + run)
  for (const auto& [still, run] :
       {std::pair{90ms, 10ms}, {300ms, 300ms}, {80ms, 20ms}, {400ms, 100ms}}) {
    const auto milliseconds = still.count();
    CAPTURE(milliseconds);
    Timers timers;
    timers.run_for(3s);
    CHECK(timers.looks == 0);
    timers.pause(still, run);
    timers.run_for(10s);
    REQUIRE_FALSE(timers.news.empty());
    const double wanted = static_cast<double>(still.count() * still.count()) /
                          static_cast<double>(2 * (still + run).count());
    const double got = std::chrono::duration<double, std::milli>(timers.news.front()).count();
    CHECK(got > 0.7 * wanted);
    CHECK(got < 1.4 * wanted);
    CHECK(timers.news.size() == 1);
  }
}

TEST_CASE("a processor that is well is not looked at and one that slept once not for long") {
  Timers timers;
  timers.run_for(60s);
  CHECK(timers.looks == 0);
  timers.pause(60s, 30s);
  timers.run_for(40s);
  timers.pause({}, {});
  timers.run_for(600s);
  CHECK(timers.news.empty());
  CHECK(timers.looks > 0);
  CHECK(timers.looks < 200);
}

TEST_CASE("what is short, or seldom, is nobody's concern") {
  for (const auto& [still, run] : {std::pair{20ms, 10ms}, {90ms, 910ms}, {100ms, 600ms}}) {
    Timers timers;
    timers.pause(still, run);
    timers.run_for(60s);
    CHECK(timers.news.empty());
  }
}

TEST_CASE("bad seconds that are far apart are no news and do not add up") {
  Timers timers;
  for (int i = 0; i < 20; ++i) {
    timers.pause(700ms, 300ms);  // One or two of them each 30 s, beside a little waiting.
    timers.run_for(1s);
    timers.pause(30ms, 25ms);
    timers.run_for(30s);
  }
  CHECK(timers.news.empty());
}

TEST_CASE("it is told when it is over and the later the oftener it comes again") {
  Timers timers;
  std::vector<std::size_t> seconds;
  for (int i = 0; i < 6; ++i) {
    timers.pause(90ms, 10ms);
    timers.run_for(5s);
    REQUIRE(timers.standstills.wait() > Duration{});
    timers.pause({}, {});
    std::size_t passed = 0;
    while (timers.standstills.wait() > Duration{} && passed < 200) {
      timers.run_for(1s);
      ++passed;
    }
    seconds.push_back(passed);
  }
  CHECK(seconds.front() <= 7);
  CHECK(seconds[1] >= 9);
  CHECK(seconds[2] >= 18);
  CHECK(seconds.back() >= 70);
  CHECK(seconds.back() <= 100);
  CHECK(timers.news.size() == 12);
}

TEST_CASE("who stands still much longer than before says so, once") {
  Timers timers;
  timers.pause(80ms, 20ms);
  timers.run_for(10s);
  REQUIRE(timers.news.size() == 1);
  timers.pause(400ms, 50ms);
  timers.run_for(20s);
  CHECK(timers.news.size() == 2);
  CHECK(timers.news.back() > 3 * timers.news.front());
}

// One report, and one update for each other member, at any size.
TEST_CASE("what it costs when somebody stands still") {
  for (const std::uint32_t processors : {8U, 64U, 512U}) {
    CAPTURE(processors);
    Net net(round_robin(processors, 2));
    net.members(first(processors));
    net.run_for(4s);
    const std::uint64_t before = net.sent;
    wait(net, p(5), 45ms);
    net.run_for(150ms);
    CHECK(net.sent - before == processors - 1);
    CHECK(net.common().ability(p(5)).wait == 32ms);
    wait(net, p(5), 50ms);  // The same power of two.
    net.run_for(150ms);
    CHECK(net.sent - before == processors - 1);
    net.run_for(3s);
    const std::uint64_t later = net.sent;
    wait(net, p(5), Duration{});
    net.run_for(150ms);
    CHECK(net.sent - later == processors - 1);
    CHECK_FALSE(net.common().odd.contains(p(5)));
  }
}

// At most once in 2.5 s, whoever says what and however often.
TEST_CASE("news of waits without end cost four updates in ten seconds") {
  Net net(round_robin(24, 2));
  net.members(first(24));
  net.run_for(4s);
  const std::uint64_t before = net.sent;
  for (int i = 0; i < 1000; ++i) {
    wait(net, p(5), i % 2 == 0 ? 64ms : Duration{});
    wait(net, p(6), i % 3 == 0 ? 64ms : 1s);
    net.run_for(10ms);
  }
  // Besides them there are two patrols.
  CHECK(net.sent - before <= 5 * 23 + 200);
  wait(net, p(5), Duration{});
  wait(net, p(6), 64ms);
  net.run_for(3s);
  CHECK_FALSE(net.common().ability(p(5)).wait);
  CHECK(net.common().ability(p(6)).wait == 64ms);
}

TEST_CASE("a leaver looks no more and says nothing") {
  Net net(round_robin(8, 1));
  net.members(first(8));
  net.run_for(4s);
  Survey::Outbox out;
  net.surveys.at(p(3)).on_late(net.now, 90ms, out);
  CHECK_FALSE(out.empty());
  net.take(p(3), out);
  net.surveys.at(p(3)).leave(net.now, out);
  net.take(p(3), out);
  net.surveys.at(p(3)).on_late(net.now, 90ms, out);
  CHECK(out.empty());
}

TEST_CASE("where most of a site stand still nobody is named but who is much worse") {
  Net net(round_robin(16, 2));
  net.members(first(16));
  net.run_for(4s);
  for (const std::uint32_t id : {1U, 3U, 5U, 7U, 9U}) wait(net, p(id), 40ms);
  wait(net, p(11), 200ms);
  wait(net, p(2), 40ms);  // In the other site.
  net.run_for(1s);
  CHECK_FALSE(net.common().ability(p(3)).wait);
  CHECK(net.common().ability(p(11)).wait == 128ms);
  CHECK(net.common().ability(p(2)).wait == 32ms);
}

TEST_CASE("of two in a site the one that stands still is named, and one that is alone") {
  Net net({0, 0, 1});
  net.members(first(3));
  net.run_for(4s);
  wait(net, p(2), 40ms);
  wait(net, p(3), 40ms);
  net.run_for(1s);
  CHECK(net.common().ability(p(2)).wait == 32ms);
  CHECK(net.common().ability(p(3)).wait == 32ms);
}

TEST_CASE("the next surveyor knows who stands still, and hears when that is over") {
  Net net(round_robin(12, 1));
  net.members(first(12));
  net.run_for(4s);
  wait(net, p(5), 45ms);
  net.run_for(1s);
  // p5 has no wait of its own to tell: it stands still no more, says the first message to the next.
  net.mute.insert(p(5));
  net.members(ProcessorSet::range(p(2), p(12)));
  net.run_for(2s);
  CHECK(net.surveys.at(p(7)).network().ability(p(5)).wait == 32ms);
  net.mute.clear();
  net.members(ProcessorSet::range(p(3), p(12)));
  net.run_for(2s);
  CHECK_FALSE(net.common().ability(p(5)).wait);
}

TEST_CASE("lies about waits make nobody but the liar a leaf") {
  Net net(round_robin(12, 1));
  net.members(first(12));
  net.run_for(4s);
  const KnownNetwork before = net.common();
  for (const Duration lie : {Duration{-5}, Duration::min(), Duration::max()}) wait(net, p(5), lie);
  wait(net, p(99), 1s);
  net.run_for(1s);
  KnownNetwork after = net.common();
  CHECK(after.odd.at(p(5)).wait <= 60s);
  after.odd.erase(p(5));
  CHECK(after == before);
}

TEST_CASE("no more than so many are named") {
  Waits waits;
  KnownNetwork network;
  network.sites.push_back({"", first(1000), 150us});
  for (std::uint32_t id = 1; id <= 400; ++id) CHECK(waits.set(p(id), 50ms));
  waits.fill(network);
  CHECK(network.odd.size() == Waits::kNamedMost);
  CHECK(without_waits(network).odd.empty());
  waits.keep_only(ProcessorSet::range(p(399), p(1000)));
  network.odd.clear();
  waits.fill(network);
  CHECK(network.odd.size() == 2);
}

TEST_SUITE_END();

}  // namespace phx::overlay::standstills_test
