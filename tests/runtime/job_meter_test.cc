#include "runtime/jobs/job_meter.h"

#include <doctest/doctest.h>

#include <string>

namespace phx::runtime {
namespace {

constexpr Instant kBegin{};

ToDaemon message(std::size_t bytes, std::uint64_t rest = 0) {
  return AppSend{{VnodeId{1}, VnodeId{2}, 1, 0, rest, Payload(Bytes(bytes))}};
}

ToDaemon waiting(const std::string& what) {
  return AppWaiting{what};
}

}  // namespace

TEST_SUITE_BEGIN("runtime/job_meter");

TEST_CASE("messages are counted once, however many pieces they have, and bytes all") {
  JobMeter meter;
  meter.on_app(kBegin, message(10));
  meter.on_app(kBegin, message(64, 36));
  meter.on_app(kBegin, message(36));
  AppBroadcast cast;
  cast.piece.more = true;
  cast.piece.payload = Payload(Bytes(5));
  meter.on_app(kBegin, cast);
  cast.piece.more = false;
  meter.on_app(kBegin, cast);
  meter.on_app(kBegin, AppContribute{});
  meter.on_app(kBegin, AppAck{3});

  CHECK(meter.figures(kBegin).messages == 4);
  CHECK(meter.figures(kBegin).bytes == 10 + 64 + 36 + 5 + 5);
}

TEST_CASE("a wait counts while it lasts, once, and not after its end") {
  JobMeter meter;
  meter.on_app(kBegin + 1s, waiting("recv by v3"));
  meter.on_app(kBegin + 2s, waiting("recv by v3; a broadcast is waiting"));
  CHECK(meter.figures(kBegin + 4s).waited_ms == 3000);

  meter.on_app(kBegin + 5s, waiting(""));
  CHECK(meter.figures(kBegin + 9s).waited_ms == 4000);

  meter.on_app(kBegin + 10s, waiting("a barrier"));
  CHECK(meter.figures(kBegin + 11s).waited_ms == 5000);
}

TEST_CASE("who says nothing is silent since its last word, and before the first nobody knows") {
  JobMeter meter;
  CHECK(meter.figures(kBegin + 8s).silent_ms == 0);

  meter.on_app(kBegin + 1s, AppAck{1});
  CHECK(meter.figures(kBegin + 8s).silent_ms == 7000);
}

TEST_CASE("vnodes that came from elsewhere are counted") {
  JobMeter meter;
  meter.on_moved_here(3);
  meter.on_moved_here(1);

  CHECK(meter.figures(kBegin).moves == 4);
}

TEST_SUITE_END();

}  // namespace phx::runtime
