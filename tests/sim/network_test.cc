#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/sim/network.h"

namespace network_test {

using namespace phx;
using namespace phx::sim;

namespace {

/// Two machines of two sites, and what they hear.
struct Pair {
  Pair() {
    network.set_inputs({
        [this](MachineId at, LinkId link, bool) { up[at.value] = link; },
        [this](MachineId at, LinkId) { ++downs[at.value]; },
        [this](MachineId, ProcessorId, bool refused) { failure = refused; },
        [this](MachineId, LinkId, const runtime::Frame& frame) { heard.push_back(frame.seq); },
    });
    a = network.add_machine(0);
    b = network.add_machine(1);
    network.open(a, ProcessorId{1});
  }
  void connect() {
    network.open(b, ProcessorId{2});
    network.dial(a, ProcessorId{2}, b);
    run();
  }
  void send(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t seq = first; seq <= last; ++seq) {
      network.transmit(a, *up[0], runtime::Frame{seq, 0, std::nullopt});
    }
  }
  void run() {
    while (!agenda.empty()) agenda.step();
  }

  Agenda agenda;
  NetworkModel model{overlay::Topology::uniform({1, 1}, {5ms, 0}), 0.5, Rng(1)};
  Network network{agenda, model, Rng(2)};
  MachineId a;
  MachineId b;
  std::optional<LinkId> up[2];
  int downs[2] = {0, 0};
  std::optional<bool> failure;
  std::vector<std::uint64_t> heard;
};

std::vector<std::uint64_t> numbers(std::uint64_t last) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t n = 1; n <= last; ++n) result.push_back(n);
  return result;
}

}  // namespace

TEST_SUITE_BEGIN("sim/network");

TEST_CASE("frames of a connection arrive in order although their latencies differ") {
  Pair pair;
  pair.connect();
  REQUIRE(pair.up[0].has_value());
  CHECK(pair.up[0]->peer == ProcessorId{2});
  CHECK(pair.up[1]->peer == ProcessorId{1});

  pair.send(1, 200);
  pair.run();

  CHECK(pair.heard == numbers(200));
}

TEST_CASE("a broken connection loses a suffix, and both ends notice") {
  Pair pair;
  pair.connect();
  pair.send(1, 200);
  pair.network.break_one(Network::Break::kBoth);
  pair.send(201, 210);
  pair.run();

  CHECK(pair.heard == numbers(pair.heard.size()));
  CHECK(pair.heard.size() < 200);
  CHECK(pair.downs[0] == 1);
  CHECK(pair.downs[1] == 1);
  CHECK(pair.network.frames_in_flight() == 0);
}

TEST_CASE("of a half-open connection one end hears nothing") {
  Pair pair;
  pair.connect();
  pair.network.break_one(Network::Break::kHalfOpen);
  pair.run();

  CHECK(pair.downs[0] + pair.downs[1] == 1);
}

TEST_CASE("what was sent before hanging up arrives before the other end hears of it") {
  Pair pair;
  pair.connect();
  pair.send(1, 50);
  pair.network.hang_up(pair.a, *pair.up[0]);
  pair.run();

  CHECK(pair.heard == numbers(50));
  CHECK(pair.downs[0] == 0);
  CHECK(pair.downs[1] == 1);
}

TEST_CASE("a dial to a dead process is refused, and one to a lost machine times out") {
  for (const bool lost : {false, true}) {
    Pair pair;
    pair.network.open(pair.b, ProcessorId{2});
    pair.network.kill(pair.b, lost);
    pair.network.dial(pair.a, ProcessorId{2}, pair.b);
    pair.run();

    CHECK(pair.failure == !lost);
    CHECK((pair.agenda.now().time_since_epoch() > 1s) == lost);
  }
}

TEST_CASE(
    "a dial that meets a cut is repeated after a second, and gets through if that has healed") {
  for (const Duration cut : {Duration(500ms), Duration(1500ms), Duration(4s)}) {
    CAPTURE(cut.count());
    Pair pair;
    pair.network.open(pair.b, ProcessorId{2});
    pair.network.cut_off({pair.a});
    pair.agenda.schedule_in(cut, [&] { pair.network.heal(); });
    pair.network.dial(pair.a, ProcessorId{2}, pair.b);
    pair.run();
    CHECK(pair.up[1].has_value() == (cut < 1s));
    if (cut < 1s) {
      CHECK(!pair.failure.has_value());
    } else {
      CHECK(pair.failure == false);
      CHECK(pair.agenda.now().time_since_epoch() >= 3s);
    }
  }
}

TEST_CASE("what a partition holds back arrives in order when it heals") {
  Pair pair;
  pair.connect();
  pair.network.cut_off({pair.a});
  pair.send(1, 20);
  pair.run();
  CHECK(pair.heard.empty());

  pair.network.heal();
  pair.run();

  CHECK(pair.heard == numbers(20));
  CHECK(pair.downs[0] + pair.downs[1] == 0);
}
// As TCP keeps narrow places busy, and sends no more than its window.
TEST_CASE("rows in front of narrow places hold their senders up, but for 20 ms of them") {
  constexpr std::uint64_t kSlow = 1'000'000;
  for (const bool is_link : {false, true}) {
    CAPTURE(is_link);
    Agenda agenda;
    NetworkModel model{overlay::Topology::uniform({1, 1}, {5ms, is_link ? kSlow : 100 * kSlow}), 0,
                       Rng(1)};
    Network network{agenda, model, Rng(2)};
    std::optional<LinkId> up;
    std::optional<Instant> left;
    network.set_inputs({
        [&](MachineId at, LinkId link, bool) {
          if (at.value == 0) up = link;
        },
        [](MachineId, LinkId) {},
        [](MachineId, ProcessorId, bool) {},
        [](MachineId, LinkId, const runtime::Frame&) {},
        [&](MachineId, LinkId) { left = agenda.now(); },
    });
    const MachineId a = network.add_machine(0);
    const MachineId b = network.add_machine(1);
    if (!is_link) model.set_interface(b, kSlow);
    network.open(a, ProcessorId{1});
    network.open(b, ProcessorId{2});
    network.dial(a, ProcessorId{2}, b);
    while (!up) agenda.step();
    const auto send = [&](std::uint64_t seq, bool tell) {
      const overlay::Message load = overlay::Load{1, Payload(Bytes(50'000))};
      network.transmit(a, *up, runtime::Frame{seq, 0, load}, tell);
    };
    for (std::uint64_t seq = 1; seq <= 4; ++seq) send(seq, false);
    const Instant begin = agenda.now();
    while (agenda.now() < begin + 30ms) agenda.step();
    send(5, true);
    while (!left) agenda.step();
    // Four times 50 ms are before it, and its own 50 ms if that is known already.
    CHECK(*left - begin >= 170ms);
    CHECK(*left - begin <= 240ms);
  }
}

}  // namespace network_test
