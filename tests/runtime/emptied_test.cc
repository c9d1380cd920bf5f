#include <doctest/doctest.h>

#include "runtime/membership/view_change.h"
#include "tests/support/member_harness.h"

// Leavers relay until they have given all away [runtime/membership/README.md, "A leave"].
namespace phx::runtime::emptied_test {
namespace {

using support::gone_change;
using support::newcomer;
using support::p;
using support::view_of;
using Harness = support::MemberHarness;

/// After `time`, if nothing else happens.
void wait(Harness& h, Duration time) {
  h.now += time;
  h.machine.on_timer(h.now, Membership::Timer::kOffice, h.out);
  h.machine.check_invariants();
}

}  // namespace

TEST_SUITE_BEGIN("runtime/membership");

TEST_CASE("leaving takes three steps: marked first, then emptied, then gone") {
  Harness h(1, 3);
  const ProcessorSet all{p(1), p(2), p(3)};
  const ProcessorSet rest{p(1), p(2)};

  h.message(3, Leave{LeaveStep::kMark});
  CHECK(h.machine.live() == rest);
  CHECK(h.machine.relaying() == all);
  CHECK(h.machine.view().relaying_since == 0);
  h.take<ViewChange>();

  h.message(3, Leave{LeaveStep::kEmptied});
  CHECK(h.machine.ids() == all);
  CHECK(h.machine.relaying() == rest);
  CHECK(h.machine.view().relaying_since == h.machine.view().number);
  h.take<ViewChange>();

  h.message(3, Leave{LeaveStep::kRemove});
  CHECK(h.machine.ids() == rest);
  CHECK(h.machine.view().relaying_since == h.machine.view().number - 1);  // no tree had it
  CHECK(h.machine.view().line == 0);                                      // nobody has died
  const auto changes = h.take<ViewChange>();
  REQUIRE(changes.size() == 2);  // the leaver hears it as well
  CHECK(changes[1].first == p(3));
}

TEST_CASE("a leaver without vnodes is marked as both at once, unless it is the last that stays") {
  Harness h(1, 3);
  h.message(3, Leave{LeaveStep::kEmptied});
  CHECK(h.machine.live() == ProcessorSet{p(1), p(2)});
  CHECK(h.machine.relaying() == h.machine.live());
  CHECK(h.take<ViewChange>().size() == 2);
  h.message(3, Leave{LeaveStep::kEmptied});  // once more, as its answer was slow
  CHECK(h.take<ViewChange>().empty());
  h.message(2, Leave{LeaveStep::kEmptied});
  h.take<ViewChange>();

  h.machine.leave(h.now + 100ms, LeaveStep::kEmptied, h.out);
  CHECK(h.take_events<Membership::StayOn>().size() == 1);
  CHECK(h.machine.relaying() == ProcessorSet{p(1)});
}

TEST_CASE("leavers that are emptied soon after each other go out of the trees together") {
  Harness h(1, 9);
  for (std::uint32_t id = 5; id <= 9; ++id) h.message(id, Leave{LeaveStep::kMark});
  h.take<ViewChange>();
  for (std::uint32_t id = 5; id <= 8; ++id) {
    h.message(id, Leave{LeaveStep::kEmptied});
    CHECK(h.take<ViewChange>().empty());
  }
  h.message(9, Leave{LeaveStep::kEmptied});
  CHECK(h.take<ViewChange>().size() == 8);  // one change, to each of the others
  CHECK(h.machine.relaying() == ProcessorSet{p(1), p(2), p(3), p(4)});
}

TEST_CASE("a leaver that does not come to that holds the others up for half a second only") {
  Harness h(1, 6);
  for (std::uint32_t id = 4; id <= 6; ++id) h.message(id, Leave{LeaveStep::kMark});
  h.message(4, Leave{LeaveStep::kEmptied});
  h.message(5, Leave{LeaveStep::kEmptied});
  h.take<ViewChange>();
  wait(h, 300ms);  // 400 ms since the first one
  CHECK(h.machine.relaying().contains(p(4)));
  wait(h, 100ms);
  CHECK(h.machine.relaying() == ProcessorSet{p(1), p(2), p(3), p(6)});
  CHECK(h.take<ViewChange>().size() == 5);

  h.message(6, Leave{LeaveStep::kEmptied});  // nobody else is to come
  CHECK(h.machine.relaying() == h.machine.live());
}

TEST_CASE("an emptied leaver that dies while it waits is put out, and holds nobody up") {
  Harness h(1, 5);
  h.message(4, Leave{LeaveStep::kMark});
  h.message(5, Leave{LeaveStep::kMark});
  h.message(4, Leave{LeaveStep::kEmptied});
  h.message(3, support::silent(4, 3));
  h.suspect(4);
  wait(h, 100ms);
  REQUIRE(!h.machine.contains(p(4)));
  h.message(5, Leave{LeaveStep::kEmptied});
  CHECK(h.machine.relaying() == ProcessorSet{p(1), p(2), p(3)});
}

TEST_CASE("whose trees are drawn anew follows from the changes, whoever applies them") {
  View view = view_of(3);
  const auto apply = [&](ViewChange change) {
    change.number = view.number + 1;
    apply_change(view, change);
    return view.relaying_since == view.number;
  };
  Member third = view.members.at(p(3));
  third.leaving = true;
  CHECK(!apply({0, {third}, {}}));
  third.emptied = true;
  CHECK(apply({0, {third}, {}}));
  CHECK(!apply({0, {third}, {}}));  // said twice
  CHECK(!apply(gone_change(0, 3, Departure::kLeft)));
  CHECK(!apply(gone_change(0, 3, Departure::kLeft)));
  CHECK(apply(gone_change(0, 2, Departure::kSilent)));
  Member fourth = newcomer(4);
  fourth.id = p(4);
  CHECK(apply({0, {fourth}, {}}));
}

TEST_SUITE_END();

}  // namespace phx::runtime::emptied_test
