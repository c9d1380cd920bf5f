#include "overlay/survey/complaints.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "tests/support/seeds.h"
#include "tests/support/survey_net.h"

namespace phx::overlay::complaints_test {
namespace {

using support::first;
using support::p;
using support::round_robin;
using Net = support::SurveyNet;

constexpr std::uint64_t kGigabit = Net::kGigabit;

/// What its channels tell it.
void pace(Net& net, ProcessorId from, ProcessorId to, std::uint64_t rate) {
  Survey::Outbox out;
  net.surveys.at(from).on_paced(net.now, to, {rate, rate}, out);
  net.take(from, out);
}

/// Whatever it knows, it says this.
void complain(Net& net, ProcessorId from, ProcessorId to, std::uint64_t rate) {
  Survey& surveyor = net.surveys.at(net.live.front());
  Survey::Outbox out;
  surveyor.on_message(
      net.now, from,
      SurveyReport{0, {}, std::nullopt, surveyor.version(), {{to, rate, rate, 0, 0}}}, out);
  net.take(net.live.front(), out);
}

// README, "Complaints", cost: because of one there are so many downloads at most, of so many
// messages and bytes each, where interfaces are of 1 Gbit/s.
constexpr std::uint64_t kDownloads = 8;
constexpr std::uint64_t kMessages = 30;
constexpr std::uint64_t kBytes = std::uint64_t{448} << 10U;

struct Spent {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  ///< Of measurements.
};

}  // namespace

TEST_SUITE_BEGIN("overlay/complaints");

// A complaint of each sender, the network told twice, some downloads.
TEST_CASE("what it costs when all senders to a slow processor complain at once" *
          phx::support::long_search()) {
  for (const std::uint32_t sites : {1U, 4U}) {
    for (const std::uint32_t processors : {16U, 256U, 1024U}) {
      CAPTURE(sites);
      CAPTURE(processors);
      Net net(round_robin(processors, sites));
      net.members(first(processors));
      net.run_for(4s);
      const Spent before{net.sent, net.loaded};
      net.slow[p(8)] = kGigabit / 10;
      for (const ProcessorId sender : net.live.ids()) {
        if (sender != p(8)) pace(net, sender, p(8), kGigabit / 10 / processors);
      }
      net.run_for(1500ms);
      const Spent spent{net.sent - before.messages, net.loaded - before.bytes};
      MESSAGE(processors << " processors, " << sites << " sites: " << spent.messages
                         << " messages, " << (spent.bytes >> 10U) << " KiB measured");
      CHECK(net.common().odd.contains(p(8)));
      CHECK(spent.messages <= 3 * processors + kDownloads * kMessages);
      CHECK(spent.bytes <= kDownloads * kBytes);
    }
  }
}

TEST_CASE("a complaint that nothing can come of is no reason to pass the next one by") {
  Net net(round_robin(24, 3));
  net.members(first(24));
  net.run_for(3s);
  const std::uint64_t tasks = net.tasks;
  for (const std::uint64_t rate :
       {std::uint64_t{0}, kGigabit / 2, kGigabit * 100, ~std::uint64_t{0}}) {
    complain(net, p(4), p(8), rate);
  }
  complain(net, p(8), p(8), kGigabit / 10);
  complain(net, p(4), p(99), kGigabit / 10);
  complain(net, p(99), p(8), kGigabit / 10);
  net.run_for(500ms);
  CHECK(net.tasks == tasks);
  net.slow[p(8)] = kGigabit / 10;
  pace(net, p(5), p(8), kGigabit / 10);
  net.run_for(1s);
  CHECK(net.common().odd.contains(p(8)));
}

TEST_CASE("of one processor few complaints are measured, whomever it complains of") {
  Complaints complaints({});
  std::uint32_t taken = 0;
  for (std::uint32_t id = 1; id <= 50; ++id) {
    if (complaints.take(Instant{} + 1s, p(99), p(id))) ++taken;
  }
  CHECK(taken == ComplaintOptions{}.each);
  CHECK(complaints.take(Instant{} + 1s, p(98), p(50)));
  CHECK(complaints.take(Instant{} + 12s, p(99), p(49)));
}

// For example of many links that share a busy network.
TEST_CASE("complaints without end put no patrol off") {
  Net net(round_robin(24, 2));
  net.members(first(24));
  net.run_for(3s);
  REQUIRE(net.common().way(p(1), p(2)).latency == 3ms);
  net.far = 30ms;
  for (std::uint32_t i = 0; i < 24; ++i) {
    complain(net, p(1 + (i + 8) % 24), p(1 + i), kGigabit / 10);
    net.run_for(500ms);
  }
  CHECK(net.common().way(p(1), p(2)).latency == 30ms);
}

/// Complains of everybody but p8 all the time, and sends nothing of what it is asked for, or
/// slowly.
Spent spent_for_liar(Net& net, ProcessorId liar, Duration time) {
  const Spent before{net.sent, net.loaded};
  for (Duration done{}; done < time; done += 20ms) {
    for (const ProcessorId other : net.live.ids()) {
      if (other != p(8)) complain(net, liar, other, kGigabit / 100);
    }
    net.run_for(20ms);
  }
  return {net.sent - before.messages, net.loaded - before.bytes};
}

TEST_CASE("whoever complains falsely all the time costs little, and others are heard") {
  for (const std::uint32_t sites : {1U, 3U}) {
    for (const bool is_mute : {false, true}) {
      CAPTURE(sites);
      CAPTURE(is_mute);
      Net net(round_robin(48, sites));
      net.members(first(48));
      net.run_for(3s);
      if (is_mute) net.mute.insert(p(4));
      if (!is_mute) net.slow[p(4)] = kGigabit / 50;
      const Spent spent = spent_for_liar(net, p(4), 30s);
      MESSAGE(sites << " sites, " << (is_mute ? "mute" : "slow") << ": " << spent.messages
                    << " messages, " << (spent.bytes >> 10U) << " KiB measured in 30 s");
      // Those of four times ten seconds may have begun, and six patrols.
      constexpr std::uint64_t kTaken = 4 * 4;
      CHECK(spent.messages <= kTaken * (kDownloads * kMessages + 2 * 48) + 6 * 100);
      CHECK(spent.bytes <= kTaken * kDownloads * kBytes + 6 * sites * (std::uint64_t{768} << 10U));
      net.slow[p(8)] = kGigabit / 10;
      pace(net, p(5), p(8), kGigabit / 10);
      static_cast<void>(spent_for_liar(net, p(4), 8s));
      CHECK(net.surveys.at(p(2)).network().odd.contains(p(8)));
    }
  }
}

TEST_CASE("a member that says that it knows the last of all versions stops no later ones") {
  Net net(round_robin(12, 1));
  net.members(first(12));
  net.run_for(3s);
  Survey::Outbox out;
  for (const std::uint64_t number : {~std::uint64_t{0}, (std::uint64_t{1} << 32U) - 1}) {
    net.surveys.at(p(1)).on_message(net.now, p(4),
                                    SurveyReport{0, {}, std::nullopt, {number, p(4)}, {}}, out);
    net.take(p(1), out);
  }
  net.run_for(1s);
  net.slow[p(8)] = kGigabit / 10;
  pace(net, p(5), p(8), kGigabit / 10);
  net.run_for(1s);
  CHECK(net.common().odd.contains(p(8)));
}

TEST_CASE("a patrol is over when the last one that it waits for has left") {
  Net net(round_robin(12, 2));
  net.members(first(12));
  net.run_for(3s);
  net.mute.insert(p(2));
  const std::uint64_t before = net.tasks;
  while (net.tasks == before) REQUIRE(net.step(net.now + 10s));
  net.run_for(3s);  // The others have reported.
  net.members(first(12).minus(ProcessorSet{p(2)}));
  const std::uint64_t tasks = net.tasks;
  net.run_for(6s);
  CHECK(net.tasks > tasks);
}

TEST_CASE("a newcomer of whom a view tells late is placed though a download is over just then") {
  Net net(round_robin(12, 2));
  net.members(first(11));
  net.run_for(3s);
  net.mute.insert(p(8));
  pace(net, p(5), p(8), kGigabit / 10);
  net.run_for(1s);  // Downloads to p8 are awaited.
  Survey::Outbox out;
  net.surveys.at(p(1)).on_message(net.now, p(12), SurveyReport{0, {}, std::nullopt, {}, {}}, out);
  net.take(p(1), out);
  net.mute.insert(p(12));  // It says so once.
  net.members(first(12).minus(ProcessorSet{p(8)}));
  net.mute.erase(p(12));
  net.run_for(2s);
  CHECK(net.surveys.at(p(1)).network().site_of(p(12)).has_value());
}

TEST_SUITE_END();

}  // namespace phx::overlay::complaints_test
