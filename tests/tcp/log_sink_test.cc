#include "runtime/tcp/log_sink.h"

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

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

TEST_SUITE_END();

}  // namespace phx::tcp::log_sink_test
