#include "runtime/tcp/log_sink.h"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

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
