#include "runtime/tcp/processes.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tcp/output_pipe.h"
#include "tests/tcp/folder.h"
#include "tests/tcp/loop.h"

namespace phx::tcp {
namespace {

constexpr JobId kJob{4};

/// Waits for the end of a process that is not our child. The time limit only ends a hanging test.
bool has_ended(int process) {
  constexpr int kWatchdogMs = 30000;
  const Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!ended.is_open()) return errno == ESRCH;
  pollfd wanted{.fd = ended.get(), .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, kWatchdogMs) == 1;
}

struct Harness {
  Harness()
      : processes(loop.io.get_executor(),
                  {.on_output =
                       [this](JobId, bool is_error, Payload bytes) {
                         CHECK(!exit);
                         (is_error ? errors : output) += bytes.text();
                         pieces.push_back(std::string(bytes.text()));
                       },
                   .on_ended = [this](JobId, const runtime::Exit& how) { exit = how; }}) {}

  void shell(const std::string& script) {
    processes.start(kJob,
                    {.command = {"/bin/sh", "-c", script}, .environment = {}, .directory = {}});
  }
  runtime::Exit until_exit() {
    REQUIRE(loop.until([&] { return exit.has_value(); }));
    return *exit;
  }

  test::Loop loop;
  std::string output;
  std::string errors;
  std::vector<std::string> pieces;
  std::optional<runtime::Exit> exit;
  Processes processes;
};

}  // namespace

TEST_SUITE_BEGIN("tcp/processes");

TEST_CASE("output and exit code come back, the output first") {
  Harness h;

  h.shell("echo one; echo two >&2; printf three; exit 7");

  CHECK(h.until_exit().code == 7);
  CHECK(h.output == "one\nthree");
  CHECK(h.errors == "two\n");
  CHECK(h.processes.empty());
}

TEST_CASE("a process gets environment, directory and an empty standard input") {
  const test::Folder folder;
  Harness h;

  h.processes.start(kJob, {.command = {"sh", "-c", "cat; echo $PHX_TEST; pwd; echo ${PATH:+path}"},
                           .environment = {"PHX_TEST=hello"},
                           .directory = folder / "."});

  CHECK(h.until_exit().code == 0);
  const std::string path = std::filesystem::canonical(folder / ".");
  CHECK(h.output == "hello\n" + path + "\npath\n");
}

TEST_CASE("a directory that is missing here is no reason to fail") {
  Harness h;

  h.processes.start(kJob,
                    {.command = {"true"}, .environment = {}, .directory = "/no/such/directory"});

  CHECK(h.until_exit().code == 0);
}

TEST_CASE("much output arrives whole and before the exit") {
  Harness h;

  h.shell("i=0; while [ $i -lt 20000 ]; do echo line-$i; i=$((i+1)); done");

  CHECK(h.until_exit().code == 0);
  std::string expected;
  for (int i = 0; i < 20000; ++i) expected += "line-" + std::to_string(i) + "\n";
  CHECK(h.output == expected);
  for (const std::string& piece : h.pieces) {
    CHECK(piece.size() <= OutputPipe::kPieceBytes);
    CHECK(piece.back() == '\n');
  }
}

TEST_CASE("a line without an end is not held back for ever") {
  Harness h;

  h.shell("printf prompt; exec sleep 1000");

  REQUIRE(h.loop.until([&] { return h.output == "prompt"; }));
  h.processes.signal(kJob, SIGKILL, kForever);
  CHECK(h.until_exit().signal == SIGKILL);
}

TEST_CASE("what cannot be started ends with the code of a shell and a sentence") {
  const test::Folder folder;
  std::ofstream(folder / "text") << "no program";
  Harness h;

  h.processes.start(kJob, {.command = {folder / "text"}, .environment = {}, .directory = {}});
  CHECK(!h.exit);  // never from within the call
  CHECK(h.until_exit().code == 126);
  CHECK(h.exit->detail.find("not executable") != std::string::npos);

  h.exit.reset();
  h.processes.start(kJob, {.command = {folder / "none"}, .environment = {}, .directory = {}});
  CHECK(h.until_exit().code == 127);
  CHECK(h.exit->detail.find("not found") != std::string::npos);

  h.exit.reset();
  h.processes.start(kJob, {.command = {}, .environment = {}, .directory = {}});
  CHECK(h.until_exit().code == 125);
}

TEST_CASE("a signal reaches the process, and one that ignores it is killed later") {
  Harness h;
  h.shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
  REQUIRE(h.loop.until([&] { return h.output == "ready\n"; }));

  h.processes.signal(kJob, SIGTERM, 20ms);

  CHECK(h.until_exit().signal == SIGKILL);
}

TEST_CASE("children that a process leaves behind end with it") {
  Harness h;

  h.shell("sleep 1000 & echo $!");

  CHECK(h.until_exit().code == 0);
  CHECK(has_ended(std::stoi(h.output)));
}

TEST_CASE("nothing outlives its owner") {
  int process = 0;
  {
    Harness h;
    h.shell("echo $$; sleep 1000");
    REQUIRE(h.loop.until([&] { return !h.output.empty(); }));
    process = std::stoi(h.output);
    CHECK(::kill(process, 0) == 0);
  }
  CHECK(::kill(process, 0) != 0);
  CHECK(errno == ESRCH);
}

TEST_CASE("while output is paused nothing arrives, and nothing is lost") {
  Harness h;
  h.processes.pause_output(true);
  h.shell("echo early; exit 3");

  CHECK(h.until_exit().code == 3);
  CHECK(h.output == "early\n");
}

TEST_SUITE_END();

}  // namespace phx::tcp
