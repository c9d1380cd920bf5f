#include "runtime/endpoint/kept_news.h"

#include <doctest/doctest.h>

#include "runtime/endpoint/endpoint.h"

TEST_SUITE_BEGIN("runtime/kept_news");

namespace phx::runtime::kept_news_test {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr VnodeId v0{0}, v1{1}, v2{2};

/// What vnodes send, and what the receiver of v0's messages, v9, has taken.
class Sources {
 public:
  void send(VnodeId from, std::uint64_t bytes) { send(from, Payload(Bytes(bytes))); }
  void send(VnodeId from, const Payload& payload) {
    flows_.push({from, VnodeId{9}, 0, 0, 0, payload}, pieces_);
  }
  void broadcast(VnodeId root, std::uint64_t bytes) {
    collectives::BroadcastPiece piece;
    piece.root = root;
    piece.payload = Payload(Bytes(bytes));
    casts_.push(piece, copies_);
  }
  void take(std::uint64_t below) {
    // What has not left cannot have been received.
    flows_.on_credit({v0, VnodeId{9}, 0, std::uint64_t{1} << 40U, {}}, pieces_);
    flows_.on_credit({v0, VnodeId{9}, below, std::uint64_t{1} << 40U, {}}, pieces_);
  }
  std::optional<AppKeeps> news() { return news_.take(flows_, casts_, VnodeSet{v0, v1, v2}); }
  VnodeSet immovable() { return runtime::immovable(flows_, casts_, VnodeSet{v0, v1, v2}); }

 private:
  Outflows flows_{kMiB};
  CastOutflows casts_{InflowOptions{}};
  Outflows::Pieces pieces_;
  CastOutflows::Copies copies_;
  KeptNews news_{4 * kMiB};
};

/// In MiB, rounded down.
std::map<VnodeId, std::uint64_t> amounts(const std::optional<AppKeeps>& news) {
  std::map<VnodeId, std::uint64_t> result;
  REQUIRE(news.has_value());
  for (const auto& [vnode, bytes] : news->vnodes) result[vnode] = bytes / kMiB;
  return result;
}

TEST_CASE("vnodes that keep much are told of, whether in messages or in broadcasts") {
  Sources sources;
  sources.send(v0, kMiB);
  CHECK(!sources.news());

  sources.send(v0, 5 * kMiB);
  sources.broadcast(v1, 7 * kMiB);
  sources.broadcast(v2, kMiB);

  CHECK(amounts(sources.news()) == std::map<VnodeId, std::uint64_t>{{v0, 6}, {v1, 7}});
  CHECK(!sources.news());
}

TEST_CASE("it is told again when it is four times as much, and when it has been received") {
  Sources sources;
  std::uint64_t told = 0;
  for (int i = 0; i < 256; ++i) {
    sources.send(v0, kMiB);
    if (sources.news()) ++told;
  }
  CHECK(told == 4);  // 4, 16, 64 and 256 MiB.

  sources.take(200);
  CHECK(amounts(sources.news()) == std::map<VnodeId, std::uint64_t>{{v0, 56}});
  sources.take(256);
  CHECK(amounts(sources.news()).empty());
  CHECK(!sources.news());
}

TEST_CASE("limits: what keeps more than can move is told apart, until some of it is received") {
  Sources sources;
  const Payload piece(Bytes(64 * kMiB));
  for (int i = 0; i < 17; ++i) sources.send(v0, piece);
  CHECK(sources.immovable() == VnodeSet{v0});

  sources.take(2);

  CHECK(sources.immovable().empty());
}

TEST_CASE("limits: a vnode that keeps more than can move leaves at a later safe point") {
  EndpointConfig config;
  config.outbox_bytes_max = 4096 * kMiB;
  Endpoint endpoint(config);
  endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 2, "", 0});
  endpoint.on_message(AppGrant{{{v0, 1, {}}}});
  static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
  endpoint.finish_safe_point({});
  const Payload payload(Bytes(64 * kMiB));
  for (int i = 0; i < 17; ++i) REQUIRE(endpoint.send(v0, v1, 0, payload).ok());
  endpoint.on_message(AppRelease{{v0}});

  CHECK(endpoint.begin_safe_point(endpoint.due()).departing.empty());
  endpoint.finish_safe_point({});
  CHECK(endpoint.departing() == VnodeSet{v0});
  const std::uint64_t sent = endpoint.outflows().kept_bytes() / config.piece_bytes;
  for (const std::uint64_t below : {std::uint64_t{0}, sent}) {
    const FlowCredit credit{v0, v1, below, std::uint64_t{1} << 40U, {}};
    endpoint.on_message(AppDeliver{below + 1, credit});
  }

  CHECK(endpoint.begin_safe_point(endpoint.due()).departing == VnodeSet{v0});
  endpoint.finish_safe_point({});
}

}  // namespace
}  // namespace phx::runtime::kept_news_test

TEST_SUITE_END();
