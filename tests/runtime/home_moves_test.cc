// The home of a job moves while everything else goes wrong.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "runtime/jobs/jobs.h"
#include "tests/support/daemon_net.h"

namespace phx::runtime::home_moves_test {
namespace {

using support::DaemonNet;

constexpr ProcessorId kFirst{1}, kHome{2}, kThird{3}, kFourth{4}, kFifth{5};

/// A mesh with one job that was begun at p2, whose processes the test plays.
struct Harness {
  explicit Harness(std::uint32_t members, std::uint64_t vnodes, std::uint32_t processes = 0)
      : net(members) {
    RunRequest request;
    request.spec.vnodes = vnodes;
    request.spec.command = {"program"};
    request.spec.processors_max = processes;
    net.ask(kHome, request);
    job = net.replies<RunStarted>().at(0).job;
  }
  void writes(ProcessorId at, const std::string& words) {
    net.daemon(at).on_output(net.now(), job, /*is_error=*/false, Payload::copy_of(words));
    net.run();
  }
  void ends(ProcessorId at) {
    net.daemon(at).on_process_ended(net.now(), job, Exit{0, 0, /*finished=*/true, {}});
    net.run();
  }
  /// Its application packs what it has when it is asked to, and its process ends.
  void drains(ProcessorId at) {
    net.daemon(at).drain(net.now());
    net.run();
    for (const AppRelease& m : net.heard_by_application<AppRelease>(at)) {
      AppReleased released;
      for (const VnodeId vnode : m.vnodes.ids()) released.vnodes.emplace_back(vnode, VnodeBundle{});
      net.say(at, std::move(released));
    }
    ends(at);
  }
  /// The home leaves; what p4 wrote before has not come to it yet. The next one is p1.
  void moves_with_output_held_back(const std::string& words) {
    net.hold(kFourth, kHome);
    writes(kFourth, words);
    drains(kHome);
  }
  /// The tool comes, and says what it has seen.
  void follows(ProcessorId at) {
    FollowRequest request{job, {}};
    for (const RunOutput& m : net.replies<RunOutput>()) {
      request.shown[m.output.processor] = m.output.number;
    }
    net.ask(at, request);
  }
  [[nodiscard]] ProcessorId home(ProcessorId as_seen_by) {
    for (const JobStatus& one : net.daemon(as_seen_by).status().jobs) {
      if (one.job == job) return one.home;
    }
    return kNobody;
  }
  [[nodiscard]] std::vector<std::string> shown() const {
    std::vector<std::string> lines;
    for (const RunOutput& m : net.replies<RunOutput>()) {
      const auto bytes = m.output.bytes.bytes();
      lines.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return lines;
  }

  DaemonNet net;
  JobId job;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/home_moves");

TEST_CASE("a tool that dies on its way to the new home ends the job, also with output on its way") {
  Harness h(4, 4);
  for (const ProcessorId id : {kThird, kFourth}) h.net.attach(id, h.job);
  h.moves_with_output_held_back("late");
  REQUIRE(h.net.replies<RunMoved>().size() == 1);  // and nothing is heard of the tool again
  CHECK(h.home(kFourth) == kFirst);

  h.net.attach(kFirst, h.job);
  h.net.release(kFourth, kHome);
  h.net.run_for(5s);
  CHECK(h.net.heard_by_application<AppEnd>(kFourth).empty());
  h.net.run_for(61min);

  for (const ProcessorId id : {kThird, kFourth}) {
    const auto ends = h.net.heard_by_application<AppEnd>(id);
    REQUIRE(ends.size() == 1);
    CHECK(ends[0].reason == "the tool that followed it did not come back");
  }
  for (const ProcessorId id : {kFirst, kThird, kFourth}) h.ends(id);
  h.net.run_for(5s);
  CHECK(h.net.has_stopped(kHome));
  for (const ProcessorId id : {kFirst, kThird, kFourth}) {
    CHECK(h.net.daemon(id).status().jobs.empty());
  }
}

TEST_CASE("a home that moves three times within one round trip loses no output") {
  Harness h(5, 4);
  h.net.attach(kThird, h.job);
  h.writes(kThird, "a");
  for (const ProcessorId id : {kFirst, kHome, kThird, kFourth}) {
    h.net.hold(id, kFifth);  // which has heard of nothing yet when all is over
    h.net.hold(kFifth, id);
  }
  h.writes(kFifth, "b");
  h.drains(kHome);
  h.writes(kFourth, "c");
  h.net.attach(kFourth, h.job);
  h.drains(kFirst);
  h.writes(kFifth, "d");
  h.drains(kThird);
  CHECK(h.home(kFourth) == kFourth);
  CHECK(h.home(kFifth) == kHome);

  h.follows(kFourth);
  h.ends(kFourth);
  h.ends(kFifth);
  CHECK(h.net.replies<RunEnded>().empty());
  for (const ProcessorId id : {kFourth, kThird, kFirst, kHome}) {
    h.net.release(id, kFifth);
    h.net.release(kFifth, id);
  }
  h.net.run_for(5s);

  REQUIRE(h.net.replies<RunEnded>().size() == 1);
  CHECK(h.net.replies<RunEnded>()[0].code == 0);
  CHECK(h.shown() == std::vector<std::string>{"a", "c", "b", "d"});
  for (const ProcessorId id : {kFirst, kHome, kThird}) CHECK(h.net.has_stopped(id));
  for (const ProcessorId id : {kFourth, kFifth}) CHECK(h.net.daemon(id).status().jobs.empty());
}

TEST_CASE("what was on its way to the home before is sent again to the next one") {
  Harness h(5, 2);
  h.net.attach(kThird, h.job);
  h.moves_with_output_held_back("late");
  for (const ProcessorId id : {kFirst, kThird, kFifth, kFourth}) h.ends(id);
  CHECK(h.net.replies<RunEnded>().empty());

  h.follows(kFirst);

  CHECK(h.shown() == std::vector<std::string>{"late"});
  REQUIRE(h.net.replies<RunEnded>().size() == 1);
  CHECK(h.net.replies<RunEnded>()[0].code == 0);
}

TEST_CASE("nobody waits for what a writer had not told the new home, when it has died") {
  Harness h(5, 2);
  h.net.attach(kThird, h.job);
  h.net.hold(kFourth, kFirst);
  h.moves_with_output_held_back("lost");
  h.follows(kFirst);
  CHECK(h.home(kFourth) == kFirst);
  for (const ProcessorId id : {kFirst, kThird, kFifth, kFourth}) h.ends(id);
  CHECK(h.net.replies<RunEnded>().empty());

  h.net.kill(kFourth);
  h.net.run_for(10s);

  CHECK(h.shown().empty());
  REQUIRE(h.net.replies<RunEnded>().size() == 1);
  CHECK(h.net.replies<RunEnded>()[0].code == 0);
}

TEST_CASE("neither job nor output is lost when the home before dies as a leaver") {
  Harness h(5, 2);
  h.net.attach(kThird, h.job);
  h.net.hold(kFourth, kHome);
  const std::string piece(std::size_t{64} << 10U, 'x');
  std::size_t pieces = 0;
  for (; pieces < 100 && !h.net.is_held(kFourth, h.job); ++pieces) h.writes(kFourth, piece);
  h.drains(kHome);
  CHECK(h.home(kFourth) == kFirst);
  CHECK(h.net.is_held(kFourth, h.job));

  h.net.kill(kHome);
  h.net.run_for(20s);
  h.follows(kFirst);

  CHECK(!h.net.is_held(kFourth, h.job));
  CHECK(h.shown() == std::vector<std::string>(pieces, piece));
  for (const ProcessorId id : {kFirst, kThird, kFifth, kFourth}) h.ends(id);
  REQUIRE(h.net.replies<RunEnded>().size() == 1);
  CHECK(h.net.replies<RunEnded>()[0].code == 0);
}

TEST_CASE("a newcomer that becomes home knows the job, and what the tool lacks of it") {
  Harness h(3, 2);
  h.net.attach(kFirst, h.job);
  h.net.attach(kThird, h.job);
  h.writes(kThird, "a");
  const ProcessorId newcomer = h.net.join(kFirst);
  h.net.attach(newcomer, h.job);
  h.drains(kHome);
  h.drains(kFirst);
  h.writes(kThird, "b");
  h.net.daemon(kThird).drain(h.net.now());
  h.net.run();
  CHECK(h.home(newcomer) == newcomer);

  h.follows(newcomer);
  CHECK(h.shown() == std::vector<std::string>{"a", "b"});
}

TEST_SUITE_END();

}  // namespace phx::runtime::home_moves_test
