#include "runtime/daemon_core.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/daemon_net.h"

namespace phx::runtime::daemon_core_test {
namespace {

using support::DaemonNet;

constexpr ProcessorId kFirst{1}, kSecond{2}, kThird{3};

std::string refused_stay(const char* who) {
  return std::string(who) +
         " is the last processor that does not leave; to end the mesh, use phoenix down";
}

}  // namespace

TEST_SUITE_BEGIN("runtime/daemon_core");

TEST_CASE("of the last two that are drained at once one goes, and the other stays and says so") {
  DaemonNet net(2);
  net.hold(kFirst, kSecond);  // so that neither knows of the other's drain
  net.hold(kSecond, kFirst);

  net.ask(kFirst, DrainRequest{{kFirst}});
  net.ask(kSecond, DrainRequest{{kSecond}});
  net.release(kFirst, kSecond);
  net.release(kSecond, kFirst);
  net.run_for(2s);

  CHECK(net.has_stopped(kFirst));
  CHECK(!net.has_stopped(kSecond));
  REQUIRE(net.replies<Done>().size() == 1);
  CHECK(net.replies<Done>()[0].error == refused_stay("p2"));
  CHECK(net.daemon(kSecond).view().members.size() == 1);
}

TEST_CASE("who ordered the drain of another one hears that it stays") {
  DaemonNet net(2);
  net.hold(kSecond, kFirst);
  net.ask(kFirst, DrainRequest{{kSecond}});
  net.ask(kFirst, DrainRequest{{kFirst}});

  net.release(kSecond, kFirst);
  net.run_for(2s);

  REQUIRE(net.replies<Done>().size() == 1);
  CHECK(net.replies<Done>()[0].error == refused_stay("p2"));
  CHECK(net.has_stopped(kFirst));
  CHECK(!net.has_stopped(kSecond));
}

TEST_CASE("a daemon told to end stays while others count on it, and ends when it is alone") {
  DaemonNet net(2);
  net.hold(kFirst, kSecond);
  net.daemon(kFirst).drain(net.now());
  net.daemon(kSecond).drain(net.now());
  net.run();
  CHECK(!net.has_stopped(kSecond));

  net.release(kFirst, kSecond);
  net.run_for(6s);

  CHECK(net.has_stopped(kFirst));
  CHECK(net.has_stopped(kSecond));
}

TEST_CASE("who came while a mesh was taken down ends with it, known to the one asked or not") {
  DaemonNet net(3);
  net.hold(kFirst, kThird);
  const ProcessorId newcomer = net.join(kSecond);

  net.ask(kThird, DownRequest{});
  net.run_for(1s);

  CHECK(net.has_stopped(newcomer));
}

TEST_CASE("a tool hears who has not confirmed that the mesh ends, from the one who told them") {
  DaemonNet net(3);
  net.hold(kThird, kFirst);
  net.ask(kSecond, DownRequest{});
  net.run();
  REQUIRE(net.replies<Done>().size() == 1);
  CHECK(net.replies<Done>()[0] == Done{});

  DaemonNet deaf(3);
  deaf.hold(kThird, kFirst);
  deaf.ask(kFirst, DownRequest{});
  deaf.run();
  CHECK(deaf.replies<Done>().empty());
  deaf.run_for(6s);
  REQUIRE(deaf.replies<Done>().size() == 1);
  CHECK(deaf.replies<Done>()[0].error.empty());
  REQUIRE(deaf.replies<Done>()[0].unconfirmed.size() == 1);
  CHECK(deaf.replies<Done>()[0].unconfirmed[0].id == kThird);
}

TEST_CASE(
    "the end of a mesh costs an order per member, and a sign of life where there was no way") {
  for (const std::uint32_t members : {4U, 16U, 64U, 256U}) {
    CAPTURE(members);
    DaemonNet net(members);
    std::uint32_t orders = 0;
    std::uint32_t signs = 0;
    net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
      orders += std::holds_alternative<DownOrder>(envelope) ? 1 : 0;
      const bool is_sign = std::holds_alternative<Heartbeat>(envelope);
      signs += from == kSecond && is_sign ? 1 : 0;
    });
    const Instant begin = net.now();
    net.ask(kSecond, DownRequest{});
    while (net.replies<Done>().empty() && net.now() - begin < 2s) net.run_for(10ms);

    CHECK(orders == members - 1);
    CHECK(signs < members);
    REQUIRE(net.replies<Done>().size() == 1);
    CHECK(net.replies<Done>()[0] == Done{});
    CHECK(net.now() - begin < 500ms);  // No step has waited for its limit.
    for (std::uint32_t id = 1; id <= members; ++id) CHECK(net.has_stopped(ProcessorId{id}));
  }
}

TEST_CASE("who was told of the end answers no tool for whoever tells") {
  DaemonNet net(3);
  net.hold(kSecond, kThird);  // so that it cannot confirm it, and is there for a while
  net.hold(kThird, kFirst);
  net.ask(kFirst, DownRequest{});
  REQUIRE(!net.has_stopped(kFirst));
  net.ask(kFirst, DownRequest{});
  net.run_for(6s);

  REQUIRE(net.replies<Done>().size() == 2);  // Both asked the one who tells.
  for (const Done& done : net.replies<Done>()) CHECK(done.unconfirmed.size() == 1);
}

TEST_CASE("a mesh that is taken down lets nobody in") {
  DaemonNet net(3);
  net.hold(kThird, kFirst);  // so that it waits for a last confirmation
  net.ask(kFirst, DownRequest{});
  REQUIRE(!net.has_stopped(kFirst));

  net.ask(kFirst, JoinRequest{{{}, 7, {"late"}, {}, false}});
  net.slip_in(kSecond, kFirst, Admit{{{}, 8, {"later"}, {}, false}, 1});

  REQUIRE(net.replies<JoinReply>().size() == 1);
  CHECK(net.replies<JoinReply>()[0].refusal == "the mesh is just being taken down");
  CHECK(net.daemon(kFirst).view().members.size() == 3);
}

TEST_CASE("a mesh for one job ends when none has run for long, and later before the first one") {
  DaemonConfig config;
  config.idle_max = 10s;
  DaemonNet net(3, config);
  net.run_for(35s);
  net.ask(kFirst, StatusRequest{});
  net.run_for(35s);
  CHECK(!net.has_stopped(kFirst));
  CHECK(!net.has_stopped(kThird));
  net.run_for(15s);
  CHECK(net.has_stopped(kFirst));
  CHECK(net.has_stopped(kThird));

  DaemonNet used(3, config);
  RunRequest request;
  request.spec.vnodes = 1;
  request.spec.command = {"anything"};
  used.ask(kSecond, request);
  used.run_for(100s);
  CHECK(!used.has_stopped(kFirst));
  REQUIRE(used.replies<RunStarted>().size() == 1);
  const JobId job = used.replies<RunStarted>()[0].job;
  used.ask(kSecond, SignalRequest{job, 0});
  for (const ProcessorId each : {kFirst, kSecond, kThird}) {
    used.daemon(each).on_process_ended(used.now(), job, Exit{});
  }
  used.run_for(8s);
  CHECK(!used.has_stopped(kFirst));
  used.run_for(10s);
  CHECK(used.has_stopped(kFirst));
  CHECK(used.has_stopped(kSecond));
}

TEST_CASE("a flush is answered by those who know that the asker leaves") {
  DaemonNet net(3);
  std::vector<ProcessorId> answered;
  net.watch([&](ProcessorId from, ProcessorId, const Envelope& envelope) {
    const auto* flush = std::get_if<Flush>(&envelope);
    if (flush != nullptr && flush->answer) answered.push_back(from);
  });
  net.hold(kFirst, kThird);  // the view that says so

  net.daemon(kSecond).drain(net.now());
  net.run();
  CHECK(answered == std::vector{kFirst});

  net.release(kFirst, kThird);
  CHECK(answered == std::vector{kFirst, kThird});
}

TEST_CASE("when those who stay die, the jobs of those who leave end with a sentence") {
  DaemonNet net(3);
  RunRequest request;
  request.spec.vnodes = 1;
  request.spec.processors_max = 1;
  request.spec.command = {"program"};
  net.ask(kFirst, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  net.attach(kFirst, job);
  for (const ProcessorId id : {kFirst, kSecond}) net.daemon(id).drain(net.now());
  net.run();

  REQUIRE(net.replies<RunMoved>().size() == 1);  // to p3, where the tool has not come yet

  net.kill(kThird);
  net.run_for(10s);
  net.ask(kFirst, FollowRequest{job, {}});

  REQUIRE(net.replies<RunEnded>().size() == 1);
  CHECK(net.replies<RunEnded>()[0].reason == "all processors that are left leave the mesh");
}

TEST_CASE("who was declared dead tells its tools that it was, and what every job lost with it") {
  DaemonNet net(3);
  RunRequest request;
  request.spec.command = {"program"};
  request.spec.vnodes = 6;
  net.ask(kSecond, request);
  request.spec.vnodes = 2;
  request.spec.processors_max = 1;  // so p2 looks after it, and holds nothing of it
  net.ask(kSecond, request);
  REQUIRE(net.replies<RunStarted>().size() == 2);

  net.slip_in(kFirst, kSecond, Fenced{5, "declared gone in view 5"});

  const auto ends = net.replies<RunEnded>();
  REQUIRE(ends.size() == 2);
  CHECK(ends[0].reason == "p2 is gone for the others (declared gone in view 5), and with it v2-3");
  CHECK(ends[1].reason ==
        "p2 is gone for the others (declared gone in view 5), which looked after the job");
  CHECK(ends[0].code == 1);  // nobody has asked for it
  CHECK(ends[1].code == 1);
  CHECK(net.stop(kSecond).code == 3);
}

TEST_CASE("limits: a request for a job that comes too early is kept, or counted") {
  for (const auto kept_at_most : {std::uint64_t{1}, std::uint64_t{0}}) {
    CAPTURE(kept_at_most);
    DaemonConfig config;
    config.early_job_requests_max = kept_at_most;
    DaemonNet net(2, config);

    net.slip_in(kFirst, kSecond, JobRequest{1, {}});

    const auto counters = net.daemon(kSecond).status().counters;
    const Counter expected{"job-requests-dropped", 1 - kept_at_most};
    CHECK(std::find(counters.begin(), counters.end(), expected) != counters.end());
  }
}

TEST_CASE("limits: whose request for a job comes too early, and cannot be kept, is told so") {
  DaemonConfig config;
  config.early_job_requests_max = 0;
  DaemonNet net(3, config);
  net.watch([&](ProcessorId from, ProcessorId to, const Envelope& envelope) {
    const auto* view = std::get_if<ViewChange>(&envelope);
    const bool is_last = view != nullptr && !view->gone.empty();
    if (is_last && from == kFirst && to == kSecond) net.hold(from, to);
  });
  net.daemon(kFirst).drain(net.now());
  net.run();
  RunRequest request;
  request.spec.vnodes = 1;
  request.spec.command = {"program"};

  net.ask(kThird, request);

  REQUIRE(net.replies<Done>().size() == 1);
  CHECK(net.replies<Done>()[0].error ==
        "too many jobs are asked for while p2 takes over; try again");
  net.release(kFirst, kSecond);
  net.ask(kThird, request);
  CHECK(net.replies<RunStarted>().size() == 1);
}

namespace {

/// Why the job ends, if it does: p3 has given its only vnode to p2, lives `after` that, and dies.
std::string end_by_death_of_giver(Duration after) {
  DaemonNet net(3);
  RunRequest request;
  request.spec.vnodes = 3;
  request.spec.balance = false;
  request.spec.command = {"program"};
  net.ask(kFirst, request);
  const JobId job = net.replies<RunStarted>().at(0).job;
  net.attach(kSecond, job);
  net.say(kSecond, AppAssume{VnodeSet{VnodeId{2}}});
  REQUIRE(net.daemon(kSecond).owned(job).contains(VnodeId{2}));

  net.run_for(after);
  net.kill(kThird);
  net.run_for(5s);

  CHECK(net.daemon(kFirst).view().members.size() == 2);
  const auto ends = net.replies<RunEnded>();
  return ends.empty() ? "" : ends[0].reason;
}

}  // namespace

TEST_CASE("a death ends a job that may have lost vnodes with it, for 15 s after the last one") {
  // It is noticed a second later.
  CHECK(end_by_death_of_giver(13s) ==
        "p3 is gone (connection refused), and with it vnodes that it was passing on");
  CHECK(end_by_death_of_giver(15s) == "");
}

TEST_SUITE_END();

}  // namespace phx::runtime::daemon_core_test
