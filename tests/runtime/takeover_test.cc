#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/membership/membership.h"
#include "tests/support/member_harness.h"

namespace phx::runtime::takeover_test {
namespace {

using support::gone_change;
using support::p;
using support::silent;
using support::view_of;
using Harness = support::MemberHarness;

}  // namespace

TEST_SUITE_BEGIN("runtime/membership");

TEST_CASE("after the coordinator's death the next one asks all and goes on from the highest view") {
  Harness h(2, 4);
  h.suspect(1, Departure::kConnectionLost);
  std::vector<ProcessorId> asked;
  for (const auto& [to, query] : h.take<ViewQuery>()) asked.push_back(to);
  CHECK(asked == std::vector<ProcessorId>{p(3), p(4)});
  h.message(4, ViewReport{h.machine.view()});
  CHECK(h.machine.view().number == 10);

  View higher = h.machine.view();  // p3 has seen the last change of the dead one
  higher.number = 11;
  higher.members.put(Member{p(5), 7, {}, "", false});
  higher.next_processor = 6;
  higher.line = 3;
  h.message(3, ViewReport{higher});
  const auto again = h.take<ViewQuery>();  // so p5 must be asked, too
  REQUIRE(again.size() == 1);
  CHECK(again[0].first == p(5));
  h.message(5, ViewReport{higher});

  CHECK(h.machine.view().number == 12);
  CHECK(h.machine.is_coordinator());
  CHECK(h.machine.contains(p(5)));
  CHECK(!h.machine.contains(p(1)));
  CHECK(h.machine.view().line == 4);
  CHECK(h.machine.view().next_processor == 6 + MembershipOptions{}.id_gap);
  const auto installs = h.take<ViewInstall>();
  REQUIRE(installs.size() == 3);
  for (const auto& [to, install] : installs) {
    CHECK(install.view.number == 12);
    CHECK(install.view.members.size() == (to == p(4) ? 4 : 0));  // The others have view 11.
  }
}

TEST_CASE("a newcomer that only the dead knew is asked as well") {
  Harness h(2, 3);
  h.message(4, silent(1, 4));  // p4 was let in by p1
  h.message(3, silent(1, 3));
  h.suspect(1);
  std::vector<ProcessorId> asked;
  for (const auto& [to, query] : h.take<ViewQuery>()) asked.push_back(to);
  CHECK(asked == std::vector<ProcessorId>{p(3), p(4)});
  h.message(3, ViewReport{h.machine.view()});
  CHECK(!h.machine.is_coordinator());

  View with_four = h.machine.view();
  with_four.number = 11;
  with_four.members.put(Member{p(4), 7, {}, "", false});
  with_four.next_processor = 5;
  h.message(4, ViewReport{with_four});

  CHECK(h.machine.live() == ProcessorSet{p(2), p(3), p(4)});
}

TEST_CASE("a change by a dead coordinator that comes late does not stand in the way") {
  Harness h(3, 3);
  h.message(2, ViewQuery{0});
  View next = h.machine.view();
  next.number = 11;
  next.members.erase(p(1));
  h.message(2, ViewInstall{next, {}});

  h.message(1, gone_change(12, 2, Departure::kSilent));
  h.message(2, ViewChange{12, {Member{p(4), 7, {}, "", false}}, {}});

  CHECK(h.machine.live() == ProcessorSet{p(2), p(3), p(4)});
}

TEST_CASE("of a view that the one who takes over has, too, its members are not sent") {
  Harness asked(3, 3);
  asked.message(2, ViewQuery{asked.machine.view().number});
  const auto reports = asked.take<ViewReport>();
  REQUIRE(reports.size() == 1);
  const View brief = reports[0].second.view;
  CHECK(brief.members.empty());
  CHECK(brief.number == asked.machine.view().number);

  Harness h(2, 3);
  h.message(3, silent(1, 3));
  h.suspect(1);
  CHECK(h.take<ViewQuery>().at(0).second.number == h.machine.view().number);
  h.message(3, ViewReport{brief});
  CHECK(h.machine.is_coordinator());
  CHECK(h.machine.live() == ProcessorSet{p(2), p(3)});
}

TEST_CASE("a death during the takeover does not stop it") {
  Harness h(2, 4);
  h.message(3, silent(1, 3));
  h.suspect(1);
  h.message(3, ViewReport{h.machine.view()});

  h.suspect(4);
  h.message(3, silent(4, 3));

  CHECK(h.machine.is_coordinator());
  CHECK(h.machine.live() == ProcessorSet{p(2), p(3)});
}

TEST_CASE("who has promised a takeover takes no change from the old coordinator") {
  Harness h(3, 4);
  h.message(2, ViewQuery{0});
  const auto reports = h.take<ViewReport>();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].second.view == h.machine.view());
  CHECK(h.machine.watched().contains(p(2)));

  h.message(1, gone_change(11, 4, Departure::kSilent));
  CHECK(h.machine.view().number == 10);
  View next = h.machine.view();
  next.number = 11;
  next.members.erase(p(1));
  h.message(2, ViewInstall{next, {{p(1), Departure::kSilent, "why"}}});

  CHECK(h.machine.view() == next);
  const auto events = h.take_events<Membership::ViewInstalled>();
  REQUIRE(events.size() == 1);
  CHECK(events[0].gone == std::vector<ViewChange::Gone>{{p(1), Departure::kSilent, "why"}});
}

TEST_CASE("whoever has the view before gets the members that are gone, and no others") {
  Harness h(3, 4);
  h.message(2, ViewQuery{10});
  h.take<ViewReport>();
  View next = h.machine.view();
  next.members = {};
  next.next_processor = 300;
  next.line = 1;
  const ViewInstall brief{next, {{p(1), Departure::kSilent, "why"}}};

  SUBCASE("it installs the same view as one that gets the whole") {
    ViewInstall whole = brief;
    whole.view.members = view_of(4).members;
    whole.view.members.erase(p(1));
    Harness other(3, 4);
    other.message(2, ViewQuery{10});
    for (auto [machine, install] : {std::pair{&h, brief}, std::pair{&other, whole}}) {
      install.view.number = 11;
      machine->message(2, install);
      CHECK(machine->machine.live() == ProcessorSet{p(2), p(3), p(4)});
    }
    CHECK(h.machine.view() == other.machine.view());
    CHECK(h.machine.view().next_processor == 300);
  }
  SUBCASE("who has another one before it asks for the whole") {
    ViewInstall later = brief;
    later.view.number = 12;
    h.message(2, later);
    CHECK(h.machine.view() == view_of(4));
    CHECK(h.take<ViewReport>().size() == 1);
  }
  SUBCASE("one that puts the receiver out ends it") {
    ViewInstall fatal = brief;
    fatal.view.number = 11;
    fatal.gone.push_back({p(3), Departure::kSilent, "why"});
    h.message(2, fatal);
    CHECK(h.take_events<Membership::FencedOut>().size() == 1);
  }
  SUBCASE("one that leaves its sender out is not believed") {
    ViewInstall wrong = brief;
    wrong.view.number = 11;
    wrong.gone.push_back({p(2), Departure::kSilent, "why"});
    h.message(2, wrong);
    CHECK(h.machine.view() == view_of(4));
  }
}

TEST_CASE("a question that comes once more after its takeover is no promise") {
  Harness h(3, 4);
  h.message(2, ViewQuery{10});
  View next = h.machine.view();
  next.number = 11;
  next.members = {};
  h.message(2, ViewInstall{next, {{p(1), Departure::kSilent, "why"}}});

  h.message(2, ViewQuery{10});

  h.message(2, gone_change(12, 4, Departure::kSilent));
  CHECK(h.machine.live() == ProcessorSet{p(2), p(3)});
}

TEST_CASE("who has missed that those above it left learns it by asking, and goes on from there") {
  Harness h(3, 4);
  h.message(1, gone_change(11, 1, Departure::kLeft));  // its last act, which p2 never got
  static_cast<void>(h.take<ViewReport>());

  h.message(2, ViewQuery{10});

  const auto reports = h.take<ViewReport>();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].first == p(2));
  CHECK(reports[0].second.view == h.machine.view());
  Harness missed(2, 4);
  missed.suspect(1, Departure::kConnectionLost);
  missed.message(3, reports[0].second);
  missed.message(4, reports[0].second);
  CHECK(missed.machine.is_coordinator());
  for (const auto& [to, install] : missed.take<ViewInstall>()) {
    if (to == p(3)) h.message(2, install);
  }
  CHECK(h.machine.view() == missed.machine.view());
  CHECK(h.machine.view().number == 12);
}

TEST_CASE("if the one that takes over dies, the next one does, and the first accused stays out") {
  Harness h(3, 4);
  h.message(2, ViewQuery{0});
  h.message(1, gone_change(11, 4, Departure::kSilent));  // p1 lives; but p2 may have succeeded

  h.message(4, silent(2, 4));
  h.suspect(2);
  const auto queries = h.take<ViewQuery>();
  REQUIRE(queries.size() == 1);
  h.message(4, ViewReport{h.machine.view()});

  CHECK(h.machine.is_coordinator());
  CHECK(h.machine.live() == ProcessorSet{p(3), p(4)});
}

TEST_CASE("of two that take over the one with the higher id prevails") {
  Harness h(4, 4);
  h.message(3, ViewQuery{0});
  h.take<ViewReport>();

  h.message(2, ViewQuery{0});
  CHECK(h.take<ViewReport>().empty());
  View by_two = h.machine.view();
  by_two.number = 11;
  by_two.members.erase(p(1));
  h.message(2, ViewInstall{by_two, {}});
  CHECK(h.machine.view().number == 10);
  View by_three = by_two;
  by_three.members.erase(p(2));
  h.message(3, ViewInstall{by_three, {}});

  CHECK(h.machine.view() == by_three);
}

TEST_SUITE_END();

}  // namespace phx::runtime::takeover_test
