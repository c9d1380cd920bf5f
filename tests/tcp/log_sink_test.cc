#include "runtime/tcp/log_sink.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "runtime/tcp/descriptor.h"
#include "tests/support/small_files.h"
#include "tests/tcp/folder.h"

namespace phx::tcp::log_sink_test {

TEST_SUITE_BEGIN("tcp/log_sink");

TEST_CASE("what others say is one line in the log") {
  const test::Folder folder;
  const std::string path = folder / "log";
  auto sink = LogSink::open({.level = "info", .file = path});
  REQUIRE(sink.ok());

  sink.value().write(runtime::Note::Level::kWarn, "fenced",
                     "why\n2026-01-01 00:00:00.000 error all is lost\r\x1b[2J");

  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find('\n') == text.size() - 1);
  CHECK(text.ends_with("warning fenced why?2026-01-01 00:00:00.000 error all is lost??[2J\n"));
}

TEST_CASE("a log that was renamed is opened anew, and written on if that fails") {
  const test::Folder folder;
  const std::string path = folder / "log";
  auto sink = LogSink::open({.level = "info", .file = path});
  REQUIRE(sink.ok());
  const auto write = [&](const char* event) {
    sink.value().write(runtime::Note::Level::kInfo, event, "");
  };
  const auto text_of = [](const std::string& file_path) {
    std::ifstream file(file_path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };

  std::filesystem::rename(path, path + ".1");
  write("one");
  CHECK(sink.value().open_anew());
  write("two");
  CHECK(text_of(path + ".1").ends_with("info one\n"));
  CHECK(text_of(path).ends_with("info two\n"));

  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  std::filesystem::rename(path + ".1", path + ".2");
  CHECK_FALSE(sink.value().open_anew());
  CHECK(sink.value().has_file());
  write("three");
  CHECK(text_of(path + ".2").find("info one\n") != std::string::npos);

  auto errors = LogSink::open({.level = "info", .file = ""});
  REQUIRE(errors.ok());
  CHECK_FALSE(errors.value().open_anew());
  CHECK_FALSE(errors.value().has_file());
  CHECK_FALSE(LogSink().open_anew());
}

namespace {

/// Lets standard error be something else for a while; -1: closed.
class OtherErrors {
 public:
  explicit OtherErrors(int other) {
    if (other < 0) {
      ::close(STDERR_FILENO);
    } else {
      ::dup2(other, STDERR_FILENO);
    }
  }
  OtherErrors(const OtherErrors&) = delete;
  OtherErrors& operator=(const OtherErrors&) = delete;
  ~OtherErrors() {
    if (kept_.is_open()) ::dup2(kept_.get(), STDERR_FILENO);
  }

 private:
  Descriptor kept_{::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
};

LogSink errors_of(int descriptor) {
  const OtherErrors other(descriptor);
  auto sink = LogSink::open({});
  REQUIRE(sink.ok());
  return std::move(sink).value();
}

/// What is there, without waiting for more.
std::string read_all(int descriptor) {
  ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t size = 0;
  while ((size = ::read(descriptor, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

TEST_CASE("what nobody reads loses lines, and holds nobody up") {
  constexpr int kLines = 100000;
  std::array<int, 2> ends{};
  for (const bool is_pipe : {true, false}) {
    CAPTURE(is_pipe);
    REQUIRE((is_pipe ? ::pipe(ends.data()) : ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data())) ==
            0);
    const Descriptor reader(ends[0]);
    const Descriptor writer(ends[1]);
    LogSink sink = errors_of(writer.get());
    for (int i = 0; i < kLines; ++i) sink.write(runtime::Note::Level::kInfo, "one", "more");

    const std::string text = read_all(reader.get());
    CHECK(text.ends_with(" info one more\n"));
    CHECK(std::ranges::count(text, '\n') < kLines);
    CHECK((::fcntl(writer.get(), F_GETFL) & O_NONBLOCK) == 0);

    sink.write(runtime::Note::Level::kInfo, "two", std::string(2 * PIPE_BUF, 'x'));
    const std::string cut = read_all(reader.get());
    CHECK(cut.size() == PIPE_BUF);
    CHECK(cut.ends_with("x\n"));
  }
}

TEST_CASE("a terminal that shows nothing holds nobody up") {
  const Descriptor near(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!near.is_open() || ::unlockpt(near.get()) != 0) return;  // There are none here.
  const Descriptor far(::open(::ptsname(near.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  REQUIRE(far.is_open());
  LogSink full = errors_of(far.get());
  for (int i = 0; i < 10000; ++i) full.write(runtime::Note::Level::kInfo, "one", "more");
  CHECK(read_all(near.get()).find(" info one more\r\n") != std::string::npos);

  REQUIRE(::tcflow(far.get(), TCOOFF) == 0);  // As by Ctrl-S.
  full.write(runtime::Note::Level::kInfo, "two", "");
  CHECK(read_all(near.get()).find("two") == std::string::npos);
}

TEST_CASE("without standard error nothing is written") {
  LogSink sink = errors_of(-1);
  sink.write(runtime::Note::Level::kInfo, "one", "");
}

TEST_CASE("a log that is as long as files may be loses lines, and takes them again in a new file") {
  const test::Folder folder;
  const std::string path = folder / "log";
  const auto before = std::signal(SIGXFSZ, SIG_IGN);  // as phoenixd does
  auto sink = LogSink::open({.level = "info", .file = path});
  REQUIRE(sink.ok());
  {
    const support::SmallFiles small(1000);
    for (int i = 0; i < 100; ++i) sink.value().write(runtime::Note::Level::kInfo, "one", "more");
  }
  CHECK(std::filesystem::file_size(path) <= 1000);

  std::filesystem::rename(path, path + ".1");
  CHECK(sink.value().open_anew());
  sink.value().write(runtime::Note::Level::kInfo, "two", "");
  CHECK(std::filesystem::file_size(path) > 0);
  std::signal(SIGXFSZ, before);
}

TEST_SUITE_END();

}  // namespace phx::tcp::log_sink_test
