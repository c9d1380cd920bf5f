#include "runtime/tcp/processes.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/tcp/input_pipe.h"
#include "runtime/tcp/output_pipe.h"
#include "tests/tcp/folder.h"
#include "tests/tcp/loop.h"

namespace phx::tcp::processes_test {
namespace {

constexpr JobId kJob{4};
constexpr const char* kKeeper = PHX_KEEPER;

/// Waits for the end of a process that is not our child. The time limit only ends a hanging test.
bool has_ended(int process) {
  constexpr int kWatchdogMs = 30000;
  const Descriptor ended(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!ended.is_open()) return errno == ESRCH;
  pollfd wanted{.fd = ended.get(), .events = POLLIN, .revents = 0};
  return ::poll(&wanted, 1, kWatchdogMs) == 1;
}

/// A script that nobody can open, and so nobody can execute, before release(): as on a file server
/// that does not answer.
class SlowProgram {
 public:
  SlowProgram() : path_(folder_ / "slow") {
    std::ofstream(path_) << "#!/bin/sh\necho loaded\n";
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    // The system tells us who wants to open it, by a signal that nobody minds.
    REQUIRE(::fcntl(file_.get(), F_SETSIG, SIGURG) == 0);
    REQUIRE(::fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0);
  }
  void release() { CHECK(::fcntl(file_.get(), F_SETLEASE, F_UNLCK) == 0); }
  [[nodiscard]] SpawnRequest request() const {
    return {.command = {path_}, .environment = {}, .directory = {}, .keeper = kKeeper};
  }

 private:
  test::Folder folder_;
  std::string path_;
  Descriptor file_;
};

struct Harness {
  explicit Harness(Duration loading_max = Processes::kLoadingMax)
      : processes(
            loop.io.get_executor(),
            {.on_output =
                 [this](JobId, bool is_error, Payload bytes) {
                   CHECK(!exit);
                   (is_error ? errors : output) += bytes.text();
                   pieces.push_back(std::string(bytes.text()));
                 },
             .on_input_taken = [this](const runtime::InputTaken& how_far) { taken = how_far; },
             .on_ended = [this](JobId, const runtime::Exit& how) { exit = how; }},
            loading_max) {}

  void start(const std::vector<std::string>& command, const char* keeper = kKeeper) {
    processes.start(kJob,
                    {.command = command, .environment = {}, .directory = {}, .keeper = keeper});
  }
  void shell(const std::string& script, const char* keeper = kKeeper) {
    start({"/bin/sh", "-c", script}, keeper);
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
  runtime::InputTaken taken;
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

TEST_CASE("a process reads what it is fed, once, and the end of it") {
  Harness h;
  h.processes.start(kJob, {.command = {"/bin/cat"},
                           .environment = {},
                           .directory = {},
                           .keeper = kKeeper,
                           .has_input = true});

  h.processes.feed({kJob, 0, Payload::copy_of("one\n"), false});
  REQUIRE(h.loop.until([&] { return h.taken.bytes == 4; }));
  h.processes.feed({kJob, 9, Payload::copy_of("behind a gap"), false});
  h.processes.feed({kJob, 2, Payload::copy_of("e\ntwo\n"), true});

  CHECK(h.until_exit().code == 0);
  CHECK(h.output == "one\ntwo\n");
  CHECK(h.taken == runtime::InputTaken{kJob, 8, true});
}

TEST_CASE("a process that reads nothing holds up who feeds it, one that wants none takes all") {
  ::signal(SIGPIPE, SIG_IGN);  // As in phoenixd.
  Harness h;
  const Payload piece = Payload(Bytes(InputPipe::kPendingMax));
  const std::string script =
      "trap 'exec 0<&-; echo closed' TERM; echo ready; while :; do sleep 0.01; done";
  h.processes.start(kJob, {.command = {"/bin/sh", "-c", script},
                           .environment = {},
                           .directory = {},
                           .keeper = kKeeper,
                           .has_input = true});

  h.processes.feed({kJob, 0, piece, false});
  REQUIRE(h.loop.until([&] { return h.taken.bytes > 0; }));
  CHECK(h.taken.bytes < piece.size());
  REQUIRE(h.loop.until([&] { return h.output == "ready\n"; }));
  CHECK_FALSE(h.taken.is_closed);

  h.processes.signal(kJob, SIGTERM, kForever);

  REQUIRE(h.loop.until([&] { return h.taken.is_closed; }));
  h.processes.signal(kJob, SIGKILL, kForever);
  CHECK(h.until_exit().signal == SIGKILL);
}

TEST_CASE("a process gets environment, directory and an empty standard input") {
  const test::Folder folder;
  Harness h;

  h.processes.start(kJob, {.command = {"sh", "-c", "cat; echo $PHX_TEST; pwd; echo ${PATH:+path}"},
                           .environment = {"PHX_TEST=hello"},
                           .directory = folder / ".",
                           .keeper = kKeeper});

  CHECK(h.until_exit().code == 0);
  const std::string path = std::filesystem::canonical(folder / ".");
  CHECK(h.output == "hello\n" + path + "\npath\n");
}

TEST_CASE("a directory that is missing here is no reason to fail") {
  Harness h;

  h.processes.start(kJob, {.command = {"true"},
                           .environment = {},
                           .directory = "/no/such/directory",
                           .keeper = kKeeper});

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

  h.start({folder / "text"});
  CHECK(!h.exit);  // never from within the call
  CHECK(h.until_exit().code == 126);
  CHECK(h.exit->detail.find("not executable") != std::string::npos);

  h.exit.reset();
  h.start({folder / "none"});
  CHECK(h.until_exit().code == 127);
  CHECK(h.exit->detail.find("not found") != std::string::npos);

  h.exit.reset();
  h.start({folder / "."});
  CHECK(h.until_exit().code == 126);
  CHECK(h.exit->detail.find("is a folder") != std::string::npos);

  std::ofstream(folder / "script") << "#!/nowhere/sh\n";
  std::filesystem::permissions(folder / "script", std::filesystem::perms::owner_all);
  h.exit.reset();
  h.start({folder / "script"});
  CHECK(h.until_exit().code == 127);
  CHECK(h.exit->detail.find("is there, but not what") != std::string::npos);

  h.exit.reset();
  h.start({});
  CHECK(h.until_exit().code == 125);
}

TEST_CASE("a keeper that is missing is told, and not taken for the program") {
  Harness h;
  h.start({"/bin/true"}, "/nowhere/phoenix-keeper");

  CHECK(h.until_exit().code == 125);
  CHECK(h.exit->detail.find("/bin/true could not be started, because /nowhere/phoenix-keeper of") ==
        0);
}

TEST_CASE("nobody waits while a program is loaded") {
  SlowProgram program;
  Harness h;

  h.processes.start(kJob, program.request());
  bool was_served = false;
  asio::post(h.loop.io, [&] { was_served = true; });
  REQUIRE(h.loop.until([&] { return was_served; }));
  CHECK(h.output.empty());
  CHECK(!h.exit);

  program.release();
  CHECK(h.until_exit().code == 0);
  CHECK(h.output == "loaded\n");
}

TEST_CASE("a program that is not loaded in time is killed and reported") {
  SlowProgram program;
  Harness h(20ms);

  h.processes.start(kJob, program.request());

  CHECK(h.until_exit().code == 125);
  CHECK(h.exit->detail.find("could not be loaded within 20 ms") != std::string::npos);
  CHECK(h.loop.until([&] { return h.processes.empty(); }));
  CHECK(h.output.empty());
}

TEST_CASE("a program that is loaded in time may run as long as it likes") {
  const test::Folder folder;
  const std::string fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  Harness h(0ms);

  h.shell("echo loaded > " + fifo + "; read line < " + fifo + "; exit 5", "");
  std::string word;
  std::ifstream(fifo) >> word;
  CHECK(word == "loaded");
  h.loop.io.poll();  // its time is up
  CHECK(!h.exit);

  std::ofstream(fifo) << "go on\n";
  CHECK(h.until_exit().code == 5);
}

TEST_CASE("a process that is still being loaded gets signals") {
  SlowProgram program;
  Harness h;
  h.processes.start(kJob, program.request());

  h.processes.signal(kJob, SIGTERM, kForever);

  CHECK(h.until_exit().signal == SIGTERM);
}

TEST_CASE("a signal reaches the process, and one that ignores it is killed later") {
  Harness h;
  h.shell("trap '' TERM; echo ready; while :; do sleep 1000; done");
  REQUIRE(h.loop.until([&] { return h.output == "ready\n"; }));

  h.processes.signal(kJob, SIGTERM, 20ms);

  CHECK(h.until_exit().signal == SIGKILL);
}

TEST_CASE("a process takes the signals of limits as usual, though its daemon ignores one") {
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  for (const char* keeper : {kKeeper, ""}) {
    CAPTURE(keeper);
    Harness h;

    h.shell("kill -XFSZ $$", keeper);

    CHECK(h.until_exit().signal == SIGXFSZ);
  }
  ::signal(SIGXFSZ, before);
}

TEST_CASE("children that a process leaves behind end with it, whatever session they are in") {
  Harness h;

  h.shell("sleep 1000 & echo $!; setsid sleep 1000 & echo $!; exit 3");

  CHECK(h.until_exit().code == 3);
  std::istringstream lines(h.output);
  int count = 0;
  for (int process = 0; lines >> process; ++count) CHECK(has_ended(process));
  CHECK(count == 2);
}

TEST_CASE("so do the children of those, and who is killed later, all at once") {
  Harness h;
  h.shell("trap '' TERM; (setsid sh -c 'echo $$; sleep 1000 & echo $!; wait') & sleep 1000");
  REQUIRE(h.loop.until([&] { return std::ranges::count(h.output, '\n') == 2; }));

  h.processes.signal(kJob, SIGKILL, kForever);

  CHECK(h.until_exit().signal == SIGKILL);
  std::istringstream lines(h.output);
  for (int process = 0; lines >> process;) CHECK(has_ended(process));
}

TEST_CASE("nothing outlives its owner, nor what it has started") {
  std::string said;
  {
    Harness h;
    h.shell("echo $$; setsid sleep 1000 & echo $!; sleep 1000");
    REQUIRE(h.loop.until([&] { return std::ranges::count(h.output, '\n') == 2; }));
    said = h.output;
  }
  std::istringstream lines(said);
  for (int process = 0; lines >> process;) {
    CHECK(::kill(process, 0) != 0);
    CHECK(errno == ESRCH);
  }
}

TEST_CASE("without a keeper a process and its group end with its owner") {
  Harness h;
  h.shell("sleep 1000 & echo $!", "");
  CHECK(h.until_exit().code == 0);
  CHECK(has_ended(std::stoi(h.output)));

  int process = 0;
  {
    Harness owner;
    owner.shell("echo $$; sleep 1000", "");
    REQUIRE(owner.loop.until([&] { return !owner.output.empty(); }));
    process = std::stoi(owner.output);
  }
  CHECK(::kill(process, 0) != 0);
}

TEST_CASE("while output is paused nothing arrives, and nothing is lost") {
  Harness h;
  h.processes.pause_output(true);
  h.shell("echo early; exit 3");

  CHECK(h.until_exit().code == 3);
  CHECK(h.output == "early\n");
}

TEST_SUITE_END();

}  // namespace phx::tcp::processes_test
