#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "runtime/membership/membership.h"
#include "tests/support/member_harness.h"

namespace phx::runtime::accusations_test {
namespace {

using support::apart;
using support::p;
using support::silent;
using support::view_of;
using Harness = support::MemberHarness;
using Ids = std::vector<ProcessorId>;

Suspect refused(std::uint32_t accused, std::uint32_t accuser) {
  return {p(accused), Departure::kConnectionLost, "refused", p(accuser)};
}

/// What p`self` of so many says of others until it is alone, when nothing that it sends arrives any
/// more.
std::size_t words_when_cut_off(std::uint32_t self, std::uint32_t members) {
  constexpr int kRoundsMost = 40;
  Harness h(self, members);
  ProcessorSet tried = h.machine.watched();
  std::size_t words = 0;
  for (int round = 0; round < kRoundsMost && h.machine.view().members.size() > 1; ++round) {
    h.now += 5s;
    for (const ProcessorId id : tried.ids()) h.suspect(id.value);
    for (const auto& item : h.out.take()) {
      const auto* send = std::get_if<Membership::Outbox::Send>(&item);
      if (send == nullptr) continue;
      tried.insert(send->to);
      words += std::holds_alternative<Suspect>(send->message) ||
                       std::holds_alternative<Heartbeat>(send->message)
                   ? 1
                   : 0;
    }
  }
  CHECK(h.machine.view().members.size() == 1);
  return words;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/membership");

TEST_CASE("a processor that loses its network does not fill its queues with accusations") {
  for (const std::uint32_t members : {16U, 64U, 256U}) {
    CAPTURE(members);
    const auto all = static_cast<double>(members);
    // Its judge is it itself, ...
    CHECK(static_cast<double>(words_when_cut_off(1, members)) <= 2.5 * all * std::log2(all));
    // ... or others have to be held for dead first, each of which is told.
    CHECK(static_cast<double>(words_when_cut_off(members / 2, members)) <= all * all / 2 + 4 * all);
  }
}

TEST_CASE("one accuser counts once, however often it accuses") {
  Harness h(1, 4);
  for (int i = 0; i < 20; ++i) h.message(2, silent(4, 2));

  CHECK(h.machine.contains(p(4)));
  CHECK(!h.take<Heartbeat>().empty());  // the coordinator tries it itself
}

TEST_CASE("two accusers are not enough before the coordinator has tried it too") {
  Harness h(1, 5);
  h.message(2, silent(5, 2));
  h.message(3, silent(5, 3));
  CHECK(h.machine.contains(p(5)));

  h.suspect(5);

  CHECK(!h.machine.contains(p(5)));
}

TEST_CASE("an accusation that is not repeated is forgotten") {
  Harness h(1, 4);
  h.message(2, silent(4, 2));
  h.now += 13s;

  h.suspect(4);

  CHECK(h.machine.contains(p(4)));
}

TEST_CASE("a coordinator that accuses asks others first, and those that watch the accused") {
  Harness h(1, 8);

  h.suspect(6);
  CHECK(h.take_receivers<Suspect>() == Ids{p(5), p(4), p(3)});
  h.suspect(6);
  CHECK(h.take_receivers<Suspect>() == Ids{p(5), p(4), p(3), p(2), p(8), p(7)});
  CHECK(h.machine.contains(p(6)));
  h.message(8, silent(6, 8));

  CHECK(!h.machine.contains(p(6)));
}

TEST_CASE("who reaches the accused again accuses it no more") {
  Harness h(1, 4);
  h.suspect(4);
  h.machine.trust(h.now, p(4), h.out);
  h.message(2, silent(4, 2));

  CHECK(h.machine.contains(p(4)));
}

TEST_CASE("who is alone with the accused decides alone") {
  Harness two(1, 2);
  two.suspect(2);
  CHECK(!two.machine.contains(p(2)));

  Harness three(1, 3);
  three.suspect(2);
  CHECK(three.machine.contains(p(2)));
  three.suspect(3);
  CHECK(three.machine.view().members.size() == 1);
}

TEST_CASE("a witness tries, and says to its judge what it found") {
  Harness h(3, 5);
  h.message(1, silent(4, 1));
  CHECK(h.take_receivers<Heartbeat>() == Ids{p(4)});

  h.suspect(4);

  const auto words = h.take<Suspect>();
  REQUIRE(words.size() == 1);
  CHECK(words[0].first == p(1));
  CHECK(words[0].second.accuser == p(3));
  h.message(1, silent(4, 1));  // asked again, it answers at once
  CHECK(h.take_receivers<Suspect>() == Ids{p(1)});
}

TEST_CASE("an accusation is passed downwards with the name of its accuser") {
  Harness h(3, 5);

  h.message(5, silent(1, 5));

  const auto words = h.take<Suspect>();
  REQUIRE(words.size() == 1);
  CHECK(words[0].first == p(2));
  CHECK(words[0].second.accuser == p(5));
}

TEST_CASE("the second lowest does not take over because its own channel alone fails") {
  Harness h(2, 4);

  h.suspect(1);
  CHECK(h.take<ViewQuery>().empty());
  h.message(4, silent(1, 4));

  CHECK(h.take_receivers<ViewQuery>() == Ids{p(3), p(4)});
}

TEST_CASE("who waits for a new view and does not know the accused says so") {
  Harness h(3, 4);
  h.message(2, silent(5, 2));
  CHECK(h.take<Suspect>().empty());  // p5 may live: the news of it are on their way
  h.message(2, ViewQuery{0});

  h.message(2, silent(5, 2));

  CHECK(h.take_receivers<Suspect>() == Ids{p(2)});
}

TEST_CASE("a witness that knows the accused to be gone says so") {
  Harness h(3, 5);
  h.message(1, support::gone_change(11, 4, Departure::kLeft));

  h.message(2, silent(4, 2));

  CHECK(h.take_receivers<Suspect>() == Ids{p(2)});
}

TEST_CASE("that somebody is no member needs no answer, so two never answer each other for ever") {
  Harness behind(3, 5);
  behind.suspect(4);
  behind.take<Suspect>();
  behind.message(1, silent(4, 1));
  CHECK(behind.take_receivers<Suspect>() == Ids{p(1)});  // its judge asks

  behind.message(1, Suspect{p(4), Departure::kLeft, "no member here", p(1)});

  CHECK(behind.take<Suspect>().empty());
}

TEST_CASE("a refused connection is proof on the machine of the accused") {
  Harness h(1, 4);

  h.message(2, refused(4, 2));

  const auto changes = h.take<ViewChange>();
  REQUIRE(changes.size() == 2);  // to p2 and p3, not to the dead
  CHECK(changes[0].second.gone ==
        std::vector<ViewChange::Gone>{{p(4), Departure::kConnectionLost, "refused"}});
}

TEST_CASE("deaths that come together are one change, and the first one is not held up") {
  Harness h(1, 40);
  for (std::uint32_t id = 11; id <= 40; ++id)
    h.machine.on_message(h.now, p(2), refused(id, 2), h.out);
  CHECK(h.machine.view().number == 11);
  CHECK(!h.machine.contains(p(11)));

  h.now += 20ms;
  h.machine.on_timer(h.now, Membership::Timer::kOffice, h.out);

  CHECK(h.machine.view().number == 12);
  CHECK(h.machine.ids() == ProcessorSet::range(p(1), p(10)));
}

TEST_CASE("a refusal that was seen from another machine is an accusation like others") {
  Harness h(apart(view_of(4), 4));
  h.message(2, refused(4, 2));
  CHECK(h.machine.contains(p(4)));

  h.suspect(4, Departure::kConnectionLost);

  CHECK(!h.machine.contains(p(4)));
}

TEST_CASE("a machine is known by its name and all its addresses") {
  const Member one{p(1), 1, {"10.0.0.1:80", "[::1]:80"}, "a", false};
  Member other{p(2), 2, {"10.0.0.1:81", "[::1]:81"}, "a", false};
  CHECK(share_machine(one, other));
  other.name = "b";  // the same private address in another network
  CHECK(!share_machine(one, other));
  other.name = "a";
  other.endpoints.pop_back();
  CHECK(!share_machine(one, other));
  CHECK(!share_machine(Member{}, Member{}));
}

TEST_CASE("those that share a machine are known together, and who is alone on its own is not") {
  View view;
  for (const auto& [id, endpoint] : std::map<std::uint32_t, std::string>{
           {1, "10.0.0.1:80"}, {2, "10.0.0.2:80"}, {3, "10.0.0.1:81"}, {4, "10.0.0.3:80"}}) {
    view.members.put(Member{p(id), id, {endpoint}, "a", false});
  }
  view.members.put(Member{p(5), 5, {}, "a", false});
  view.members.put(Member{p(6), 6, {}, "a", false});

  CHECK(shared_machines(view) == std::vector{ProcessorSet{p(1), p(3)}});
}

TEST_CASE("wishes that come together become one change of the view") {
  Harness h(1, 3);
  h.machine.admit(h.now, support::newcomer(500), 1, h.out);
  CHECK(h.take<ViewChange>().size() == 2);
  for (std::uint64_t i = 0; i < 20; ++i) {
    h.machine.admit(h.now, support::newcomer(600 + i), 10 + i, h.out);
  }
  h.machine.on_message(h.now, p(3), Leave{LeaveStep::kMark}, h.out);
  CHECK(h.machine.view().members.size() == 4);

  h.machine.on_timer(h.now + 11ms, Membership::Timer::kOffice, h.out);

  CHECK(h.machine.view().number == 12);
  CHECK(h.machine.view().members.size() == 24);
  CHECK(!h.machine.live().contains(p(3)));
  CHECK(h.take<ViewChange>().size() == 3);
}

TEST_SUITE_END();

}  // namespace phx::runtime::accusations_test
