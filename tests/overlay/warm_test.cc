#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "tests/support/survey_net.h"

namespace phx::overlay::warm_test {
namespace {

using support::first;
using support::p;
using support::round_robin;
using support::SurveyNet;

constexpr std::uint64_t kKiB = 1024;

/// p1, p4, ... are far from p2, p5, ... All is measured.
struct Net : SurveyNet {
  explicit Net(std::uint64_t narrow_way = kGigabit) : SurveyNet(round_robin(12, 3)) {
    far = 30ms;
    narrow[{1, 0}] = narrow_way;
    members(first(12));
    run_for(8s);
  }
  /// Part of so long a message came to p1. How much it downloads there.
  std::uint64_t hears(std::uint32_t from, std::uint64_t bytes) {
    std::uint64_t& from_there = loaded_over[{p(from), p(1)}];
    const std::uint64_t before = from_there;
    Survey::Outbox out;
    surveys.at(p(1)).on_heard(now, p(from), bytes, out);
    take(p(1), out);
    run_for(1s);
    return from_there - before;
  }
};

}  // namespace

TEST_SUITE_BEGIN("overlay/warm");

TEST_CASE("a long way that carries long messages can carry four times as much at once, soon") {
  Net net;
  REQUIRE(net.windows[{p(5), p(1)}].bytes < 64 * kKiB);
  CHECK(net.hears(5, 64 * kKiB) == 512 * kKiB);
  CHECK(net.windows[{p(5), p(1)}].bytes >= 256 * kKiB);
  CHECK(net.hears(5, 64 * kKiB) == 0);
  CHECK(net.hears(5, 16 * kKiB) == 0);
  net.run_for(4s);  // patrols
  CHECK(net.hears(5, 256 * kKiB) == 2048 * kKiB);
  CHECK(net.hears(5, 1024 * kKiB) == 4096 * kKiB);
  CHECK(net.hears(5, 2048 * kKiB) == 0);  // That was the most.
}

TEST_CASE("what comes together counts, in whatever pieces, and what comes later does not") {
  Net net;
  Survey::Outbox out;
  const std::uint64_t before = net.loaded_over[{p(5), p(1)}];
  for (int piece = 0; piece < 8; ++piece) {
    net.surveys.at(p(1)).on_heard(net.now, p(5), 8 * kKiB, out);
    net.take(p(1), out);
    net.run_for(20ms);
  }
  net.run_for(1s);
  CHECK(net.loaded_over[{p(5), p(1)}] - before == 512 * kKiB);
  for (int piece = 0; piece < 8; ++piece) CHECK(net.hears(5, 32 * kKiB) == 0);
  net.surveys.at(p(1)).expect(net.now, p(5), 64 * kKiB, out);
  net.take(p(1), out);
  CHECK(net.hears(5, 32 * kKiB) == 0);
}

TEST_CASE("while long messages come nothing is warmed, for 2 s, and what carried much is warm") {
  Net net;
  Survey& survey = net.surveys.at(p(1));
  Survey::Outbox out;
  const auto stream = [&](std::uint32_t from, std::uint64_t bytes, Duration time) {
    const std::uint64_t before = net.loaded_over[{p(from), p(1)}];
    for (const Instant end = net.now + time; net.now < end;) {
      survey.on_heard(net.now, p(from), bytes, out);
      net.take(p(1), out);
      net.run_for(100ms);
    }
    return net.loaded_over[{p(from), p(1)}] - before;
  };
  CHECK(stream(5, 32 * kKiB, 1900ms) == 0);
  net.run_for(1s);
  CHECK(net.loaded_over[{p(5), p(1)}] > 512 * kKiB);
  CHECK(stream(2, 32 * kKiB, 3s) >= 512 * kKiB);
  CHECK(stream(3, 4096 * kKiB, 500ms) == 0);
  const std::uint64_t before = net.loaded_over[{p(3), p(1)}];
  net.run_for(2s);
  CHECK(net.loaded_over[{p(3), p(1)}] == before);
}

TEST_CASE("nothing is warmed while a stream fills the interface, but then") {
  Net net;
  Survey& survey = net.surveys.at(p(1));
  Survey::Outbox out;
  const auto stream = [&](std::uint64_t rate, Duration time) {
    const std::uint64_t before = net.loaded_over[{p(5), p(1)}];
    for (const Instant end = net.now + time; net.now < end;) {
      net.carried[p(1)].taken += rate / 10;
      survey.on_heard(net.now, p(5), 32 * kKiB, out);
      net.take(p(1), out);
      net.run_for(100ms);
    }
    return net.loaded_over[{p(5), p(1)}] - before;
  };
  std::uint64_t& first = net.loaded_over[{p(2), p(1)}];
  const std::uint64_t before = first;
  survey.expect(net.now, p(2), 64 * kKiB, out);  // is asked for before p5, so p5 waits for it
  net.take(p(1), out);
  CHECK(stream(kGigabit * 6 / 10, 10s) == 0);
  CHECK(first == before);
  CHECK(stream(kGigabit * 4 / 10, 5s) >= 512 * kKiB);
}

TEST_CASE("a new connection is cold again, and a near one need not be warm") {
  Net net;
  CHECK(net.hears(5, 64 * kKiB) == 512 * kKiB);
  net.surveys.at(p(1)).on_connected(p(5));
  CHECK(net.hears(5, 64 * kKiB) == 512 * kKiB);
  CHECK(net.hears(4, 2048 * kKiB) == 0);
}

// 60 ms at 4 MB/s are 240 kB: a wider window would only fill queues.
TEST_CASE("a narrow way is warmed for twice what it holds, and a very narrow one never") {
  Net narrow(4'000'000);
  const std::uint64_t loaded = narrow.hears(5, 2048 * kKiB);
  CHECK(loaded >= 240'000);
  CHECK(loaded <= 3 * 240'000);
  Net thin(400'000);
  CHECK(thin.hears(5, 2048 * kKiB) == 0);
}

TEST_CASE("a way is not warmed before it is known how narrow it is, but then") {
  for (const std::uint64_t interface : {SurveyNet::kGigabit, std::uint64_t{1'250'000}}) {
    CAPTURE(interface);
    SurveyNet net(round_robin(12, 3));
    net.far = 30ms;
    for (const ProcessorId id : first(12).ids()) net.slow[id] = interface;
    net.members(first(12));
    net.run_for(900ms);
    REQUIRE(net.common().sites.size() == 3);
    std::uint64_t before = net.loaded;
    Survey::Outbox out;
    net.surveys.at(p(1)).on_heard(net.now, p(5), 64 * kKiB, out);
    net.take(p(1), out);
    net.run_for(400ms);
    CHECK(net.loaded - before <= 12 * 64 * kKiB);  // Bandwidths are being measured.
    before = net.loaded_over[{p(5), p(1)}];
    net.run_for(7s);
    const std::uint64_t warming = net.loaded_over[{p(5), p(1)}] - before;
    const std::uint64_t holds = interface * 60 / 1000;
    CHECK(warming >= std::min(512 * kKiB, 2 * holds * 9 / 10));
  }
}

TEST_CASE("ways are warmed one after the other, and tasks go before") {
  Net net;
  Survey::Outbox out;
  Survey& survey = net.surveys.at(p(1));
  std::uint64_t total = 0;
  std::map<std::uint32_t, std::uint64_t> before;
  for (std::uint32_t from = 1; from <= 12; ++from) before[from] = net.loaded_over[{p(from), p(1)}];
  for (const std::uint32_t from : {2U, 3U, 5U, 6U, 8U, 9U, 11U, 12U}) {
    survey.on_heard(net.now, p(from), 64 * kKiB, out);
    survey.on_heard(net.now, p(from), 64 * kKiB, out);
  }
  net.take(p(1), out);
  net.run_for(200ms);
  SurveyTask task;
  task.round = 1'000'000;
  task.downloads = {{p(4), 64 * kKiB, {}}};
  survey.on_message(net.now, p(1), task, out);
  net.take(p(1), out);
  net.run_for(3s);
  for (const std::uint32_t from : {2U, 3U, 5U, 6U, 8U, 9U, 11U, 12U}) {
    CAPTURE(from);
    CHECK(net.loaded_over[{p(from), p(1)}] - before[from] >= 1024 * kKiB);
    total += net.loaded_over[{p(from), p(1)}] - before[from];
  }
  // Two of them twice, because the task came meanwhile, and a patrol.
  CHECK(total <= 10 * 1024 * kKiB);
  CHECK(net.loaded_over[{p(4), p(1)}] - before[4] == 64 * kKiB);
}

TEST_CASE("who leaves, or has lost the other one, warms nothing") {
  Net net;
  Survey& survey = net.surveys.at(p(1));
  Survey::Outbox out;
  survey.on_heard(net.now, p(5), 64 * kKiB, out);
  survey.on_heard(net.now, p(2), 64 * kKiB, out);
  net.take(p(1), out);
  ProcessorSet rest = first(12);
  rest.erase(p(5));
  net.members(rest);
  const std::uint64_t before = net.windows[{p(5), p(1)}].bytes;
  net.run_for(1s);
  CHECK(net.windows[{p(5), p(1)}].bytes == before);
  CHECK(net.windows[{p(2), p(1)}].bytes >= 256 * kKiB);
  survey.on_heard(net.now, p(3), 64 * kKiB, out);
  survey.leave(net.now, out);
  net.take(p(1), out);
  const std::uint64_t loaded = net.loaded;
  net.run_for(500ms);
  CHECK(net.loaded == loaded);
}

TEST_SUITE_END();

}  // namespace phx::overlay::warm_test
