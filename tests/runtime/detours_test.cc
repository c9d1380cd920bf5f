#include "runtime/channels/detours.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace phx::runtime::detours_test {
namespace {

using Step = Passage::Step;

constexpr ProcessorId kSelf{5};
constexpr ProcessorId kPeer{9};

ProcessorId p(std::uint32_t id) {
  return ProcessorId{id};
}
using DialFailure = Detours::DialFailure;

LinkId connection(std::uint32_t peer, std::uint64_t incarnation = 1) {
  return {p(peer), incarnation};
}

/// p5 among p1 ... p9; the driver and the others are played by the test.
struct Harness {
  explicit Harness(std::uint32_t members = 9) : machine(kSelf, Rng(1), {}) {
    machine.on_members(ProcessorSet::range(p(1), p(members)));
  }

  template <class Kind>
  std::vector<Kind> take() {
    machine.check_invariants();
    std::vector<Kind> found;
    for (auto& output : machine.take_outputs()) {
      if (auto* kind = std::get_if<Kind>(&output)) found.push_back(std::move(*kind));
    }
    return found;
  }
  /// "link's peer: from>to step" of every frame sent.
  std::vector<std::string> take_passages() {
    std::vector<std::string> texts;
    for (const Transmit& sent : take<Transmit>()) {
      const Passage& passage = *sent.frame.passage;
      number = passage.number;
      texts.push_back(to_string(sent.link.peer) + ": " + to_string(passage.from) + ">" +
                      to_string(passage.to) + " " + std::to_string(static_cast<int>(passage.step)));
    }
    return texts;
  }
  void passage(std::uint32_t via, ProcessorId from, ProcessorId to, Step step,
               std::uint64_t wanted) {
    machine.on_passage(now, connection(via),
                       Frame{0, 0, std::nullopt, Passage{from, to, wanted, step}});
  }
  void up(std::uint32_t peer) {
    machine.on_connection_up(connection(peer), true);
    take<Note>();
  }
  void fail(ProcessorId peer, DialFailure how = DialFailure::kRefused) {
    machine.on_dial_failed(now, peer, how, "refused");
  }
  void pass(Duration duration) {
    const Instant end = now + duration;
    while (machine.next_deadline() && *machine.next_deadline() <= end) {
      now = std::max(now, *machine.next_deadline());
      machine.on_deadline(now);
    }
    now = end;
  }

  Instant now = Instant{} + 100s;
  std::uint64_t number = 0;
  Detours machine;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE_BEGIN("runtime/detours");

TEST_CASE("a link is dialled first, and others are asked when that fails") {
  Harness h;
  h.up(1);
  h.up(8);
  h.machine.connect(h.now, kPeer);
  CHECK(h.take<Detours::Connect>().size() == 1);

  h.fail(kPeer);

  CHECK(h.take_passages() == Texts{"p8: p5>p9 0", "p1: p5>p9 0"});
}

TEST_CASE("a dial without answer is helped out after a while, and goes on") {
  Harness h;
  h.up(1);
  h.machine.connect(h.now, kPeer);
  h.pass(690ms);
  CHECK(h.take_passages().empty());
  h.pass(20ms);
  CHECK(h.take_passages() == Texts{"p1: p5>p9 0"});
  h.machine.on_connection_up({kPeer, 1}, true);

  CHECK(h.take<Detours::LinkUp>().size() == 1);
  h.passage(1, kPeer, kSelf, Step::kAccept, h.number);
  CHECK(h.take_passages() == Texts{"p1: p5>p9 3"});  // not wanted any more
}

TEST_CASE("the first that reaches the peer is the relay") {
  Harness h;
  h.up(1);
  h.up(8);
  h.machine.connect(h.now, kPeer);
  h.fail(kPeer);
  h.take_passages();

  h.passage(8, kPeer, kSelf, Step::kAccept, h.number);
  const auto links = h.take<Detours::LinkUp>();
  REQUIRE(links.size() == 1);
  CHECK(links[0].link == LinkId{kPeer, h.number, p(8)});
  CHECK(links[0].dialled);
  h.machine.transmit(links[0].link, Frame{0, 0, std::nullopt});

  CHECK(h.take_passages() == Texts{"p8: p5>p9 2"});
  CHECK(h.machine.in_use() == std::map<ProcessorId, ProcessorId>{{kPeer, p(8)}});
}

TEST_CASE("when all say no the dial has failed, and the next round asks others") {
  Harness h;
  for (const std::uint32_t peer : {1U, 2U, 3U, 4U, 6U, 7U, 8U}) h.up(peer);
  h.machine.connect(h.now, kPeer);
  h.fail(kPeer);
  CHECK(h.take_passages() == Texts{"p8: p5>p9 0", "p1: p5>p9 0", "p7: p5>p9 0"});
  for (const std::uint32_t relay : {1U, 7U, 8U}) {
    CHECK(h.take<Detours::DialFailed>().empty());
    h.passage(relay, kPeer, kSelf, Step::kClose, h.number);
  }
  const auto failures = h.take<Detours::DialFailed>();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].how == DialFailure::kRefused);

  h.machine.connect(h.now, kPeer);  // at once: the last dial has failed
  CHECK(h.take_passages() == Texts{"p2: p5>p9 0", "p6: p5>p9 0", "p3: p5>p9 0"});
}

/// How many are asked, each 300 ms, in a search that nobody answers.
std::vector<std::size_t> waves(Harness& h) {
  h.machine.connect(h.now, kPeer);
  std::vector<std::size_t> sizes;
  for (int i = 0; i < 5; ++i) {
    sizes.push_back(h.take_passages().size());
    h.pass(300ms);
  }
  CHECK(h.take<Detours::DialFailed>().size() == 1);
  return sizes;
}

TEST_CASE("a search that nobody answers asks everybody once, and the next ones three each") {
  using Sizes = std::vector<std::size_t>;
  using Case = std::pair<std::uint32_t, Sizes>;
  for (const Case& one :
       {Case{16, {3, 11, 0, 0, 0}}, Case{64, {3, 24, 35, 0, 0}}, Case{256, {3, 24, 192, 35, 0}}}) {
    const std::uint32_t members = one.first;
    CAPTURE(members);
    Harness h(members);
    for (std::uint32_t id = 1; id <= members; ++id) {
      if (p(id) != kSelf && p(id) != kPeer) h.up(id);
    }
    h.machine.distrust(kPeer);
    const Sizes sizes = waves(h);
    CHECK(sizes == one.second);
    std::size_t sum = 0;
    for (const std::size_t size : sizes) sum += size;
    CHECK(sum == members - 2);
    CHECK(waves(h) == Sizes{3, 0, 0, 0, 0});
  }
}

TEST_CASE("a search dials 64 at most at once to ask them") {
  Harness h(256);
  h.machine.distrust(kPeer);
  h.machine.connect(h.now, kPeer);
  CHECK(h.take<Detours::Connect>().size() == 1 + 3);
  for (const std::size_t dials : {24U, 64U, 64U, 64U}) {
    h.pass(300ms);
    CHECK(h.take<Detours::Connect>().size() == dials);
  }
}

TEST_CASE("who carries a detour now is asked first about another one") {
  Harness h;
  for (const std::uint32_t peer : {1U, 2U, 3U, 4U, 6U, 7U}) h.up(peer);
  h.machine.connect(h.now, p(8));
  h.fail(p(8));
  h.take_passages();
  h.passage(4, p(8), kSelf, Step::kAccept, h.number);

  h.machine.connect(h.now, kPeer);
  h.fail(kPeer);

  CHECK(h.take_passages() == Texts{"p4: p5>p9 0", "p1: p5>p9 0", "p7: p5>p9 0"});
}

TEST_CASE("a refusal on the own machine asks nobody") {
  Harness h;
  h.up(1);
  h.machine.connect(h.now, kPeer);
  h.fail(kPeer, DialFailure::kGone);

  CHECK(h.take<Detours::DialFailed>().size() == 1);
}

TEST_CASE("who has no connection dials possible relays") {
  Harness h;
  h.machine.connect(h.now, kPeer);
  h.take<Detours::Connect>();
  h.fail(kPeer);
  CHECK(h.take<Detours::Connect>().size() == 3);
  h.machine.on_connection_up(connection(1), true);

  CHECK(h.take_passages() == Texts{"p1: p5>p9 0"});
}

TEST_CASE("who is asked accepts, and dials back at once") {
  Harness h;
  h.up(1);
  h.passage(1, kPeer, kSelf, Step::kOpen, 77);

  std::size_t accepts = 0;
  std::size_t dials = 0;
  for (const auto& output : h.machine.take_outputs()) {
    const auto* sent = std::get_if<Transmit>(&output);
    if (sent != nullptr && sent->frame.passage->step == Step::kAccept) ++accepts;
    if (std::holds_alternative<Detours::Connect>(output)) ++dials;
  }
  CHECK(accepts == 1);
  CHECK(dials == 1);
  h.up(2);
  h.passage(2, kPeer, kSelf, Step::kOpen, 77);  // the same, by a slower relay
  CHECK(h.take<Detours::LinkUp>().empty());
}

TEST_CASE("who accepts has a link when the peer uses it, and none if a connection was faster") {
  Harness h;
  h.up(1);
  SUBCASE("the peer had lost the connection that this one holds still") {
    h.up(9);
    h.passage(1, kPeer, kSelf, Step::kOpen, 77);
    CHECK(h.take<Detours::LinkUp>().empty());
    h.passage(1, kPeer, kSelf, Step::kCarry, 77);
    CHECK(h.take<Detours::LinkUp>().size() == 1);
  }
  SUBCASE("the peer has a connection by now, and hears no more of the detour") {
    h.passage(1, kPeer, kSelf, Step::kOpen, 77);
    h.up(9);
    h.take_passages();
    h.passage(1, kPeer, kSelf, Step::kCarry, 77);
    CHECK(h.take_passages() == Texts{"p1: p5>p9 3"});
  }
  SUBCASE("the peer does without") {
    h.passage(1, kPeer, kSelf, Step::kOpen, 77);
    h.take_passages();
    h.passage(1, kPeer, kSelf, Step::kClose, 77);
    h.passage(1, kPeer, kSelf, Step::kCarry, 77);
    CHECK(h.take_passages() == Texts{"p1: p5>p9 3"});
  }
  SUBCASE("the relay is gone before") {
    h.passage(1, kPeer, kSelf, Step::kOpen, 77);
    h.machine.on_connection_down(connection(1));
    CHECK(h.take<Detours::LinkDown>().size() == 1);
    h.up(1);
    h.passage(1, kPeer, kSelf, Step::kCarry, 77);
    CHECK(h.take<Detours::LinkUp>().empty());
  }
}

TEST_CASE("a peer with a detour is dialled again, more and more seldom") {
  Harness h;
  h.up(1);
  h.passage(1, kPeer, kSelf, Step::kOpen, 77);
  h.passage(1, kPeer, kSelf, Step::kCarry, 77);
  std::size_t dials = h.take<Detours::Connect>().size();
  h.fail(kPeer);
  for (int i = 0; i < 300; ++i) {
    h.pass(1s);
    if (h.take<Detours::Connect>().empty()) continue;
    ++dials;
    h.fail(kPeer);
  }
  CHECK(dials >= 9);
  CHECK(dials <= 12);
}

TEST_CASE("a relay forwards for the ends of its own connections only") {
  Harness h;
  h.up(1);
  h.up(9);
  h.passage(1, p(1), kPeer, Step::kCarry, 7);
  CHECK(h.take_passages() == Texts{"p9: p1>p9 2"});

  h.passage(1, p(2), kPeer, Step::kCarry, 7);  // has passed p1 already
  CHECK(h.take_passages().empty());
}

TEST_CASE("a relay that has no connection dials once for all who ask, and says no") {
  Harness h;
  h.up(1);
  h.up(2);
  h.passage(1, p(1), kPeer, Step::kOpen, 7);
  h.passage(2, p(2), kPeer, Step::kOpen, 8);
  CHECK(h.take<Detours::Connect>().size() == 1);

  h.fail(kPeer);

  CHECK(h.take_passages() == Texts{"p1: p9>p1 3", "p2: p9>p2 3"});
  h.passage(1, p(1), kPeer, Step::kOpen, 9);  // it remembers that for a while
  CHECK(h.take_passages() == Texts{"p1: p9>p1 3"});
  h.passage(1, p(1), kPeer, Step::kCarry, 9);
  CHECK(h.machine.counters().unrelayed == 2);
}

TEST_CASE("the questions that wait for a relay are limited") {
  Harness h;
  h.up(1);
  for (std::uint64_t i = 0; i < 300; ++i) h.passage(1, p(1), kPeer, Step::kOpen, i + 1);
  CHECK(h.take_passages().size() == 300 - DetourOptions{}.favours_max);
}

TEST_CASE("a lost connection takes along what led through it") {
  Harness h;
  h.up(1);
  h.passage(1, kPeer, kSelf, Step::kOpen, 77);
  h.passage(1, kPeer, kSelf, Step::kCarry, 77);
  h.take<Note>();

  h.machine.on_connection_down(connection(1));

  const auto lost = h.take<Detours::LinkDown>();
  REQUIRE(lost.size() == 2);
  CHECK(lost[0].link == LinkId{kPeer, 77, p(1)});
  CHECK(h.machine.in_use().empty());
}

TEST_CASE("what was on its way over a connection that was hung up here makes no detour") {
  Harness h;  // found by: phoenix sim --scenario barred --seed 79
  h.up(1);
  h.machine.hang_up(connection(1));

  h.passage(1, kPeer, kSelf, Step::kOpen, 77);

  CHECK(h.take<Detours::LinkUp>().empty());
  CHECK(h.machine.in_use().empty());
}

TEST_CASE("a frame on a detour that is no more is answered so") {
  Harness h;
  h.up(1);
  h.passage(1, kPeer, kSelf, Step::kCarry, 77);
  CHECK(h.take_passages() == Texts{"p1: p5>p9 3"});
}

TEST_SUITE_END();

}  // namespace phx::runtime::detours_test
