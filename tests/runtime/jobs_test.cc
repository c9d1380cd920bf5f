#include "runtime/jobs/jobs.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/membership/view_change.h"
#include "tests/support/daemon_net.h"

namespace phx::runtime::jobs_test {
namespace {

using support::DaemonNet;

constexpr ProcessorId kFirst{1}, kHome{2}, kThird{3}, kFourth{4};

RunRequest job_of(std::uint64_t vnodes) {
  RunRequest request;
  request.spec.vnodes = vnodes;
  request.spec.command = {"program"};
  return request;
}

std::size_t jobs_at(DaemonNet& net, ProcessorId at) {
  return net.daemon(at).status().jobs.size();
}

/// Runs it; p4 does not hear of it.
JobId begin_unheard(DaemonNet& net, RunRequest request) {
  net.hold(kHome, kFourth);  // the announcement
  net.ask(kHome, std::move(request));
  return net.replies<RunStarted>().at(0).job;
}

/// Who said something to whom.
using Said = std::vector<std::pair<ProcessorId, ProcessorId>>;

}  // namespace

TEST_SUITE_BEGIN("runtime/jobs");

TEST_CASE("the coordinator gives a number to the home, and the home announces the job") {
  DaemonNet net(3);
  Said announced;
  net.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    if (std::holds_alternative<JobStart>(envelope)) announced.emplace_back(from, to);
  });

  net.ask(kHome, job_of(6));

  CHECK(announced == Said{{kFirst, kHome}, {kHome, kFirst}, {kHome, kThird}});
  REQUIRE(net.replies<RunStarted>().size() == 1);
  const JobId job = net.replies<RunStarted>()[0].job;
  for (const ProcessorId id : {kFirst, kHome, kThird}) {
    CHECK(net.started(id) == std::vector<JobId>{job});
    CHECK(net.daemon(id).owned(job).size() == 2);
  }
}

TEST_CASE("a coordinator that dies with the number on its way leaves no half of a job") {
  DaemonNet net(4);
  net.hold(kFirst, kHome);
  net.ask(kHome, job_of(8));

  net.kill(kFirst);
  net.run_for(2s);

  REQUIRE(net.replies<RunStarted>().size() == 1);
  const JobId job = net.replies<RunStarted>()[0].job;
  for (const ProcessorId id : {kHome, kThird, kFourth}) {
    CHECK(net.started(id) == std::vector<JobId>{job});
  }
  CHECK(job.value > 1);  // the lost number is not given again
}

TEST_CASE("a home that dies while it announces takes the job with it everywhere") {
  DaemonNet net(4);
  net.hold(kHome, kFourth);
  net.ask(kHome, job_of(8));
  CHECK(jobs_at(net, kThird) == 1);
  CHECK(jobs_at(net, kFourth) == 0);

  net.kill(kHome);
  net.run_for(10s);

  for (const ProcessorId id : {kFirst, kThird, kFourth}) {
    for (const JobStatus& job : net.daemon(id).status().jobs) {
      CHECK(job.home == kHome);
      CHECK(job.stage == Stage::kStarting);  // told to end, and its process has not yet
    }
  }
  CHECK(net.started(kFourth).empty());
}

TEST_CASE("a job nobody waits for any more is not announced") {
  DaemonNet net(3);
  net.hold(kFirst, kHome);
  const ClientId tool = net.ask(kHome, job_of(6));
  net.daemon(kHome).on_client_down(net.now(), tool);

  net.release(kFirst, kHome);

  for (const ProcessorId id : {kFirst, kHome, kThird}) CHECK(net.started(id).empty());
}

TEST_CASE("limits: a job that has no number yet counts as one of those that run at once") {
  DaemonConfig config;
  config.jobs_max = 2;
  DaemonNet net(3, config);
  net.ask(kHome, job_of(6));
  net.hold(kFirst, kHome);  // the next number
  net.ask(kHome, job_of(6));
  REQUIRE(net.replies<Done>().empty());

  net.ask(kHome, job_of(6));
  REQUIRE(net.replies<Done>().size() == 1);
  CHECK(net.replies<Done>()[0].error == "too many jobs at once");
  net.release(kFirst, kHome);

  CHECK(net.replies<RunStarted>().size() == 2);
}

TEST_CASE("a job on a part of the mesh gets the processors where the fewest processes run") {
  DaemonNet net(4);
  const auto begins = [&](std::uint32_t processors) {
    RunRequest request = job_of(4);
    request.spec.command = {"program"};
    request.spec.processors_max = processors;
    net.ask(kHome, request);
  };
  const auto counts = [&] {
    std::vector<std::size_t> started;
    for (std::uint32_t id = 1; id <= 4; ++id)
      started.push_back(net.started(ProcessorId{id}).size());
    return started;
  };
  begins(1);
  CHECK(counts() == std::vector<std::size_t>{1, 0, 0, 0});
  begins(2);
  CHECK(counts() == std::vector<std::size_t>{1, 1, 1, 0});
  begins(1);
  CHECK(counts() == std::vector<std::size_t>{1, 1, 1, 1});
  begins(3);
  CHECK(counts() == std::vector<std::size_t>{2, 2, 2, 1});
  const JobId first = net.started(ProcessorId{1}).front();
  net.daemon(ProcessorId{1}).on_process_ended(net.now(), first, {});
  net.run();
  begins(2);
  CHECK(counts() == std::vector<std::size_t>{3, 2, 2, 2});
}

TEST_CASE("when all numbers of jobs are used up a job is refused, and the others go on") {
  DaemonNet net(2, {}, kIdEnd - 1);
  net.ask(kHome, job_of(2));
  REQUIRE(net.replies<RunStarted>().size() == 1);

  net.ask(kHome, job_of(2));
  net.ask(kFirst, job_of(2));

  REQUIRE(net.replies<Done>().size() == 2);
  for (const Done& refusal : net.replies<Done>()) {
    CHECK(refusal.error ==
          "all numbers of jobs are used up in this mesh; use phoenix down, and phoenix up again");
  }
  CHECK(jobs_at(net, kFirst) == 1);
  CHECK(jobs_at(net, kHome) == 1);
}

TEST_CASE("a process that begins a job of its own is refused, too, when no number is left") {
  DaemonConfig config;
  config.embedded = true;
  DaemonNet net(1, config, kIdEnd);

  net.daemon(kFirst).on_app_message(net.now(), ApplicationId{1}, AppAttach{{}, 3, 1});
  net.run();

  const auto answers = net.heard_by_application<AppAttached>(kFirst);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].refusal.find("all numbers of jobs are used up") == 0);
}

TEST_CASE("where the daemons are inside programs no job with a command begins") {
  DaemonConfig config;
  config.embedded = true;
  DaemonNet net(3, config);
  net.ask(kHome, job_of(6));

  REQUIRE(net.replies<Done>().size() == 1);
  CHECK(net.replies<Done>()[0].error ==
        "the daemons of this mesh are inside programs, and start no processes");
}

TEST_CASE("a second tool that wants to follow is refused, and the first one goes on") {
  DaemonNet net(2);
  net.ask(kHome, job_of(2));
  const JobId job = net.replies<RunStarted>().at(0).job;

  net.ask(kHome, FollowRequest{job, {}});

  REQUIRE(net.replies<Done>().size() == 1);
  CHECK(net.replies<Done>()[0].error == "another tool follows j1 already");
  net.daemon(kHome).on_output(net.now(), job, false, Payload::copy_of("text"));
  net.run();
  CHECK(net.replies<RunOutput>().size() == 1);
}

TEST_CASE("a tool that comes once more takes the place of its connection that is dead") {
  constexpr std::uint64_t kTool = 7;
  DaemonNet net(2);
  RunRequest request = job_of(2);
  request.tool = kTool;
  const ClientId dead = net.ask(kHome, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  net.tools_read(false);  // What it is given now is lost.
  net.daemon(kHome).on_output(net.now(), job, false, Payload::copy_of("text"));
  net.run();
  const std::size_t lost = net.replies<RunOutput>().size();

  for (const std::uint64_t other : {kTool + 1, std::uint64_t{0}}) {
    net.ask(kHome, FollowRequest{job, {}, other});
  }
  CHECK(net.replies<Done>().size() == 2);
  net.tools_read(true);
  net.ask(kHome, FollowRequest{job, {}, kTool});

  CHECK(net.replies<Done>().size() == 2);
  CHECK(net.replies<RunStarted>().size() == 2);
  CHECK(net.replies<RunOutput>().size() == lost + 1);
  net.daemon(kHome).on_client_down(net.now(), dead, {.is_broken = true});
  net.run_for(kToolReturns + 1s);
  CHECK(net.replies<RunEnded>().empty());
}

TEST_CASE("a guest that follows a job when its tool is gone takes nothing with it") {
  DaemonNet net(2);
  RunRequest request = job_of(2);
  request.tool = 7;
  const ClientId tool = net.ask(kHome, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  net.daemon(kHome).on_client_down(net.now(), tool, {.is_broken = true, .is_silent = true});
  net.run();

  const ClientId guest = net.ask(kHome, FollowRequest{job, {}, 8, /*is_guest=*/true});
  REQUIRE(net.replies<RunStarted>().size() == 2);
  net.daemon(kHome).on_client_down(net.now(), guest, {});
  net.run_for(kToolReturns + 1s);
  CHECK(net.replies<RunEnded>().empty());

  // Its own tool comes back, and then goes for good.
  const ClientId again = net.ask(kHome, FollowRequest{job, {}, 7});
  REQUIRE(net.replies<RunStarted>().size() == 3);
  net.daemon(kHome).on_client_down(net.now(), again, {});
  net.run();
  net.ask(kHome, FollowRequest{job, {}, 9, /*is_guest=*/true});
  REQUIRE(net.replies<RunEnded>().size() == 1);
  CHECK(net.replies<RunEnded>()[0].reason == "the tool that followed it went away");
}

TEST_CASE("what comes before its job is announced waits for it") {
  DaemonNet net(4);
  const JobId job = begin_unheard(net, job_of(4));
  net.attach(kThird, job);
  net.daemon(kThird).on_app_message(
      net.now(), ApplicationId{1},
      AppSend{{VnodeId{2}, VnodeId{3}, 0, 7, false, Payload::copy_of("early")}});
  net.run();

  net.release(kHome, kFourth);
  net.attach(kFourth, job);

  const auto grants = net.heard_by_application<AppGrant>(kFourth);
  REQUIRE(grants.size() == 1);
  REQUIRE(grants[0].parcels.size() == 1);
  CHECK(net.heard_by_application<AppDeliver>(kFourth).size() == 1);
}

TEST_CASE("who asked for vnodes before their job was announced, and is gone then, gets no offer") {
  constexpr ProcessorId kAsker{5};
  for (const bool goes : {false, true}) {
    DaemonNet net(5);
    RunRequest request = job_of(8);
    request.spec.processors_max = 4;
    const JobId job = begin_unheard(net, request);
    REQUIRE(net.daemon(kAsker).owned(job).empty());
    net.slip_in(kAsker, kFourth, Pull{job, 0, VnodeSet::range(VnodeId{0}, VnodeId{7})});
    net.hold(kFourth, kAsker);  // An offer is not answered.
    if (goes) net.kill(kAsker);
    net.run_for(2s);

    net.release(kHome, kFourth);

    const std::vector<JobStatus> jobs = net.daemon(kFourth).status().jobs;
    REQUIRE(jobs.size() == 1);
    REQUIRE(!jobs[0].held.empty());
    CHECK((jobs[0].waiting.find("p5 to accept") == std::string::npos) == goes);
  }
}

// Drawn seed 2198: a contribution went along a tree to a leaver that never heard of its job.
TEST_CASE("who leaves without having heard of a job gives contributions to it back") {
  for (const bool leaves_first : {false, true}) {
    CAPTURE(leaves_first);
    DaemonNet net(4);
    RunRequest request = job_of(3);
    request.spec.processors_max = 3;
    const JobId job = begin_unheard(net, request);
    const collectives::ReductionId id{VnodeId{0}, 0};
    const collectives::ReductionToken token{
        .id = id, .kind = {}, .parts = {{VnodeSet{VnodeId{2}}, Payload::copy_of("12345678")}}};
    std::vector<collectives::ReductionToken> given_back;
    net.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
      const auto* message = std::get_if<CollectiveMessage>(&envelope);
      if (from != kFourth || to != kThird || message == nullptr) return;
      given_back.push_back(std::get<collectives::ReductionToken>(message->message));
    });
    const auto slip_in = [&] { net.slip_in(kThird, kFourth, CollectiveMessage{job, token}); };

    if (!leaves_first) slip_in();
    CHECK(given_back.empty());
    net.daemon(kFourth).drain(net.now());
    if (leaves_first) slip_in();
    net.run_for(1s);

    // What was slipped in has broken the link, so it may have to be sent again.
    REQUIRE(!given_back.empty());
    for (const collectives::ReductionToken& one : given_back) CHECK(one == token);
  }
}

TEST_CASE("a newcomer hears of moves that crossed its join from those who gave") {
  DaemonNet net(4);
  RunRequest request = job_of(8);
  request.spec.balance = false;
  net.ask(kHome, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  net.attach(kFourth, job);
  net.hold(kFirst, kThird);  // the view with the newcomer
  net.hold(kThird, kFirst);  // whose map the newcomer gets
  net.hold(kThird, kHome);   // which introduces the job to the newcomer
  net.daemon(kFourth).on_app_message(net.now(), ApplicationId{1}, AppAssume{VnodeSet{VnodeId{4}}});
  net.run();
  REQUIRE(net.daemon(kFourth).owned(job).contains(VnodeId{4}));

  const ProcessorId newcomer = net.join(kFirst);
  net.release(kThird, kFirst);
  net.release(kThird, kHome);
  net.release(kFirst, kThird);
  net.attach(newcomer, job);
  Said sent;
  net.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    if (std::holds_alternative<VnodeMessage>(envelope)) sent.emplace_back(from, to);
  });
  net.daemon(newcomer).on_app_message(net.now(), ApplicationId{1},
                                      AppSend{{VnodeId{0}, VnodeId{4}, 0, 7, false, {}}});
  net.run();

  CHECK(sent == Said{{newcomer, kFourth}});
}

TEST_CASE("more than can be kept for a job not announced yet ends it, and says where") {
  for (const bool limits_bytes : {false, true}) {
    CAPTURE(limits_bytes);
    DaemonConfig config;
    if (limits_bytes) config.parked_bytes_max = 1000;
    if (!limits_bytes) config.early_messages_max = 1;
    DaemonNet net(4, config);
    const JobId job = begin_unheard(net, job_of(4));
    net.attach(kThird, job);

    for (std::uint64_t piece = 0; piece < 2; ++piece) {
      net.daemon(kThird).on_app_message(
          net.now(), ApplicationId{1},
          AppSend{{VnodeId{2}, VnodeId{3}, piece, 7, false, Payload(Bytes(2000))}});
    }
    net.run();

    REQUIRE(net.replies<RunEnded>().size() == 1);
    CHECK(net.replies<RunEnded>()[0].reason ==
          "more than can be kept came to p4 before it heard of the job");
    net.release(kHome, kFourth);
    CHECK(net.started(kFourth).empty());
  }
}

TEST_CASE("a process that comes without a job is refused by a daemon of its own") {
  DaemonNet net(1);

  net.attach(kFirst, JobId{});

  const auto answers = net.heard_by_application<AppAttached>(kFirst);
  REQUIRE(answers.size() == 1);
  CHECK(answers[0].refusal == "started without a job: run it by phoenix run, or without a daemon");
}

TEST_SUITE_END();

}  // namespace phx::runtime::jobs_test
