#include "runtime/api/report.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace phx::report_test {
namespace {

using namespace std::chrono_literals;

constexpr Report::Time kBegin{};

/// `at` is a time since the process began, at one second of the day.
Report::Time at(Report::Span at) {
  return kBegin + at;
}

runtime::ToDaemon message(VnodeId from, std::size_t bytes, std::uint64_t rest = 0) {
  return runtime::AppSend{{from, VnodeId{9}, 1, 0, rest, Payload(Bytes(bytes))}};
}

}  // namespace

TEST_SUITE_BEGIN("api/report");

TEST_CASE("what a process has sent, and how long it has waited, is told from time to time") {
  Report report(kBegin, 1s);
  report.on_sent(message(VnodeId{2}, 100));
  report.on_sent(message(VnodeId{2}, 50, 7));  // A piece of a longer one,
  report.on_sent(message(VnodeId{2}, 7));      // and the last piece.
  report.on_waited(3ms);

  CHECK(report.take(at(49ms)).empty());
  CHECK(report.take(at(50ms)) == "attached 1000000\ndid 1050000 2 157 3000\n");
  CHECK(report.take(at(99ms)).empty());
  CHECK(report.take(at(100ms)) == "did 1100000 0 0 0\n");
}

TEST_CASE("moves and pauses have their times, and the end tells who was busiest") {
  Report report(kBegin, 1s);
  report.on_begun(at(1ms), VnodeSet::range(VnodeId{0}, VnodeId{3}));
  report.on_came(at(2ms), {}, 0);
  report.on_left(at(2ms), VnodeSet{VnodeId{3}}, 512);
  report.on_pause(at(1ms), 2ms);
  report.on_sent(message(VnodeId{1}, 10));
  report.on_sent(message(VnodeId{0}, 20));
  report.on_waited_at(VnodeId{1}, 2ms);
  report.on_waited_at(VnodeId{1}, 1ms);

  CHECK(report.finish(at(5ms)) ==
        "attached 1000000\nbegins 1001000 0-3\nleft 1002000 3 512\npause 1001000 2000\n"
        "did 1005000 2 30 0\nvnode 0 1 20 0\nvnode 1 1 10 3000\nended 1005000\n");
}

TEST_CASE("a process that runs for a day tells a few thousand lines of itself") {
  Report report(kBegin, 1s);
  std::ptrdiff_t lines = 0;
  for (Report::Span now = 0s; now < 24h; now += 50ms) {
    const std::string told = report.take(at(now));
    lines += std::ranges::count(told, '\n');
  }

  CHECK(lines > 1000);
  CHECK(lines < 5000);
}

TEST_SUITE_END();

}  // namespace phx::report_test
