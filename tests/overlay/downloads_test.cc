// Downloads: what is asked for, who is served, and what is known afterwards.

#include "overlay/downloads.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "tests/support/sent.h"

namespace phx::overlay::downloads_test {
namespace {

constexpr std::uint64_t kKiB = 1024;

ProcessorId p(std::uint32_t number) {
  return ProcessorId{number};
}

struct Bench {
  Bench() { downloads.on_members(now, ProcessorSet::range(p(1), p(99)), out); }

  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    return support::take_sent<M>(out, items);
  }
  /// Who was sent bytes since the last call.
  std::vector<ProcessorId> served() {
    std::vector<ProcessorId> to;
    for (const auto& [receiver, load] : sent<Load>()) {
      if (to.empty() || to.back() != receiver) to.push_back(receiver);
    }
    return to;
  }
  void ask(ProcessorId who, std::uint64_t bytes) {
    downloads.on_message(now, who, Fetch{bytes == 0 ? 0U : 1U, bytes}, out);
  }
  void request(ProcessorId peer, bool is_parent = false, Duration round_trip = 200us) {
    downloads.request(now, peer, round_trip, is_parent, out);
  }
  /// The one request that is in the air is answered in 8 parts, at so many bytes per second.
  void answer(std::uint64_t rate) {
    const auto fetches = sent<Fetch>();
    REQUIRE(fetches.size() == 1);
    const auto& [server, fetch] = fetches[0];
    const Payload part{Bytes(static_cast<std::size_t>(fetch.bytes / 8))};
    for (int i = 0; i < 8; ++i) {
      now += Duration{static_cast<Duration::rep>(part.size() * 1'000'000'000 / rate)};
      downloads.on_message(now, server, Load{fetch.number, part, 0}, out);
    }
  }

  Instant now{100s};
  Downloads downloads{DownloadsOptions{}};
  Downloads::Outbox out;
  std::vector<Downloads::Outbox::Item> items;
};

TEST_CASE("a download grows until two agree, and then the sender is told that it is enough") {
  Bench bench;
  bench.request(p(2));

  bench.answer(12'500'000);
  bench.answer(12'500'000);

  const auto last = bench.sent<Fetch>();
  REQUIRE(last.size() == 1);
  CHECK(last[0].second.bytes == 0);
  CHECK(bench.downloads.rates().rate(p(2)) == 12'500'000);
  CHECK(bench.downloads.is_idle());
}

TEST_CASE("one after the other is measured here, a parent before all others") {
  Bench bench;
  bench.request(p(2));
  bench.request(p(3));
  bench.request(p(4), true);

  const auto first = bench.sent<Fetch>();
  REQUIRE(first.size() == 1);
  CHECK(first[0].first == p(2));
  bench.downloads.on_timer(bench.now += 2s, Downloads::Timer::kPatience, bench.out);

  const auto then = bench.sent<Fetch>();
  REQUIRE(then.size() == 2);
  CHECK(then[0].first == p(2));  // its turn there is over
  CHECK(then[1].first == p(4));
  CHECK_FALSE(bench.downloads.rates().rate(p(2)).has_value());
}

TEST_CASE(
    "who could not be measured is asked again after doubling pauses, a bounded number of times") {
  Bench bench;
  std::vector<Duration> pauses;
  const auto fail = [&] {
    bench.request(p(2), true);
    Instant due = bench.now;
    for (const auto& item : bench.out.items()) {
      const auto* arm = std::get_if<Downloads::Outbox::Arm>(&item);
      if (arm != nullptr && arm->timer == Downloads::Timer::kQuiet) due = *arm->at;
    }
    pauses.push_back(due - bench.now);
    bench.downloads.on_timer(bench.now = due, Downloads::Timer::kQuiet, bench.out);
    if (bench.sent<Fetch>().empty()) return false;
    bench.downloads.on_timer(bench.now += 2s, Downloads::Timer::kPatience, bench.out);
    const auto is_failure = [](const auto& item) {
      const auto* report = std::get_if<Downloads::Report>(&item);
      return report != nullptr && std::holds_alternative<Downloads::Failed>(*report);
    };
    const auto items = bench.out.take();
    return std::any_of(items.begin(), items.end(), is_failure);
  };

  while (fail()) REQUIRE(pauses.size() < 20);

  CHECK(pauses == std::vector<Duration>{0s, 1s, 2s, 4s, 8s, 16s, 0s});
  CHECK(bench.downloads.is_idle());
  bench.downloads.on_members(bench.now, ProcessorSet::range(p(1), p(50)), bench.out);
  CHECK(fail());
}

TEST_CASE("whoever pauses after a failure is passed by") {
  Bench bench;
  bench.request(p(2), true);
  bench.downloads.on_timer(bench.now += 2s, Downloads::Timer::kPatience, bench.out);
  bench.request(p(2), true);
  bench.sent<Fetch>();

  bench.request(p(3));

  const auto next = bench.sent<Fetch>();
  REQUIRE(next.size() == 1);
  CHECK(next[0].first == p(3));
}

TEST_CASE("[Saito08 G18] one asker is served at a time, until it has enough") {
  Bench bench;
  bench.ask(p(2), 64 * kKiB);
  bench.ask(p(3), 64 * kKiB);
  bench.ask(p(4), 64 * kKiB);
  CHECK(bench.served() == std::vector{p(2)});
  bench.ask(p(2), 128 * kKiB);  // it grows
  CHECK(bench.served() == std::vector{p(2)});

  bench.ask(p(4), 0);  // does not wait any more
  bench.ask(p(2), 0);

  CHECK(bench.served() == std::vector{p(3)});
  bench.ask(p(3), 0);
  CHECK(bench.served().empty());
  CHECK(bench.downloads.is_idle());
}

TEST_CASE("whoever says nothing loses its turn, and so does one that leaves") {
  Bench bench;
  bench.ask(p(2), 64 * kKiB);
  bench.ask(p(3), 64 * kKiB);
  bench.ask(p(4), 64 * kKiB);
  CHECK(bench.served() == std::vector{p(2)});

  bench.downloads.on_timer(bench.now += 300ms, Downloads::Timer::kTurn, bench.out);
  CHECK(bench.served() == std::vector{p(3)});
  bench.downloads.on_members(bench.now, {p(1), p(4)}, bench.out);
  CHECK(bench.served() == std::vector{p(4)});
}

TEST_CASE("whoever asks again and again loses its turn after a while, and waits like the others") {
  Bench bench;
  bench.ask(p(2), 1);
  bench.ask(p(3), 64 * kKiB);
  std::optional<Instant> due;
  const auto note_turn = [&] {
    for (const auto& item : bench.out.take()) {
      const auto* arm = std::get_if<Downloads::Outbox::Arm>(&item);
      if (arm != nullptr && arm->timer == Downloads::Timer::kTurn) due = arm->at;
    }
  };
  note_turn();
  const Instant begin = bench.now;
  while (!due || bench.now < *due) {
    bench.ask(p(2), 1);
    note_turn();
    bench.now += 200ms;
    REQUIRE(bench.now < begin + 3s);
  }
  CHECK(due == begin + 2s);
  bench.downloads.on_timer(bench.now = *due, Downloads::Timer::kTurn, bench.out);
  CHECK(bench.served() == std::vector{p(3)});

  bench.ask(p(2), 1);
  CHECK(bench.served().empty());
  bench.ask(p(3), 0);
  CHECK(bench.served() == std::vector{p(2)});
}

TEST_CASE("askers that wait, and peers that wait to be measured, are limited") {
  Bench bench;
  for (std::uint32_t i = 2; i < 90; ++i) {
    bench.ask(p(i), 64 * kKiB);
    bench.request(p(i), true);
  }
  std::size_t turns = 0;
  for (std::uint32_t i = 2; i < 90; ++i) {
    turns += bench.served().size();
    bench.downloads.on_timer(bench.now += 300ms, Downloads::Timer::kTurn, bench.out);
  }
  CHECK(turns == 1 + DownloadsOptions{}.waiting_max);
  std::size_t requests = 0;
  for (std::uint32_t i = 2; i < 90; ++i) {
    for (const auto& [to, fetch] : bench.sent<Fetch>()) requests += fetch.bytes > 0 ? 1 : 0;
    bench.downloads.on_timer(bench.now, Downloads::Timer::kPatience, bench.out);
  }
  CHECK(requests == 1 + DownloadsOptions{}.queue_max);
}

TEST_CASE("[Saito08 B] ten candidates per change of the members are measured, and none twice") {
  Bench bench;
  std::size_t measured = 0;
  for (std::uint32_t i = 2; i < 40; ++i) {
    for (int twice = 0; twice < 2; ++twice) {
      bench.request(p(i));
      const auto fetches = bench.sent<Fetch>();
      if (fetches.empty()) continue;
      ++measured;
      const Payload all{Bytes(static_cast<std::size_t>(fetches[0].second.bytes))};
      bench.downloads.on_message(bench.now += 5ms, fetches[0].first,
                                 Load{fetches[0].second.number, all, 0}, bench.out);
      bench.downloads.on_timer(bench.now += 2s, Downloads::Timer::kPatience, bench.out);
      bench.items.clear();
      bench.out = {};
    }
  }
  CHECK(measured == DownloadsOptions{}.candidates);
}

TEST_CASE("[Saito08 G18] while long messages pass nothing is measured, for a while") {
  Bench bench;
  bench.downloads.on_bulk(bench.now);
  bench.request(p(2));
  CHECK(bench.sent<Fetch>().empty());

  for (int i = 0; i < 19; ++i) {
    bench.downloads.on_bulk(bench.now += 100ms);
    bench.downloads.on_timer(bench.now, Downloads::Timer::kQuiet, bench.out);
  }
  CHECK(bench.sent<Fetch>().empty());
  bench.downloads.on_timer(bench.now += 100ms, Downloads::Timer::kQuiet, bench.out);

  CHECK(bench.sent<Fetch>().size() == 1);
}

TEST_CASE("what nobody asked for changes nothing") {
  Bench bench;
  bench.downloads.on_message(bench.now, p(2), Load{1, Payload{Bytes(1000)}, 0}, bench.out);
  bench.ask(p(2), 0);
  bench.ask(p(200), 64 * kKiB);  // no member
  for (const auto timer :
       {Downloads::Timer::kPatience, Downloads::Timer::kTurn, Downloads::Timer::kQuiet}) {
    bench.downloads.on_timer(bench.now, timer, bench.out);
  }
  CHECK(bench.sent<Load>().empty());
  CHECK(bench.sent<Fetch>().empty());
  CHECK(bench.downloads.rates().size() == 0);
}

}  // namespace
}  // namespace phx::overlay::downloads_test
