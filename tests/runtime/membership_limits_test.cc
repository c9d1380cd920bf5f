#include <doctest/doctest.h>

#include <string>

#include "runtime/membership/view_change.h"
#include "tests/support/member_harness.h"

namespace phx::runtime::membership_limits_test {
namespace {

using support::newcomer;
using support::p;
using support::view_of;
using Harness = support::MemberHarness;

}  // namespace

TEST_SUITE_BEGIN("runtime/membership");

TEST_CASE("the last member that does not leave is told to stay, whoever it is") {
  Harness h(1, 3);
  h.message(2, Leave{LeaveStep::kMark});
  h.message(3, Leave{LeaveStep::kMark});
  static_cast<void>(h.out.take());

  h.machine.leave(h.now + 100ms, LeaveStep::kMark, h.out);

  const auto events = h.take_events<Membership::StayOn>();
  REQUIRE(events.size() == 1);
  CHECK(events[0].why.find("p1 is the last processor that does not leave") == 0);
  CHECK(h.machine.live() == ProcessorSet{p(1)});
}

TEST_CASE("a refusal to leave counts only from the coordinator, and for whoever has asked") {
  Harness h(2, 3);
  h.message(1, LeaveRefused{p(2), "stay"});
  CHECK(h.take_events<Membership::StayOn>().empty());

  h.machine.leave(h.now, LeaveStep::kMark, h.out);
  h.message(3, LeaveRefused{p(2), "stay"});
  CHECK(h.take_events<Membership::StayOn>().empty());
  h.message(1, LeaveRefused{p(2), "stay"});
  CHECK(h.take_events<Membership::StayOn>().size() == 1);
}

TEST_CASE("ids that nobody can have been given are not believed") {
  Harness h(2, 3);
  Member impossible = newcomer(1);
  impossible.id = p(~std::uint32_t{0});
  View wrong = view_of(3);
  wrong.number = 20;
  wrong.next_processor = 2;

  h.message(1, ViewChange{11, {impossible}, {}});
  h.message(1, ViewInstall{wrong, {}});

  CHECK(h.machine.view() == view_of(3));
}

TEST_CASE("a change says how far the numbers of jobs have come") {
  Harness h(1, 3);
  CHECK(h.machine.take_job_id() == JobId{1});

  h.message(2, Leave{LeaveStep::kMark});

  const auto changes = h.take<ViewChange>();
  REQUIRE(!changes.empty());
  CHECK(changes[0].second.next_job == 2);
}

TEST_CASE("when all numbers of jobs are used up there is none, and none is given twice") {
  View view = view_of(2);
  view.next_job = kIdEnd - 2;
  Harness h(view);
  CHECK(h.machine.take_job_id() == JobId{kIdEnd - 2});
  h.machine.note_job(JobId{kIdEnd});  // nobody can have been given that one
  h.machine.note_job(JobId{kIdEnd - 1});

  CHECK(h.machine.take_job_id() == JobId{});
  CHECK(h.machine.take_job_id() == JobId{});
}

TEST_SUITE_END();

}  // namespace phx::runtime::membership_limits_test
