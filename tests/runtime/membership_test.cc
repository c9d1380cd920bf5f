#include "runtime/membership/membership.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/member_harness.h"
#include "tests/support/member_net.h"
#include "tests/support/seeds.h"

namespace phx::runtime::membership_test {
namespace {

using support::gone_change;
using support::MemberNet;
using support::newcomer;
using support::p;
using support::view_of;
using Harness = support::MemberHarness;
using support::silent;
using Box = Membership::Outbox;

}  // namespace

TEST_SUITE_BEGIN("runtime/membership");

TEST_CASE("the coordinator numbers a newcomer, tells all members, then the one who asked") {
  Harness h(1, 3);

  h.message(3, Admit{newcomer(777), 5});

  std::vector<ProcessorId> told;
  std::vector<std::string> to_contact;
  for (const auto& item : h.out.take()) {
    const auto* send = std::get_if<Box::Send>(&item);
    if (send == nullptr) continue;
    if (std::holds_alternative<ViewChange>(send->message)) told.push_back(send->to);
    if (send->to == p(3)) {
      to_contact.emplace_back(std::holds_alternative<ViewChange>(send->message) ? "change"
                                                                                : "answer");
    }
  }
  CHECK(told == std::vector<ProcessorId>{p(2), p(3)});
  CHECK(to_contact == std::vector<std::string>{"change", "answer"});
  CHECK(h.machine.contains(p(4)));
  CHECK(h.machine.view().number == 11);
}

TEST_CASE("asking again for the same incarnation gives the same id and no new view") {
  Harness h(1, 3);
  h.message(3, Admit{newcomer(777), 5});
  h.take<Admitted>();

  h.message(2, Admit{newcomer(777), 9});

  const auto answers = h.take<Admitted>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].first == p(2));
  CHECK(answers[0].second == Admitted{9, p(4), "", 11});
  CHECK(h.machine.view().number == 11);
}

TEST_CASE("programs with daemons inside join such programs only, and phoenixd phoenixd") {
  for (const bool of_programs : {false, true}) {
    View view = view_of(2);
    for (const ProcessorId id : {p(1), p(2)}) {
      Member member = view.members.at(id);
      member.embedded = of_programs;
      view.members.put(std::move(member));
    }
    Harness h(view);
    Member alike = newcomer(777);
    alike.embedded = of_programs;
    Member other = newcomer(778);
    other.embedded = !of_programs;

    h.message(2, Admit{other, 5});
    const auto refused = h.take<Admitted>();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].second.id == kNobody);
    CHECK(refused[0].second.is_final);
    CHECK(refused[0].second.refusal.find(of_programs ? "takes no phoenixd"
                                                     : "takes no program with a daemon inside") !=
          std::string::npos);
    h.message(2, Admit{alike, 6});
    CHECK(h.machine.view().members.contains(p(3)));
    CHECK(h.machine.view().members.at(p(3)).embedded == of_programs);
  }
}

TEST_CASE("a full mesh refuses and says which limit it is") {
  MembershipOptions options;
  options.members_max = 3;
  Harness h(1, 3, options);

  h.message(3, Admit{newcomer(777), 5});

  const auto answers = h.take<Admitted>();
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].second.id == kNobody);
  CHECK(answers[0].second.refusal.find("members_max") != std::string::npos);
  CHECK_FALSE(answers[0].second.is_final);  // there may be room soon
}

TEST_CASE("a member passes a wish to the coordinator and hears of it after the view") {
  Harness h(2, 3);
  h.machine.admit(h.now, newcomer(777), 5, h.out);
  const auto wishes = h.take<Admit>();
  REQUIRE(wishes.size() == 1);
  CHECK(wishes[0].first == p(1));

  h.message(1, ViewChange{11, {Member{p(4), 777, {}, "new", false}}, {}});
  h.message(1, Admitted{5, p(4), "", 11});

  const auto events = h.take_events<Membership::Admission>();
  REQUIRE(events.size() == 1);
  CHECK(events[0].admitted.id == p(4));
}

TEST_CASE("views are installed in the order of their numbers, each once") {
  Harness h(2, 3);

  h.message(1, gone_change(12, 3, Departure::kLeft));
  CHECK(h.machine.view().number == 10);
  h.message(1, ViewChange{11, {Member{p(4), 1, {}, "", false}}, {}});
  CHECK(h.machine.view().number == 12);
  h.message(1, ViewChange{11, {Member{p(5), 1, {}, "", false}}, {}});

  CHECK(!h.machine.contains(p(5)));
  CHECK(!h.machine.contains(p(3)));
}

TEST_CASE("a change by somebody who is not the coordinator is not applied") {
  Harness h(2, 4);

  h.message(3, gone_change(11, 4, Departure::kSilent));

  CHECK(h.machine.contains(p(4)));
}

TEST_CASE("who missed a change asks for the whole view after a while") {
  Harness h(2, 3);
  h.message(1, gone_change(12, 3, Departure::kLeft));
  h.take<ViewReport>();

  h.machine.on_timer(h.now + 2s, Membership::Timer::kRetry, h.out);
  const auto reports = h.take<ViewReport>();
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].first == p(1));

  Harness coordinator(1, 3);
  coordinator.message(3, Admit{newcomer(7), 1});
  coordinator.take<Admitted>();
  coordinator.message(2, reports[0].second);
  CHECK(coordinator.take<ViewInstall>().size() == 1);
}

TEST_CASE("who missed a change asks whoever has made the latest one: the others may be gone") {
  Harness h(4, 6);
  h.message(1, gone_change(12, 1, Departure::kLeft));
  h.message(2, gone_change(12, 1, Departure::kLeft));  // its successor repeats it
  h.take<ViewReport>();
  h.machine.on_timer(h.now + 2s, Membership::Timer::kRetry, h.out);
  CHECK(h.take_receivers<ViewReport>() == std::vector{p(2)});

  for (std::uint32_t number = 13; number < 13 + 2000; ++number) {  // more than are kept
    h.message(2, gone_change(number, number, Departure::kLeft));
  }
  h.message(3, gone_change(13 + 2000, 2, Departure::kLeft));
  h.take<ViewReport>();
  h.machine.on_timer(h.now + 4s, Membership::Timer::kRetry, h.out);
  CHECK(h.take_receivers<ViewReport>() == std::vector{p(3)});
}

TEST_CASE("a coordinator that leaves puts itself out, and the next one repeats its last words") {
  Harness first(1, 3);
  first.machine.leave(first.now, LeaveStep::kRemove, first.out);
  const auto changes = first.take<ViewChange>();
  REQUIRE(changes.size() == 2);
  CHECK(!first.machine.is_coordinator());

  Harness second(2, 3);
  second.message(1, changes[0].second);
  CHECK(second.machine.is_coordinator());
  const auto repeated = second.take<ViewChange>();
  REQUIRE(repeated.size() == 1);
  CHECK(repeated[0].first == p(3));

  Harness third(3, 3);
  third.message(2, repeated[0].second);  // came before the one from p1
  CHECK(third.machine.coordinator() == p(2));
}

TEST_CASE("wishes are repeated to the next coordinator") {
  Harness h(3, 3);
  h.machine.admit(h.now, newcomer(777), 5, h.out);
  h.take<Admit>();

  h.message(1, gone_change(11, 1, Departure::kLeft));

  const auto wishes = h.take<Admit>();
  REQUIRE(wishes.size() == 1);
  CHECK(wishes[0].first == p(2));
}

TEST_CASE("a wish that comes before its receiver is coordinator waits for that") {
  Harness h(2, 3);
  h.message(3, Admit{newcomer(777), 5});
  CHECK(h.take<Admitted>().empty());

  h.message(1, gone_change(11, 1, Departure::kLeft));

  CHECK(h.take<Admitted>().size() == 1);
  CHECK(h.machine.contains(p(4)));
}

TEST_CASE("the coordinator checks a silent accused by itself before it puts it out") {
  Harness h(1, 4);

  h.message(2, silent(4, 2));
  CHECK(h.machine.contains(p(4)));
  const auto checks = h.take<Heartbeat>();
  REQUIRE(checks.size() == 1);
  CHECK(checks[0].first == p(4));
  h.suspect(4);

  CHECK(!h.machine.contains(p(4)));
}

TEST_CASE("a suspicion of the coordinator goes to the lowest that is not suspected") {
  Harness h(4, 4);

  h.suspect(1);
  const auto first = h.take<Suspect>();
  REQUIRE(first.size() == 1);
  CHECK(first[0].first == p(2));
  h.suspect(2);

  std::vector<ProcessorId> accused;
  for (const auto& [to, suspicion] : h.take<Suspect>()) {
    CHECK(to == p(3));
    accused.push_back(suspicion.accused);
  }
  CHECK(accused == std::vector<ProcessorId>{p(1), p(2)});
}

TEST_CASE("a fence by a member ends this processor, a fence by a stranger does not") {
  Harness h(2, 3);
  h.message(1, gone_change(11, 3, Departure::kSilent));
  h.take_events<Membership::FencedOut>();

  h.message(3, Fenced{12, "you are gone"});
  CHECK(h.take_events<Membership::FencedOut>().empty());
  h.message(1, Fenced{12, "you are gone"});

  CHECK(h.take_events<Membership::FencedOut>().size() == 1);
}

TEST_CASE("a leaver that is fenced has left") {
  Harness h(3, 3);
  h.machine.leave(h.now, LeaveStep::kRemove, h.out);
  h.take<Leave>();

  h.message(1, Fenced{12, "you are gone"});

  const auto events = h.take_events<Membership::ViewInstalled>();
  REQUIRE(events.size() == 1);
  CHECK(events[0].gone[0].id == p(3));
}

TEST_CASE("each watches its two successors in the ring, and the second the coordinator") {
  CHECK(Harness(1, 5).machine.watched() == ProcessorSet{p(2), p(3)});
  CHECK(Harness(5, 5).machine.watched() == ProcessorSet{p(1), p(2)});
  CHECK(Harness(2, 5).machine.watched() == ProcessorSet{p(1), p(3), p(4)});
  CHECK(Harness(1, 2).machine.watched() == ProcessorSet{p(2)});
  CHECK(Harness(1, 1).machine.watched().empty());
}

TEST_CASE("job numbers grow, whoever announced the last one") {
  Harness h(1, 2);
  CHECK(h.machine.take_job_id() == JobId{1});
  h.machine.note_job(JobId{7});
  CHECK(h.machine.take_job_id() == JobId{8});
}

TEST_CASE("a join costs one small message per member") {
  MemberNet net(64, 1);
  net.run_until(Instant{} + 1s);
  const std::uint64_t before = net.delivered();

  net.join();
  net.run_until(Instant{} + 4s);

  CHECK(net.living().size() == 65);
  CHECK(net.delivered() - before <= 66);
}

namespace {

struct Scenario {
  std::uint32_t members_max = 7;
  std::uint64_t joins = 8;
  std::uint64_t leaves = 4;
  std::uint64_t deaths = 0;
  std::uint64_t false_alarms = 0;
};

Instant random_time(Rng& rng) {
  return Instant{} + Duration(static_cast<Duration::rep>(rng.below(20'000'000'000)));
}

/// A living one; half of the time the lowest or its next, where it hurts most.
std::optional<ProcessorId> victim(MemberNet& net) {
  const auto living = net.living();
  if (living.size() < 3) return std::nullopt;
  if (net.rng().chance(0.5)) return living[net.rng().below(2)];
  return living[net.rng().below(living.size())];
}

void play(MemberNet& net, const Scenario& scenario) {
  for (std::uint64_t i = 0; i < scenario.joins; ++i) {
    net.at(random_time(net.rng()), [&net] { net.join(); });
  }
  for (std::uint64_t i = 0; i < scenario.leaves; ++i) {
    net.at(random_time(net.rng()), [&net] {
      if (const auto id = victim(net)) net.leave(*id);
    });
  }
  for (std::uint64_t i = 0; i < scenario.deaths; ++i) {
    net.at(random_time(net.rng()), [&net] {
      if (const auto id = victim(net)) net.kill(*id);
    });
  }
  for (std::uint64_t i = 0; i < scenario.false_alarms; ++i) {
    net.at(random_time(net.rng()), [&net] {
      const auto by = victim(net);
      const auto accused = victim(net);
      if (by && accused && *by != *accused) net.accuse(*by, *accused, 3s);
    });
  }
  net.run_until(Instant{} + 90s);
}

/// Everybody who was not killed or fenced has seen the same views, and the last one names exactly
/// those that live.
/// (`with_left`: and so do those that have left. One that was accused falsely may leave by a view
/// of its own while the others put it out.)
void check_agreement(const MemberNet& net, bool with_left = true) {
  std::map<ViewNumber, View> agreed;
  const auto living = net.living();
  if (living.empty()) return;  // all have left
  for (const auto& [id, one] : net.all()) {
    if (!one.machine) continue;
    const bool counts =
        one.fate == MemberNet::Fate::kAlive || (with_left && one.fate == MemberNet::Fate::kLeft);
    if (!counts) continue;
    for (const auto& [number, view] : one.history) {
      if (!view.members.contains(id)) continue;  // the leaver's own end
      const auto [known, is_new] = agreed.try_emplace(number, view);
      REQUIRE(known->second == view);
    }
  }
  for (const ProcessorId id : living) {
    const View& last = net.all().at(id).machine->view();
    std::vector<ProcessorId> members;
    for (const auto& [member, record] : last.members) members.push_back(member);
    REQUIRE(members == living);
  }
  REQUIRE(!net.was_id_given_twice());
  REQUIRE(net.waiting_newcomers() == 0);
}

}  // namespace

TEST_CASE("over many seeds of joins and leaves all see the same views, and all wishes come true") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    CAPTURE(seed);
    MemberNet net(1 + static_cast<std::uint32_t>(seed % 7), seed);

    play(net, {});

    check_agreement(net);
    for (const auto& [id, one] : net.all()) CHECK(one.fate != MemberNet::Fate::kFenced);
  }
}

TEST_CASE("over many seeds of joins, leaves and deaths those that stay see the same views") {
  for (std::uint64_t seed = 0; seed < support::seeds(500); ++seed) {
    CAPTURE(seed);
    MemberNet net(3 + static_cast<std::uint32_t>(seed % 6), seed);

    play(net, {.deaths = 5});

    check_agreement(net);
  }
}

TEST_CASE("over many seeds with false alarms those that are not fenced see the same views") {
  for (std::uint64_t seed = 0; seed < support::seeds(300); ++seed) {
    CAPTURE(seed);
    MemberNet net(4 + static_cast<std::uint32_t>(seed % 6), seed);

    play(net, {.leaves = 2, .deaths = 3, .false_alarms = 6});

    check_agreement(net, /*with_left=*/false);
  }
}

TEST_CASE("over many seeds one false accuser, however loud, puts nobody out") {
  for (std::uint64_t seed = 0; seed < support::seeds(200); ++seed) {
    CAPTURE(seed);
    MemberNet net(3 + static_cast<std::uint32_t>(seed % 6), seed);
    const auto living = net.living();
    const ProcessorId by = living[net.rng().below(living.size())];
    const ProcessorId accused = living[net.rng().below(living.size())];
    for (std::uint64_t i = 0; i < 12 && by != accused; ++i) {
      net.at(random_time(net.rng()), [&net, by, accused] { net.accuse(by, accused, 8s); });
    }

    play(net, {.leaves = 0});

    check_agreement(net);
    for (const auto& [id, one] : net.all()) CHECK(one.fate == MemberNet::Fate::kAlive);
  }
}

TEST_SUITE_END();

}  // namespace phx::runtime::membership_test
