#include "runtime/vnodes/router.h"

#include <doctest/doctest.h>

#include "tests/support/job_items.h"

TEST_SUITE_BEGIN("runtime/router");

namespace phx::runtime::router_test {
namespace {

constexpr ProcessorId kSelf{1}, kOther{2}, kThird{3};
constexpr JobId kJob{7};
constexpr ApplicationId kApp{5};

constexpr std::uint64_t kFlowBytes = 1000;

/// A router of a job of four vnodes: v0 and v1 are here, v2 and v3 at the other processor.
struct Harness {
  Harness() {
    router.on_attached(kApp, out);
    static_cast<void>(out.take());
  }

  /// Everything sent to processors since the last call.
  template <class M>
  std::vector<std::pair<ProcessorId, M>> sent() {
    return support::sent<M>(out.take());
  }
  /// Everything of one kind handed to the application since the last call.
  template <class M>
  std::vector<M> handed() {
    return support::handed<M>(out.take());
  }
  void route(std::uint64_t to, Epoch followed, std::uint64_t seq = 0) {
    router.route({kJob, followed, piece(to, seq)}, out);
  }
  static PointToPoint piece(std::uint64_t to, std::uint64_t seq) {
    return {VnodeId{3}, VnodeId{to}, seq, 0, 0, {}};
  }
  /// The application gives v1 up, having taken everything up to `received`.
  std::vector<VnodeParcel> release_v1(std::uint64_t received) {
    router.keep({received, {{VnodeId{1}, VnodeBundle{}}}}, out);
    return router.give_kept(VnodeSet{VnodeId{1}}, kOther);
  }

  Router router{kSelf, kJob, VnodeMap(4, {kSelf, kOther}), kFlowBytes};
  JobOutbox out;
};

TEST_CASE("a message for a vnode held here is delivered, one for another is forwarded") {
  Harness h;

  h.route(0, 0);
  CHECK(h.handed<AppDeliver>().size() == 1);
  h.route(3, 0);
  const auto sent = h.sent<VnodeMessage>();

  REQUIRE(sent.size() == 1);
  CHECK(sent[0].first == kOther);
  CHECK(sent[0].second.followed == 1);
}

TEST_CASE("a message that followed ownership to here waits for the parcel [Saito08 G12]") {
  Harness h;

  h.route(2, /*followed=*/2);  // "Named owner at epoch 2", and the parcel is still under way.
  CHECK(h.router.parked() == 1);
  h.router.on_parcels({{VnodeId{2}, 2, {}}}, h.out);
  const auto handed = support::handed(h.out.take());

  REQUIRE(handed.size() == 2);
  CHECK(std::get<AppGrant>(handed[0]).parcels[0].vnode == VnodeId{2});
  CHECK(std::get<PointToPoint>(std::get<AppDeliver>(handed[1]).delivery).to == VnodeId{2});
  CHECK(h.router.parked() == 0);
  h.router.check_invariants();
}

TEST_CASE("the vnodes of a finished process are nobody's when its processor leaves: all answer") {
  Harness h;
  CHECK(h.router.on_leaving().empty());  // its process still takes what comes
  h.router.on_finished(h.out);
  Harness other;  // v0 and v1 are elsewhere for v2 and v3 of this one
  other.router = Router(kOther, kJob, VnodeMap(4, {kSelf, kOther}), kFlowBytes);
  other.router.on_attached(kApp, other.out);
  static_cast<void>(other.out.take());
  other.route(0, /*followed=*/1);  // came before the news

  const auto routes = h.router.on_leaving();
  REQUIRE(routes == std::vector<Route>{{VnodeSet::range(VnodeId{0}, VnodeId{1}), kNobody, 2}});
  CHECK(h.router.on_leaving().empty());
  other.router.on_routes(routes, other.out);
  other.router.serve({VnodeId{3}, 0, 0, collectives::Purpose::kQuestion, 0, {}},
                     {{VnodeSet::range(VnodeId{0}, VnodeId{3}), 0}}, other.out);
  const auto handed = other.handed<AppDeliver>();

  REQUIRE(handed.size() == 3);
  CHECK(std::get<FlowCredit>(handed[0].delivery) ==
        FlowCredit{VnodeId{3}, VnodeId{0}, kFlowClosed, 0, {}});
  CHECK(std::get<CastCredit>(handed[1].delivery) ==
        CastCredit{VnodeId{3}, VnodeSet::range(VnodeId{0}, VnodeId{1}), kFlowClosed, 0, {}});
  CHECK(std::get<BroadcastDelivery>(handed[2].delivery).to ==
        VnodeSet::range(VnodeId{2}, VnodeId{3}));
  other.router.check_invariants();
  h.route(1, 0);  // the leaver itself answers as well
  CHECK(h.sent<VnodeMessage>().size() == 1);
  h.router.check_invariants();
}

TEST_CASE("what crossed a release goes after the vnode, what was taken before does not") {
  Harness h;
  h.route(1, 0, 0);
  h.route(0, 0, 0);
  h.route(1, 0, 1);
  static_cast<void>(h.out.take());

  const auto parcels = h.release_v1(/*received=*/1);
  h.router.reroute(VnodeSet{VnodeId{1}}, h.out);

  REQUIRE(parcels.size() == 1);
  CHECK(parcels[0].epoch == 2);
  CHECK(h.router.map().owner(VnodeId{1}) == VnodeMap::Owner{kOther, 2});
  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].first == kOther);
  CHECK(sent[0].second == VnodeMessage{kJob, 2, h.piece(1, 1)});
  CHECK(h.router.parked() == 0);
  h.router.check_invariants();
}

TEST_CASE("what crossed a release is given back with the vnode, if the application wants it back") {
  Harness h;
  collectives::BroadcastPiece piece;
  piece.root = VnodeId{0};
  h.route(1, 0, 0);
  h.router.serve(piece, {{h.router.held(), 0}}, h.out);
  h.router.keep({/*received=*/1, {{VnodeId{1}, VnodeBundle{}}}}, h.out);
  CHECK(h.router.parked() == 1);
  h.router.check_invariants();
  static_cast<void>(h.out.take());

  h.router.grant_kept(VnodeSet{VnodeId{1}}, h.out);

  const auto handed = support::handed(h.out.take());
  REQUIRE(handed.size() == 2);
  CHECK(std::get<AppGrant>(handed[0]).parcels[0].vnode == VnodeId{1});
  CHECK(std::get<AppDeliver>(handed[1]).delivery ==
        Delivery{BroadcastDelivery{VnodeSet{VnodeId{1}}, piece}});
  CHECK(h.router.parked() == 0);
}

TEST_CASE("a former holder forwards with the epoch it gave the vnode away at") {
  Harness h;
  static_cast<void>(h.release_v1(0));

  h.route(1, /*followed=*/1);
  const auto sent = h.sent<VnodeMessage>();

  REQUIRE(sent.size() == 1);
  CHECK(sent[0].first == kOther);
  CHECK(sent[0].second.followed == 2);
}

TEST_CASE("what was given away and has not come back can be told to others, as it is known now") {
  Harness h;
  h.router.keep({0, {{VnodeId{0}, {}}, {VnodeId{1}, {}}}}, h.out);
  static_cast<void>(h.router.give_kept(VnodeSet::range(VnodeId{0}, VnodeId{1}), kOther));
  h.router.on_routes({{VnodeSet{VnodeId{1}}, kThird, 3}}, h.out);
  CHECK(h.router.given() ==
        std::vector<Route>{{VnodeSet{VnodeId{0}}, kOther, 2}, {VnodeSet{VnodeId{1}}, kThird, 3}});

  h.router.on_parcels({{VnodeId{0}, 3, {}}}, h.out);

  CHECK(h.router.given() == std::vector<Route>{{VnodeSet{VnodeId{1}}, kThird, 3}});
}

TEST_CASE("a newer route sends parked messages on their way") {
  Harness h;
  h.route(2, 2);
  REQUIRE(h.router.parked() == 1);

  h.router.on_routes({{VnodeSet{VnodeId{2}}, kThird, 3}}, h.out);
  const auto sent = h.sent<VnodeMessage>();

  REQUIRE(sent.size() == 1);
  CHECK(sent[0].first == kThird);
  CHECK(h.router.parked() == 0);
  CHECK(h.router.parked_bytes() == 0);
}

TEST_CASE("nobody can tell a holder that it holds nothing") {
  Harness h;

  h.router.on_routes({{VnodeSet{VnodeId{0}}, kThird, 9}}, h.out);

  CHECK(h.router.map().owner(VnodeId{0}).first == kSelf);
  h.router.check_invariants();
}

TEST_CASE("a broadcast serves each vnode here, parked or elsewhere: once") {
  Harness h;
  collectives::BroadcastPiece piece;
  piece.root = VnodeId{0};

  h.router.serve(piece, {{h.router.map().all(), 0}, {VnodeSet{}, 0}}, h.out);
  const auto items = h.out.take();

  VnodeSet served;
  for (const auto& item : items) {
    if (const auto* send = std::get_if<JobOutbox::Send>(&item)) {
      const auto& message = std::get<CollectiveMessage>(send->message);
      for (const auto& tokens : std::get<collectives::FallbackCopy>(message.message).mine) {
        CHECK(served.common(tokens.vnodes).empty());
        served = served.united(tokens.vnodes);
      }
    }
  }
  CHECK(served == VnodeSet::range(VnodeId{2}, VnodeId{3}));
  CHECK(h.router.undelivered_bytes() > 0);
}

TEST_CASE("a parcel that claims the epoch of another owner is ignored") {
  Harness h;
  h.router.on_routes({{VnodeSet{VnodeId{2}}, kThird, 5}}, h.out);

  h.router.on_parcels({{VnodeId{2}, 5, {}}}, h.out);

  CHECK(h.router.map().owner(VnodeId{2}) == VnodeMap::Owner{kThird, 5});
  CHECK(!h.router.held().contains(VnodeId{2}));
}

TEST_CASE("a stale parcel is ignored") {
  Harness h;
  static_cast<void>(h.release_v1(0));

  h.router.on_parcels({{VnodeId{1}, 1, {}}}, h.out);

  CHECK_FALSE(h.router.held().contains(VnodeId{1}));
  h.router.check_invariants();
}

TEST_CASE("vnodes with much to carry are granted in several messages") {
  JobOutbox out;
  Router router{kSelf, kJob, VnodeMap(4, {kOther}), kFlowBytes};
  std::vector<VnodeParcel> parcels;
  for (std::uint64_t v = 0; v < 3; ++v) {
    parcels.push_back({VnodeId{v}, 2, {}});
    parcels.back().bundle.state = Payload(Bytes(std::size_t{30} << 20U));
  }
  router.on_parcels(std::move(parcels), out);

  Harness h;
  router.on_attached(kApp, h.out);

  const auto grants = h.handed<AppGrant>();
  REQUIRE(grants.size() == 2);
  CHECK(grants[0].parcels.size() == 2);
}

TEST_CASE("after the application's end its vnodes take nothing, and say so to who sends to them") {
  Harness h;
  h.route(2, 2);
  h.router.on_finished(h.out);
  static_cast<void>(h.out.take());

  h.route(0, 0);

  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].first == kOther);
  CHECK(std::get<FlowCredit>(sent[0].second.delivery) ==
        FlowCredit{VnodeId{3}, VnodeId{0}, kFlowClosed, 0, {}});
  CHECK(h.router.undelivered_bytes() == 0);
  h.router.check_invariants();
}

TEST_CASE("pieces that do not fit are dropped, and asked for when there is room") {
  Harness h;
  PointToPoint piece = Harness::piece(0, 0);
  for (; h.router.undelivered_bytes() <= kFlowBytes; ++piece.seq) {
    h.router.route({kJob, 0, piece}, h.out);
  }
  const std::uint64_t dropped = piece.seq;
  static_cast<void>(h.out.take());

  for (int i = 0; i < 3; ++i, ++piece.seq) h.router.route({kJob, 0, piece}, h.out);
  CHECK(h.out.take().empty());
  h.router.on_acknowledged(dropped, h.out);

  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(std::get<FlowCredit>(sent[0].second.delivery) ==
        FlowCredit{VnodeId{3}, VnodeId{0}, 0, 0, dropped});
}

TEST_CASE("pieces of broadcasts that do not fit are dropped, and asked for when there is room") {
  Harness h;
  collectives::BroadcastPiece piece{VnodeId{3}, 0, 0, {}, 0, Payload(Bytes(100))};
  const auto serve = [&] { h.router.serve(piece, {{VnodeSet{VnodeId{0}, VnodeId{1}}, 0}}, h.out); };
  for (; h.router.undelivered_bytes() <= kFlowBytes; ++piece.number) serve();
  const std::uint64_t dropped = piece.number;
  static_cast<void>(h.out.take());

  for (int i = 0; i < 3; ++i, ++piece.number) serve();
  CHECK(h.out.take().empty());
  piece.purpose = collectives::Purpose::kRepair;
  serve();
  CHECK(h.handed<AppDeliver>().size() == 1);  // questions are never dropped
  h.router.on_acknowledged(dropped, h.out);

  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(std::get<CastCredit>(sent[0].second.delivery) ==
        CastCredit{VnodeId{3}, VnodeSet{VnodeId{0}, VnodeId{1}}, 0, 0, dropped, dropped + 3});
}

TEST_CASE("after the application's end roots of broadcasts hear that its vnodes take nothing") {
  Harness h;
  h.router.on_finished(h.out);
  static_cast<void>(h.out.take());

  h.router.serve({VnodeId{3}, 5, 0, {}, false, {}}, {{VnodeSet{VnodeId{0}, VnodeId{1}}, 0}}, h.out);

  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(std::get<CastCredit>(sent[0].second.delivery) ==
        CastCredit{VnodeId{3}, VnodeSet{VnodeId{0}, VnodeId{1}}, kFlowClosed, 0, {}});
}

TEST_CASE("pieces for a vnode on its way that do not fit are asked for where it has come to rest") {
  Harness h;
  PointToPoint piece = Harness::piece(2, 0);
  // The message followed v2 to here: it is on its way to this processor.
  for (; h.router.parked_bytes() <= kFlowBytes; ++piece.seq) {
    h.router.route({kJob, 5, piece}, h.out);
  }
  const std::uint64_t dropped = piece.seq;
  h.router.route({kJob, 5, piece}, h.out);
  static_cast<void>(h.out.take());

  h.router.on_parcels({{VnodeId{2}, 6, {}}}, h.out);

  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(std::get<FlowCredit>(sent[0].second.delivery).again == dropped);
}

TEST_CASE("what did not fit is not asked for again because nothing has come") {
  Harness h;
  constexpr std::uint64_t kPieces = 200;  // More than kFlowBytes with what each weighs.
  for (std::uint64_t seq = 0; seq < kPieces; ++seq) h.route(0, 5, seq);
  static_cast<void>(h.out.take());

  CHECK(h.router.grant_kept({}, h.out).empty());
  CHECK(h.sent<VnodeMessage>().empty());
  h.router.on_acknowledged(kPieces, h.out);
  CHECK(h.sent<VnodeMessage>().size() == 1);
}

TEST_CASE("a program that ends does not wait for vnodes here that nobody holds") {
  Harness h;
  h.router.keep({/*received=*/0, {{VnodeId{1}, VnodeBundle{}}}}, h.out);
  h.route(1, 0);
  static_cast<void>(h.out.take());

  h.router.on_closing(h.out);

  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(std::get<FlowCredit>(sent[0].second.delivery).received == kFlowClosed);
}

TEST_CASE("who asks about reductions towards a vnode whose program has ended need keep nothing") {
  Harness h;
  h.router.on_finished(h.out);
  static_cast<void>(h.out.take());

  h.router.route(VnodeMessage{kJob, 0, FlowQuestion{VnodeId{3}, VnodeId{1}, false, 0, 5}}, h.out);

  const auto sent = h.sent<VnodeMessage>();
  REQUIRE(sent.size() == 1);
  CHECK(std::get<FlowCredit>(sent[0].second.delivery) ==
        FlowCredit{VnodeId{3}, VnodeId{1}, 0, 0, {}, kFlowClosed});
}

/// A router that had v0 to v31, all of which its application has released for kOther.
struct Releasing {
  static constexpr std::uint64_t kVnodes = 32, kBytes = 256 * 1024;
  static VnodeSet all() { return VnodeSet::range(VnodeId{0}, VnodeId{kVnodes - 1}); }
  Releasing() {
    router.on_attached(kApp, out);
    for (std::uint64_t number = 0; number < 2; ++number) serve(number);  // cross the release
    AppReleased released;
    for (const VnodeId vnode : all().ids()) released.vnodes.push_back({vnode, {}});
    router.keep(std::move(released), out);
    router.bind(all());
    for (std::uint64_t number = 2; number < 4; ++number) serve(number);
    static_cast<void>(out.take());
  }
  void serve(std::uint64_t number) {
    router.serve({VnodeId{40}, number, 0, {}, 0, Payload(Bytes(kBytes))}, {{all(), 0}}, out);
  }

  Router router{kSelf, kJob, VnodeMap(64, {kSelf, kThird}), std::uint64_t{32} << 20U};
  JobOutbox out;
};

TEST_CASE("costs: a piece that waits for many vnodes counts once, and goes on once") {
  Releasing h;
  const std::uint64_t header = 100 * 4 * Releasing::kVnodes;
  CHECK(h.router.parked() == 4 * Releasing::kVnodes);
  CHECK(h.router.parked_bytes() >= 4 * Releasing::kBytes);
  CHECK(h.router.parked_bytes() < 4 * Releasing::kBytes + header);
  h.router.check_invariants();

  SUBCASE("to their new owner") {
    static_cast<void>(h.router.give_kept(Releasing::all(), kOther));
    h.router.reroute(Releasing::all(), h.out);
    const auto sent = support::sent<CollectiveMessage>(h.out.take());
    REQUIRE(sent.size() == 4);
    for (const auto& [to, message] : sent) {
      const auto& copy = std::get<collectives::FallbackCopy>(message.message);
      CHECK(to == kOther);
      CHECK(copy.mine == std::vector<collectives::Tokens>{{Releasing::all(), 2}});
    }
  }
  SUBCASE("to the application that has them back") {
    h.router.take_back(Releasing::all(), true, h.out);
    const auto handed = support::handed<AppDeliver>(h.out.take());
    REQUIRE(handed.size() == 4);
    for (const AppDeliver& one : handed) {
      CHECK(std::get<BroadcastDelivery>(one.delivery).to == Releasing::all());
    }
    h.router.on_finished(h.out);  // it had acknowledged none of them
    const auto sent = support::sent<VnodeMessage>(h.out.take());
    REQUIRE(sent.size() == 4);
    for (const auto& [to, message] : sent) {
      CHECK(std::get<CastCredit>(message.delivery).vnodes == Releasing::all());
    }
  }
  CHECK(h.router.parked() == 0);
  CHECK(h.router.parked_bytes() == 0);
  h.router.check_invariants();
}

TEST_CASE("acknowledged deliveries are forgotten") {
  Harness h;
  h.route(0, 0);
  h.route(1, 0);
  const std::uint64_t before = h.router.undelivered_bytes();

  h.router.on_acknowledged(1, h.out);

  CHECK(h.router.undelivered_bytes() == before / 2);
}

}  // namespace
}  // namespace phx::runtime::router_test

TEST_SUITE_END();
