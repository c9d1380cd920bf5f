#include "runtime/jobs/job_meter.h"

#include <doctest/doctest.h>

#include <vector>

namespace phx::runtime::job_meter_test {
namespace {

constexpr Instant kBegin{};
constexpr std::uint64_t kVnodes = 8;

ToDaemon message(std::size_t bytes, std::uint64_t rest = 0) {
  return AppSend{{VnodeId{1}, VnodeId{2}, 1, 0, rest, Payload(Bytes(bytes))}};
}

}  // namespace

TEST_SUITE_BEGIN("runtime/job_meter");

TEST_CASE("messages are counted once, however many pieces they have, and bytes all") {
  JobMeter meter(kVnodes);
  meter.on_app(kBegin, message(10));
  meter.on_app(kBegin, message(64, 36));
  meter.on_app(kBegin, message(36));
  AppBroadcast cast;
  cast.piece.rest_bits = 1;
  cast.piece.payload = Payload(Bytes(5));
  meter.on_app(kBegin, cast);
  cast.piece.rest_bits = 0;
  meter.on_app(kBegin, cast);
  meter.on_app(kBegin, AppContribute{});
  meter.on_app(kBegin, AppAck{3});

  CHECK(meter.figures(kBegin).messages == 4);
  CHECK(meter.figures(kBegin).bytes == 10 + 64 + 36 + 5 + 5);
}

TEST_CASE("what is contributed to a reduction counts for the process") {
  const auto contribution = [](VnodeSet by, std::size_t bytes) {
    AppContribute made;
    made.token.parts.push_back({std::move(by), Payload(Bytes(bytes))});
    return made;
  };
  JobMeter meter(kVnodes);
  meter.on_app(kBegin, contribution(VnodeSet{VnodeId{2}}, 800));
  meter.on_app(kBegin, contribution(VnodeSet::range(VnodeId{1}, VnodeId{3}), 50));

  CHECK(meter.figures(kBegin).messages == 2);
  CHECK(meter.figures(kBegin).bytes == 850);
  CHECK(meter.vnodes(kBegin).empty());
}

TEST_CASE("a wait counts while it lasts, from its begin, and not after its end") {
  JobMeter meter(kVnodes);
  meter.on_app(kBegin + 1s, AppWaiting{"recv by v3", VnodeId{3}, 500'000});
  meter.on_app(kBegin + 2s, AppWaiting{"recv by v3; a broadcast waits", VnodeId{3}, 1'500'000});
  CHECK(meter.figures(kBegin + 4s).waited_ms == 3500);
  CHECK(meter.vnodes(kBegin + 4s) == std::vector<VnodeFigures>{{VnodeId{3}, 0, 0, 0, 3500}});

  meter.on_app(kBegin + 5s, AppWaited{{{VnodeId{3}, 4'500'000}}, 0});
  meter.on_app(kBegin + 5s, AppWaiting{});
  CHECK(meter.figures(kBegin + 9s).waited_ms == 4500);
  CHECK(meter.vnodes(kBegin + 9s) == std::vector<VnodeFigures>{{VnodeId{3}, 0, 0, 0, 4500}});

  meter.on_app(kBegin + 10s, AppWaiting{"a barrier", {}, 1'000'000});
  CHECK(meter.figures(kBegin + 11s).waited_ms == 4500 + 2000);
  CHECK(meter.vnodes(kBegin + 11s).front().waited_ms == 4500);
}

TEST_CASE("short waits add up: of each vnode, and with those of the whole process") {
  JobMeter meter(kVnodes);
  for (int i = 0; i < 10; ++i) {
    meter.on_app(kBegin, AppWaited{{{VnodeId{1}, 700}, {VnodeId{2}, 5'000}}, 10'000});
  }

  CHECK(meter.figures(kBegin).waited_ms == 157);
  CHECK(meter.vnodes(kBegin) ==
        std::vector<VnodeFigures>{{VnodeId{1}, 0, 0, 0, 7}, {VnodeId{2}, 0, 0, 0, 50}});
}

TEST_CASE("each vnode has what it sent, and one that the job does not have is none") {
  JobMeter meter(kVnodes);
  meter.on_app(kBegin, message(10));
  meter.on_app(kBegin, message(64, 36));
  meter.on_app(kBegin, message(36));
  meter.on_app(kBegin, AppSend{{VnodeId{kVnodes}, VnodeId{2}, 1, 0, 0, Payload(Bytes(5))}});
  meter.on_app(kBegin, AppWaited{{{VnodeId{kVnodes + 1}, 1'000}}, 0});

  CHECK(meter.vnodes(kBegin) == std::vector<VnodeFigures>{{VnodeId{1}, 2, 110, 0, 0}});
  CHECK(meter.figures(kBegin).messages == 3);
}

TEST_CASE("of many vnodes those are told that waited longest, then those that sent most") {
  constexpr std::uint64_t kMany = JobMeter::kVnodesMax + 10;
  JobMeter meter(kMany);
  for (std::uint64_t v = 0; v < kMany; ++v) {
    meter.on_app(kBegin, AppSend{{VnodeId{v}, VnodeId{0}, 1, 0, 0, Payload(Bytes(v))}});
  }
  meter.on_app(kBegin, AppWaited{{{VnodeId{4}, 9'000}}, 0});

  const auto told = meter.vnodes(kBegin);
  REQUIRE(told.size() == JobMeter::kVnodesMax);
  CHECK(told[0].vnode == VnodeId{4});
  CHECK(told[1].vnode == VnodeId{11});
}

TEST_CASE("who says nothing is silent since its last word, and before the first nobody knows") {
  JobMeter meter(kVnodes);
  CHECK(meter.figures(kBegin + 8s).silent_ms == 0);

  meter.on_app(kBegin + 1s, AppAck{1});
  CHECK(meter.figures(kBegin + 8s).silent_ms == 7000);
}

TEST_CASE("vnodes that came from elsewhere are counted") {
  JobMeter meter(kVnodes);
  std::vector<VnodeParcel> parcels(2);
  parcels[0].vnode = VnodeId{5};
  parcels[1].vnode = VnodeId{6};
  meter.on_moved_here(parcels);
  parcels.resize(1);
  meter.on_moved_here(parcels);

  CHECK(meter.figures(kBegin).moves == 3);
  CHECK(meter.vnodes(kBegin) ==
        std::vector<VnodeFigures>{{VnodeId{5}, 0, 0, 2, 0}, {VnodeId{6}, 0, 0, 1, 0}});
}

TEST_SUITE_END();

}  // namespace phx::runtime::job_meter_test
