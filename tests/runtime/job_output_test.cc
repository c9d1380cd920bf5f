#include "runtime/jobs/job_output.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/daemon_net.h"
#include "tests/support/job_items.h"

namespace phx::runtime::job_output_test {
namespace {

using support::DaemonNet;

constexpr ProcessorId kHome{1}, kWriter{2}, kThird{3};
constexpr JobId kJob{7};
constexpr std::size_t kPiece = std::size_t{16} << 10U;

Output output_of(ProcessorId writer, std::size_t bytes, std::uint64_t number = 0) {
  return {kJob, writer, false, Payload(Bytes(bytes)), number};
}

/// The output of one job at `self`, in a mesh of so many.
struct Harness {
  explicit Harness(ProcessorId self, std::uint32_t processors) : output(self, kJob) {
    members = ProcessorSet::range(ProcessorId{1}, ProcessorId{processors});
    staying = members;
    view.next_processor = processors + 1;
  }
  Surroundings around() { return {now, trees, view, members, staying, kHome, false}; }
  /// So many outputs are written here before the process is held up; at most `most`.
  std::uint64_t writes(std::size_t bytes, std::uint64_t most) {
    std::uint64_t written = 0;
    for (; written < most && !output.is_held_up(); ++written) {
      Output one = output_of(kWriter, bytes);
      output.on_written(around(), one, out);
    }
    return written;
  }
  void comes(std::size_t bytes) { comes_as(++come, bytes); }
  void comes_as(std::uint64_t number, std::size_t bytes = 100) {
    output.on_come(output_of(kWriter, bytes, number), out);
  }
  /// The numbers of what was shown since the last look.
  std::vector<std::uint64_t> shown() {
    std::vector<std::uint64_t> numbers;
    for (const ClientReply& reply : support::replied(out.take())) {
      numbers.push_back(std::get<RunOutput>(reply).output.number);
    }
    return numbers;
  }
  /// What writers are told since the last look.
  std::vector<std::uint64_t> told() {
    std::vector<std::uint64_t> counts;
    for (const auto& [to, m] : support::sent<OutputTaken>(out.take())) counts.push_back(m.count);
    return counts;
  }

  Instant now;
  View view;
  ProcessorSet members, staying;
  overlay::TreeStore trees;
  JobOutbox out;
  JobOutput output;
  std::uint64_t come = 0;
};

/// Three daemons, and a tool that follows a job of p1, whose processes run.
struct Trio {
  explicit Trio(const DaemonConfig& config = {}, bool detached = false) : net(3, config) {
    RunRequest request;
    request.spec.vnodes = 3;
    request.spec.command = {"program"};
    request.spec.detached = detached;
    request.spec.attach_timeout = detached ? 10h : 30s;
    tool = net.ask(kHome, request);
    job = net.replies<RunStarted>().at(0).job;
  }
  /// The process there writes until it is held up. Returns how often, at most `most`.
  int writes(ProcessorId at, int most = 1000) {
    int pieces = 0;
    for (; pieces < most && !net.is_held(at, job); ++pieces) {
      net.daemon(at).on_output(net.now(), job, false, Payload(Bytes(kPiece)));
      net.run_for(1ms);
    }
    return pieces;
  }
  std::size_t shown() { return net.replies<RunOutput>().size(); }
  std::string waiting(ProcessorId at) {
    const auto jobs = net.daemon(at).status().jobs;
    return jobs.empty() ? "no job" : jobs[0].waiting;
  }
  void exits(ProcessorId at) { net.daemon(at).on_process_ended(net.now(), job, {}); }

  DaemonNet net;
  ClientId tool;
  JobId job;
};

const std::string kUnread =
    "the tool that follows j1, to read its output (if it is gone: phoenix attach j1, or phoenix "
    "kill j1)";

}  // namespace

TEST_SUITE_BEGIN("runtime/job_output");

TEST_CASE("limits: a process is held up at a window of untaken output, and goes on below half") {
  Harness h(kWriter, 32);
  const std::uint64_t written = h.writes(kPiece, 1000);

  CHECK(written == JobOutput::kWindowMax / (kPiece + JobOutput::kOutputBytes) + 1);
  CHECK(support::effects<HoldOutput>(h.out.take()) == std::vector{HoldOutput{kJob, true}});
  h.output.on_taken(h.around(), written / 4, h.out);
  h.output.on_taken(h.around(), 1, h.out);  // older
  CHECK(h.output.is_held_up());
  h.output.on_taken(h.around(), written / 2 + 1, h.out);

  CHECK(!h.output.is_held_up());
  CHECK(support::effects<HoldOutput>(h.out.take()) == std::vector{HoldOutput{kJob, false}});
}

TEST_CASE("limits: the windows of many writers are smaller, and small outputs count as well") {
  const auto window = [](std::uint32_t processors, std::size_t bytes) {
    Harness h(kWriter, processors);
    return h.writes(bytes, 100'000) * (bytes + JobOutput::kOutputBytes);
  };

  CHECK(window(128, 1000) / 1100 == (JobOutput::kWindowsBytes / 128) / 1100);
  CHECK(window(10'000, 1000) / 1100 == JobOutput::kWindowMin / 1100);
  CHECK(window(10'000, 0) == JobOutput::kWindowMin + JobOutput::kOutputBytes);
}

TEST_CASE(
    "a writer hears what was taken often enough for the smallest window, and not more often") {
  Harness h(kHome, 3);
  h.output.on_tool({ClientId{1}}, {}, {}, h.out);

  h.comes(kPiece);
  h.output.on_tool_took(h.around(), h.out);
  CHECK(h.told().empty());
  h.comes(kPiece);
  CHECK(!h.output.is_taken());
  CHECK(h.told().empty());
  h.output.on_tool_took(h.around(), h.out);

  CHECK(h.output.is_taken());
  CHECK(h.told() == std::vector<std::uint64_t>{2});
}

TEST_CASE("a writer whose joining is not known here yet is told like all others") {
  Harness h(kHome, 1);
  CHECK(!h.members.contains(kWriter));
  h.output.on_tool({ClientId{1}}, {}, {}, h.out);
  for (int i = 0; i < 2; ++i) h.comes(kPiece);

  h.output.on_tool_took(h.around(), h.out);

  CHECK(h.told() == std::vector<std::uint64_t>{2});
}

TEST_CASE("a leaver hears of the least thing, and nobody who is gone of anything") {
  Harness h(kHome, 3);
  h.output.on_tool({ClientId{1}}, {}, {}, h.out);
  h.comes(1);
  h.staying.erase(kWriter);
  h.output.on_tool_took(h.around(), h.out);
  CHECK(h.told() == std::vector<std::uint64_t>{1});

  h.comes(kPiece);
  h.members.erase(kWriter);
  h.output.on_tool_took(h.around(), h.out);
  CHECK(h.told().empty());
}

TEST_CASE("while no tool is here nothing is kept, and the tool that comes gets all of it") {
  Harness writer(kWriter, 3);
  writer.writes(100, 4);
  writer.output.on_taken(writer.around(), 1, writer.out);
  Harness home(kHome, 3);
  for (const std::uint64_t number : {2U, 3U}) home.comes_as(number);
  CHECK(home.shown().empty());

  home.output.on_tool({ClientId{1}}, {{kWriter, 1}}, ProcessorSet{kWriter}, home.out);
  const auto asked = support::sent<OutputTaken>(home.out.take());
  REQUIRE(asked.size() == 1);
  CHECK(asked[0] == std::pair{kWriter, OutputTaken{kJob, 1, true}});
  home.comes_as(4);  // was sent before it was asked
  writer.output.repeat(kHome, writer.out);
  for (const auto& [to, m] : support::sent<Output>(writer.out.take())) {
    home.output.on_come(m, home.out);
  }

  CHECK(home.shown() == std::vector<std::uint64_t>{2, 3, 4});
  CHECK(home.output.given(kWriter) == 4);
}

TEST_CASE("a home asks once for what is missing, shows nothing out of order and nothing twice") {
  Harness h(kHome, 3);
  h.output.on_tool({ClientId{1}}, {}, {}, h.out);
  for (const std::uint64_t number : {3U, 4U}) h.comes_as(number);
  const auto asked = support::sent<OutputTaken>(h.out.take());
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].second == OutputTaken{kJob, 0, true});

  for (const std::uint64_t number : {1U, 2U, 1U, 3U, 4U, 4U}) h.comes_as(number);

  CHECK(h.shown() == std::vector<std::uint64_t>{1, 2, 3, 4});
}

TEST_CASE("nobody waits for what the writer keeps no more") {
  Harness h(kHome, 3);
  h.output.on_tool({ClientId{1}}, {{kWriter, 1}}, {}, h.out);
  h.output.on_forgotten(kWriter, 3);
  h.comes_as(4);

  CHECK(h.shown() == std::vector<std::uint64_t>{4});
}

TEST_CASE("limits: what is kept for the tool is a window and one output more, whatever happens") {
  Harness h(kWriter, 32);
  const std::uint64_t written = h.writes(kPiece, 1000);
  for (int i = 0; i < 10; ++i) h.output.repeat(kHome, h.out);
  CHECK(support::sent<Output>(h.out.take()).size() == 10 * written);
  CHECK(h.output.written() - h.output.taken() == written);

  h.output.on_over(h.out);
  CHECK(h.output.written() == h.output.taken());
}

TEST_CASE("processes wait for a tool that does not read, and nothing is lost") {
  Trio trio;
  trio.net.tools_read(false);
  const int first = trio.writes(kWriter);
  const int own = trio.writes(kHome);
  CHECK(trio.net.is_held(kWriter, trio.job));
  CHECK(trio.net.is_held(kHome, trio.job));
  CHECK(trio.waiting(kWriter) == kUnread);
  CHECK(first == own);

  trio.net.tools_read(true);
  CHECK(!trio.net.is_held(kWriter, trio.job));
  CHECK(!trio.net.is_held(kHome, trio.job));
  CHECK(trio.waiting(kWriter) != kUnread);
  const int more = trio.writes(kWriter, 500);  // far more than a window

  CHECK(more == 500);
  CHECK(trio.shown() == static_cast<std::size_t>(first + own + more));
}

TEST_CASE("a process that is held up before it attaches has its time when it goes on") {
  Trio trio;
  trio.net.tools_read(false);
  trio.writes(kWriter);
  for (const ProcessorId id : {kHome, kThird}) trio.net.attach(id, trio.job);
  trio.net.run_for(100s);
  CHECK(trio.net.replies<RunEnded>().empty());

  trio.net.tools_read(true);
  trio.net.run_for(100s);

  REQUIRE(trio.net.replies<RunEnded>().size() == 1);
  CHECK(trio.net.replies<RunEnded>()[0].reason.find("has not attached in time") !=
        std::string::npos);
}

TEST_CASE("a job is not over before its tool has read all of it") {
  Trio trio;
  trio.net.tools_read(false);
  trio.writes(kWriter, 3);
  for (const ProcessorId id : {kHome, kWriter, kThird}) trio.exits(id);
  trio.net.run();
  CHECK(trio.net.replies<RunEnded>().empty());
  CHECK(trio.waiting(kHome) == kUnread);

  trio.net.tools_read(true);

  CHECK(trio.shown() == 3);
  REQUIRE(trio.net.replies<RunEnded>().size() == 1);
  CHECK(trio.net.replies<RunEnded>()[0].code == 0);
}

TEST_CASE(
    "a home that is to leave stays until the tool has what it wrote, and the next one goes on") {
  Trio trio;
  for (const ProcessorId id : {kWriter, kThird}) trio.net.attach(id, trio.job);
  trio.net.tools_read(false);
  const int own = trio.writes(kHome, 3);
  const int first = trio.writes(kWriter);
  trio.net.daemon(kHome).drain(trio.net.now());
  trio.net.run();
  trio.net.daemon(kHome).on_process_ended(trio.net.now(), trio.job, {0, 15, false, ""});
  trio.net.run_for(20s);
  CHECK(trio.net.replies<RunMoved>().size() == 1);  // the tool is stopped on its way
  CHECK(!trio.net.has_stopped(kHome));
  CHECK(trio.waiting(kHome) == kUnread);
  trio.net.run_for(30min);

  trio.net.tools_read(true);
  trio.net.ask(kWriter, FollowRequest{trio.job, {}});

  CHECK(trio.net.has_stopped(kHome));
  CHECK(!trio.net.is_held(kWriter, trio.job));
  const int later = trio.writes(kThird, 100);
  // It saw nothing of what the first home gave it, since that closed the connection.
  CHECK(trio.shown() == static_cast<std::size_t>(2 * (own + first) + later));
}

TEST_CASE("a writer that is to leave waits for the tool, and says so") {
  Trio trio;
  trio.net.attach(kWriter, trio.job);
  trio.net.tools_read(false);
  const int pieces = trio.writes(kWriter);
  trio.net.daemon(kWriter).drain(trio.net.now());
  trio.net.run_for(20s);
  CHECK(!trio.net.has_stopped(kWriter));
  CHECK(trio.waiting(kWriter) == kUnread);

  trio.net.tools_read(true);

  CHECK(!trio.net.is_held(kWriter, trio.job));
  CHECK(trio.waiting(kWriter) != kUnread);  // it is up to the application now
  CHECK(trio.shown() == static_cast<std::size_t>(pieces));
}

TEST_CASE("a writer that leaves does not wait for what the tool has had for long") {
  Trio trio;
  CHECK(trio.writes(kWriter, 1) == 1);  // So little that it was not told of it.
  trio.net.daemon(kWriter).drain(trio.net.now());
  trio.exits(kWriter);
  trio.net.run_for(20s);

  CHECK(trio.net.has_stopped(kWriter));
}

TEST_CASE("a job whose tool goes away holds nobody up, and says why it ends") {
  for (const std::string why : {"", "it did not read"}) {
    Trio trio;
    trio.net.tools_read(false);
    trio.writes(kWriter);

    trio.net.daemon(kHome).on_client_down(trio.net.now(), trio.tool, {why});
    trio.net.run();

    CHECK(!trio.net.is_held(kWriter, trio.job));
    CHECK(trio.writes(kWriter, 1000) == 1000);  // nobody reads it
    for (const ProcessorId id : {kHome, kWriter, kThird}) trio.exits(id);
    trio.net.ask(kThird, FollowRequest{trio.job, {}});
    REQUIRE(trio.net.replies<RunEnded>().size() == 1);
    CHECK(trio.net.replies<RunEnded>()[0].reason ==
          "the tool that followed it " +
              (why.empty() ? std::string("went away") : "was dropped: " + why));
  }
}

TEST_CASE("a detached job whose tool goes away waits for another, which gets what was not read") {
  for (const bool changes_home : {false, true}) {
    CAPTURE(changes_home);
    Trio trio({}, /*detached=*/true);
    const int first = trio.writes(kWriter, 3);
    trio.net.tools_read(false);
    const int unread = trio.writes(kWriter, 3);

    trio.net.daemon(kHome).on_client_down(trio.net.now(), trio.tool);
    trio.net.run();
    CHECK(trio.net.replies<RunEnded>().empty());
    trio.net.tools_read(true);
    const int later = trio.writes(kWriter, 3);
    if (changes_home) {
      trio.net.daemon(kHome).drain(trio.net.now());
      trio.exits(kHome);
      trio.net.run_for(20s);
      REQUIRE(trio.net.has_stopped(kHome));
    }
    const std::size_t before = trio.shown();
    trio.net.ask(changes_home ? kWriter : kHome, FollowRequest{trio.job, {}});

    const auto again = static_cast<int>(trio.shown() - before);
    CHECK(again >= unread + later);
    CHECK(again <= first + unread + later);
    CHECK(trio.writes(kWriter, 2) == 2);
    CHECK(trio.net.replies<RunEnded>().empty());
  }
}

TEST_CASE("a job waits for its tool whose connection broke, which gets what it has not read") {
  Trio trio;
  const int first = trio.writes(kWriter, 3);
  trio.net.tools_read(false);
  const int unread = trio.writes(kWriter, 3);

  trio.net.daemon(kHome).on_client_down(trio.net.now(), trio.tool, {.is_broken = true});
  trio.net.tools_read(true);
  trio.net.run_for(kToolReturns - 1s);
  CHECK(trio.net.replies<RunEnded>().empty());
  const std::size_t before = trio.shown();
  trio.net.ask(kHome, FollowRequest{trio.job, {}});
  trio.net.run_for(5s);  // beyond the time for coming back

  CHECK(trio.shown() >= before + static_cast<std::size_t>(unread));
  CHECK(trio.shown() <= before + static_cast<std::size_t>(first + unread));
  CHECK(trio.net.replies<RunEnded>().empty());
}

TEST_CASE("a job whose tool's connection broke ends if the tool does not come back") {
  Trio trio;
  trio.net.daemon(kHome).on_client_down(trio.net.now(), trio.tool, {.is_broken = true});
  trio.net.run_for(kToolReturns + 1s);
  for (const ProcessorId id : {kHome, kWriter, kThird}) trio.exits(id);

  trio.net.ask(kThird, FollowRequest{trio.job, {}});
  REQUIRE(trio.net.replies<RunEnded>().size() == 1);
  CHECK(trio.net.replies<RunEnded>()[0].reason == "the tool that followed it did not come back");
}

TEST_CASE("a tool whose machine is silent may sleep, and is waited for as by a detached job") {
  Trio trio;
  for (const ProcessorId id : {kHome, kWriter, kThird}) trio.net.attach(id, trio.job);
  trio.net.daemon(kHome).on_client_down(trio.net.now(), trio.tool,
                                        {.is_broken = true, .is_silent = true});
  trio.net.run_for(59min);
  trio.net.ask(kHome, FollowRequest{trio.job, {}});
  trio.net.run_for(2min);
  CHECK(trio.net.replies<RunEnded>().empty());
}

TEST_CASE("a detached job that no tool comes to follow ends after an hour, with a sentence") {
  Trio trio({}, /*detached=*/true);
  trio.net.daemon(kHome).on_client_down(trio.net.now(), trio.tool);
  trio.net.run_for(59min);
  CHECK(trio.net.replies<RunEnded>().empty());
  trio.net.run_for(2min);
  trio.net.ask(kThird, FollowRequest{trio.job, {}});
  REQUIRE(trio.net.replies<RunEnded>().size() == 1);
  CHECK(trio.net.replies<RunEnded>()[0].reason == "the tool that followed it did not come back");
}

TEST_CASE("a job that is ended by somebody else does not wait for its tool to read") {
  Trio trio;
  trio.net.tools_read(false);
  trio.writes(kWriter);

  trio.net.ask(kThird, SignalRequest{trio.job, 0});

  CHECK(!trio.net.is_held(kWriter, trio.job));
  REQUIRE(trio.net.replies<RunEnded>().size() == 1);
  CHECK(trio.net.replies<RunEnded>()[0].reason == "ended by request");
}

TEST_SUITE_END();

}  // namespace phx::runtime::job_output_test
