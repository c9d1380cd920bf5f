#include "runtime/endpoint/departing.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <variant>

#include "runtime/endpoint/endpoint.h"
#include "runtime/messages/weight.h"

namespace phx::runtime::departing_test {
namespace {

constexpr VnodeId kSource{0}, kMine{1}, kBeside{2};
constexpr std::uint64_t kPiece = Departing::kLittle / 2;

/// An endpoint with two vnodes, to one of which a message comes in pieces of half of what is
/// little.
struct Harness {
  Harness() {
    endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, ""});
    endpoint.on_message(AppGrant{{{kMine, 1, {}}, {kBeside, 1, {}}}});
    pass();
  }
  ~Harness() { endpoint.check_invariants(); }
  SafePoint pass() {
    SafePoint point = endpoint.begin_safe_point(endpoint.due());
    std::map<VnodeId, Payload> states;
    for (const VnodeId vnode : point.departing.ids()) states[vnode] = {};
    endpoint.finish_safe_point(std::move(states));
    return point;
  }
  void at(Duration time) { endpoint.on_time(Instant{} + time); }
  /// `more`: so many pieces follow.
  void piece(std::uint32_t more) {
    Payload bytes{Bytes(kPiece)};
    if (is_broadcast) {
      collectives::BroadcastPiece part;
      part.root = kSource;
      part.number = next++;
      part.rest_bits = static_cast<std::uint8_t>(std::bit_width(more * std::uint64_t{kPiece}));
      part.payload = std::move(bytes);
      endpoint.on_message(AppDeliver{++delivered, BroadcastDelivery{VnodeSet{kMine}, part}});
    } else {
      const PointToPoint part{kSource, kMine, next++, 7, more, std::move(bytes)};
      endpoint.on_message(AppDeliver{++delivered, part});
    }
  }
  void release() { endpoint.on_message(AppRelease{VnodeSet{kMine}}); }

  bool is_broadcast = false;
  Endpoint endpoint{};
  std::uint64_t next = 0;
  std::uint64_t delivered = 0;
};

}  // namespace

TEST_SUITE_BEGIN("runtime/departing");

TEST_CASE("a vnode goes between two long messages, and nothing of them goes with it") {
  for (const bool is_broadcast : {false, true}) {
    CAPTURE(is_broadcast);
    Harness h;
    h.is_broadcast = is_broadcast;
    for (std::uint32_t more = 5; more > 2; --more) h.piece(more);
    h.release();
    CHECK(h.endpoint.departing() == VnodeSet{kMine});
    CHECK(h.endpoint.due().empty());
    CHECK(h.endpoint.is_waiting());
    CHECK(h.pass().departing.empty());

    h.piece(2);
    h.piece(1);
    CHECK(h.endpoint.due().empty());
    h.piece(0);
    CHECK(h.endpoint.is_waiting());
    REQUIRE(h.endpoint.take({.at = kMine}).has_value());
    CHECK_FALSE(h.endpoint.is_waiting());
    static_cast<void>(h.endpoint.take_outputs());
    CHECK(h.pass().departing == VnodeSet{kMine});
    for (const ToDaemon& output : h.endpoint.take_outputs()) {
      const auto* released = std::get_if<AppReleased>(&output);
      if (released == nullptr) continue;
      CHECK(weight_of(released->vnodes.front().second).total() < 1024);
    }
  }
}

TEST_CASE("little of a message holds nobody up, and none of what comes to others does") {
  Harness h;
  h.piece(9);
  h.piece(8);
  h.release();
  CHECK(h.endpoint.due() == VnodeSet{kMine});

  h.piece(7);
  CHECK(h.endpoint.due().empty());
  h.endpoint.on_message(AppRelease{VnodeSet{kBeside}});
  CHECK(h.endpoint.due() == VnodeSet{kBeside});
}

TEST_CASE("the end of a message is waited for a second, from when the vnode is wanted") {
  Harness h;
  h.at(10s);
  for (std::uint32_t more = 100; more > 90; --more) h.piece(more);
  h.release();
  h.at(10s + Departing::kPatience - 1ms);
  CHECK(h.endpoint.due().empty());

  h.at(10s + Departing::kPatience);
  CHECK(h.endpoint.due() == VnodeSet{kMine});
  CHECK(h.pass().departing == VnodeSet{kMine});
  CHECK_FALSE(h.endpoint.is_waiting());
}

TEST_CASE("a program that decides itself who goes is not held up") {
  Harness h;
  for (std::uint32_t more = 100; more > 90; --more) h.piece(more);
  h.release();
  CHECK(h.endpoint.begin_safe_point(h.endpoint.departing()).departing == VnodeSet{kMine});
  h.endpoint.finish_safe_point({{kMine, {}}});
}

TEST_SUITE_END();

}  // namespace phx::runtime::departing_test
