// How jobs end while processors leave, and what the others keep of it.
#include <doctest/doctest.h>

#include <utility>
#include <variant>
#include <vector>

#include "runtime/jobs/job_history.h"
#include "runtime/jobs/jobs.h"
#include "tests/support/daemon_net.h"
#include "tests/support/job_items.h"

namespace phx::runtime::job_ends_test {
namespace {

using support::DaemonNet;

constexpr ProcessorId kFirst{1}, kSecond{2}, kThird{3}, kFourth{4};

/// A mesh with one job, whose processes the test plays.
struct Harness {
  Harness(std::uint32_t members, ProcessorId home, const JobSpec& spec) : net(members) {
    tool = net.ask(home, RunRequest{spec});
    job = net.replies<RunStarted>().at(0).job;
  }
  void ends(ProcessorId at, std::int32_t code = 0) {
    net.daemon(at).on_process_ended(net.now(), job, Exit{code, 0, /*finished=*/true, {}});
    net.run();
  }
  void drains(ProcessorId at) {
    net.daemon(at).drain(net.now());
    net.run_for(5s);
  }
  [[nodiscard]] bool is_retired(ProcessorId at) {
    return !net.heard_by_application<AppRetire>(at).empty();
  }
  [[nodiscard]] std::vector<RunEnded> ended() const { return net.replies<RunEnded>(); }

  DaemonNet net;
  ClientId tool;
  JobId job;
};

JobSpec program(std::uint64_t vnodes, std::uint32_t processes = 0) {
  JobSpec spec;
  spec.vnodes = vnodes;
  spec.command = {"program"};
  spec.processors_max = processes;
  return spec;
}

}  // namespace

TEST_SUITE_BEGIN("runtime/job_ends");

TEST_CASE("a newcomer knows how jobs ended that ended before it came") {
  Harness h(2, kFirst, program(4));
  h.ends(kFirst, 3);
  h.ends(kSecond, 3);
  REQUIRE(h.net.replies<RunEnded>().size() == 1);
  const ProcessorId newcomer = h.net.join(kSecond);
  h.net.kill(kFirst);
  h.net.kill(kSecond);

  h.net.ask(newcomer, FollowRequest{h.job, {}, 0});

  const auto ends = h.net.replies<RunEnded>();
  REQUIRE(ends.size() == 2);
  CHECK(ends[1].code == ends[0].code);
  CHECK(ends[1].reason == ends[0].reason);
}

TEST_CASE("how a job ended is known, however many that began later have ended before it") {
  JobHistory history;
  for (std::uint32_t id = 2; id <= 101; ++id) history.add(JobEnd{JobId{id}, 0, {}});

  history.add(JobEnd{JobId{1}, 3, "why"});

  REQUIRE(history.end(JobId{1}) != nullptr);
  CHECK(history.end(JobId{1})->code == 3);
  CHECK(history.end(JobId{2}) == nullptr);
  CHECK(history.contains(JobId{2}));
}

TEST_CASE("a process that comes when the program is done, where that has left, is told to end") {
  Harness h(2, kFirst, program(2, 1));
  REQUIRE(h.net.started(kFirst).size() == 1);
  h.net.attach(kFirst, h.job);
  h.net.daemon(kFirst).drain(h.net.now());
  h.net.run();
  REQUIRE(h.net.started(kSecond).size() == 1);  // It takes the place of the first one, later.
  h.net.ask(kSecond, FollowRequest{h.job, {}});
  h.net.say(kFirst, AppFinish{});
  h.ends(kFirst);
  h.net.run_for(20s);
  REQUIRE(h.net.has_stopped(kFirst));

  h.net.attach(kSecond, h.job);

  CHECK(h.is_retired(kSecond));
  h.ends(kSecond);
  REQUIRE(h.ended().size() == 1);
  CHECK(h.ended()[0].code == 0);
}

TEST_CASE("a process that was started by hand is missed when it goes away") {
  Harness h(3, kFirst, program(4, 2));
  REQUIRE(h.net.started(kThird).empty());
  for (const ProcessorId at : {kFirst, kSecond, kThird}) h.net.attach(at, h.job);
  REQUIRE(h.ended().empty());

  h.net.daemon(kThird).on_app_down(h.net.now(), ApplicationId{1});
  h.net.run();

  REQUIRE(h.ended().size() == 1);
  CHECK(h.ended()[0].code == 1);
  CHECK(h.ended()[0].reason.find("closed the connection to its daemon") != std::string::npos);
}

TEST_CASE("no program runs a second time because the processor where it has ended leaves") {
  JobSpec spec = program(2, 1);
  spec.detached = true;
  Harness h(3, kThird, spec);
  REQUIRE(h.net.started(kFirst).size() == 1);
  h.net.attach(kFirst, h.job);
  h.net.daemon(kThird).on_client_down(h.net.now(), h.tool);
  h.net.say(kFirst, AppFinish{});
  h.ends(kFirst);

  h.drains(kFirst);

  CHECK(h.net.has_stopped(kFirst));
  CHECK(h.net.started(kSecond).empty());
  CHECK(h.net.started(kThird).empty());
  h.net.ask(kThird, FollowRequest{h.job, {}});
  REQUIRE(h.ended().size() == 1);
  CHECK(h.ended()[0].code == 0);
}

TEST_CASE("a process without vnodes is told to end when the last reduction has passed it") {
  constexpr JobId kJob{7};
  constexpr VnodeId kTarget{0};
  const JobStart start{kJob, program(3), kFirst, 1, {kFirst, kSecond, kFourth}};
  View view;
  view.next_processor = 5;
  const ProcessorSet members{kFirst, kSecond, kThird, kFourth};
  overlay::TreeStore trees;
  trees.put({{kFirst}, kFirst, {{kSecond, {kSecond}}, {kFourth, {kFourth}}}, 1, 1ms});
  Surroundings around{Instant{}, trees, view, members, members, kFirst};
  JobOutbox out;
  Jobs jobs(kThird, {});
  jobs.on_start(around, kFirst, start, out);
  jobs.on_app_message(around, ApplicationId{1}, AppAttach{kJob, 0, 1}, out);
  const auto is_retired = [&out] { return !support::handed<AppRetire>(out.take()).empty(); };
  const collectives::ReductionToken nothing{{kTarget, 0}, {}, {}, false};
  jobs.on_message(around, kSecond, CollectiveMessage{kJob, nothing}, out);
  JobHome others{kJob, kFirst, 1, false, {}};
  for (const ProcessorId id : {kFirst, kSecond, kFourth}) {
    others.stages.put(id, {kJob, Stage::kExited, {}, 4});
  }
  jobs.on_message(around, kFirst, others, out);
  CHECK(!is_retired());  // It would have to pass on what may come from p4.

  around.now += 2s;
  jobs.on_timer(around, {JobTimer::Kind::kReduction, kJob, nothing.id}, out);

  CHECK(is_retired());
}

TEST_CASE("costs: after the end of a job nobody is told of its processes, newcomers neither") {
  Harness h(3, kFirst, program(3));
  for (const ProcessorId id : {kFirst, kSecond, kThird}) h.net.attach(id, h.job);
  h.net.ask(kSecond, SignalRequest{h.job, 0});
  REQUIRE(h.ended().size() == 1);
  const ProcessorId newcomer = h.net.join(kSecond);
  h.net.run_for(1s);

  int told = 0;
  h.net.watch([&](ProcessorId, ProcessorId, const Envelope& envelope) {
    if (std::holds_alternative<JobHome>(envelope)) ++told;
  });
  for (const ProcessorId id : {kSecond, kThird, kFirst}) h.ends(id, 143);
  h.net.run_for(1s);

  CHECK(told == 0);
  CHECK(h.net.daemon(newcomer).status().jobs.empty());
  CHECK(h.net.started(newcomer).empty());
}

TEST_CASE("an empty report of moves does not keep the home from announcing those that follow") {
  Harness h(3, kFirst, program(3));
  h.net.slip_in(kThird, kFirst, Routes{h.job, {}, true});
  h.net.run();
  ProcessorSet told;
  h.net.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    if (from == kFirst && std::holds_alternative<Routes>(envelope)) told.insert(to);
  });
  const Route moved{VnodeSet{VnodeId{1}}, kThird, 2};
  h.net.slip_in(kSecond, kFirst, Routes{h.job, {moved}, true});
  h.net.run();

  CHECK(told == ProcessorSet{kSecond, kThird});
}

TEST_CASE("limits: a statement of processes that are not there yet costs no more than it may") {
  Harness h(2, kFirst, program(2));
  JobHome said{h.job, kFirst, 1, false, {}};
  said.stages.put({ProcessorId{3}, ProcessorId{4'000'000'000}, {h.job, Stage::kExited, {}, 4, 1}});
  h.net.slip_in(kSecond, kFirst, said);
  for (const ProcessorId id : {kFirst, kSecond}) h.net.attach(id, h.job);
  h.net.run();

  CHECK(h.net.daemon(kFirst).status().jobs.size() == 1);
}

TEST_SUITE_END();

}  // namespace phx::runtime::job_ends_test
