#include "runtime/endpoint/endpoint.h"

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <string>

namespace phx::runtime::endpoint_test {
namespace {

using collectives::BroadcastPiece;
using collectives::Purpose;
using collectives::ReduceOp;
using collectives::ReduceType;
using collectives::ReductionKind;
using collectives::ReductionToken;
using Kind = Message::Kind;

constexpr VnodeId v0{0}, v1{1}, v2{2}, v3{3};

Payload text(const std::string& s) {
  return Payload::copy_of(s);
}
Payload number(std::int64_t n) {
  return Payload::copy_of(std::as_bytes(std::span<const std::int64_t>(&n, 1)));
}
std::int64_t as_number(const Payload& payload) {
  std::int64_t n = 0;
  REQUIRE(payload.size() == sizeof(n));
  std::memcpy(&n, payload.bytes().data(), sizeof(n));
  return n;
}

/// An endpoint of a job of four vnodes that holds some of them, cutting at eight bytes.
struct Harness {
  explicit Harness(const VnodeSet& held, EndpointConfig config = {.piece_bytes = 8})
      : endpoint(std::move(config)) {
    endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, ""});
    grant(held);
    static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
    endpoint.finish_safe_point({});
  }
  ~Harness() { endpoint.check_invariants(); }

  void grant(const VnodeSet& vnodes) {
    AppGrant grant;
    for (const VnodeId v : vnodes.ids()) grant.parcels.push_back({v, 1, {}});
    endpoint.on_message(grant);
  }
  void deliver(Delivery delivery) { endpoint.on_message(AppDeliver{++seq, std::move(delivery)}); }
  /// Texts received by `at`, in order.
  std::vector<std::string> received(VnodeId at) {
    std::vector<std::string> all;
    while (auto taken = endpoint.take({.at = at})) {
      all.emplace_back(taken->second.payload.text());
    }
    return all;
  }
  /// The outputs of one type.
  template <class T>
  std::vector<T> sent() {
    std::vector<T> all;
    for (ToDaemon& output : endpoint.take_outputs()) {
      if (auto* m = std::get_if<T>(&output)) all.push_back(std::move(*m));
    }
    return all;
  }

  Endpoint endpoint;
  std::uint64_t seq = 0;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE_BEGIN("runtime/endpoint");

TEST_CASE("a long message leaves in pieces and arrives whole") {
  Harness from{{v0}};
  Harness to{{v1}};

  REQUIRE(from.endpoint.send(v0, v1, 7, text("twenty bytes of text")).ok());
  const auto pieces = from.sent<AppSend>();
  for (const AppSend& piece : pieces) to.deliver(piece.message);

  CHECK(pieces.size() == 3);
  const auto taken = to.endpoint.take({});
  REQUIRE(taken.has_value());
  CHECK(taken->first == v1);
  CHECK(taken->second == Message{Kind::kPointToPoint, v0, 0, 7, text("twenty bytes of text")});
}

TEST_CASE("an empty message is a message") {
  Harness from{{v0}};
  Harness to{{v1}};

  REQUIRE(from.endpoint.send(v0, v1, 0, Payload()).ok());
  for (const AppSend& piece : from.sent<AppSend>()) to.deliver(piece.message);

  CHECK(to.received(v1) == Texts{""});
}

TEST_CASE("a long message is put together in one room, which the application may give") {
  std::vector<std::size_t> rooms;
  Endpoint endpoint({.piece_bytes = 8, .room = [&](std::size_t bytes) {
                       rooms.push_back(bytes);
                       return std::make_shared<std::byte[]>(bytes);
                     }});
  endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, ""});
  endpoint.on_message(AppGrant{{{v1, 1, {}}}});
  static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
  endpoint.finish_safe_point({});
  Bytes piece = {std::byte{'a'}, std::byte{'b'}};

  endpoint.on_message(AppDeliver{1, PointToPoint{v0, v1, 0, 7, 3, Payload(piece)}});
  // It is copied at once: its own memory may be lent only.
  endpoint.on_message(AppDeliver{2, PointToPoint{v0, v1, 2, 7, 0, text("e")}});
  endpoint.on_message(AppDeliver{3, PointToPoint{v0, v1, 1, 7, 1, text("cd")}});

  CHECK(rooms == std::vector<std::size_t>{5});
  CHECK(endpoint.take({.at = v1})->second.payload == text("abcde"));
  endpoint.check_invariants();
}

TEST_CASE("wrong announcements do not make a long message cost more than twice its copy") {
  std::size_t given = 0;
  Endpoint endpoint({.room = [&](std::size_t bytes) {
    given += bytes;
    return std::make_shared<std::byte[]>(bytes);
  }});
  endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, ""});
  endpoint.on_message(AppGrant{{{v1, 1, {}}}});
  const Payload piece(Bytes(1000));

  for (std::uint64_t seq = 0; seq < 100; ++seq) {
    endpoint.on_message(AppDeliver{seq + 1, PointToPoint{v0, v1, seq, 7, 1, piece}});
  }

  CHECK(given < 4 * 100 * piece.size());
}

TEST_CASE("a message that is longer than announced, or announced too long, is taken all the same") {
  Harness h{{v1}};

  h.deliver(PointToPoint{v0, v1, 0, 7, 1, text("ab")});
  h.deliver(PointToPoint{v0, v1, 1, 7, 2, text("longer than that")});
  h.deliver(PointToPoint{v0, v1, 2, 7, 0, text("!")});
  h.deliver(PointToPoint{v0, v1, 3, 7, ~std::uint64_t{0}, text("x")});
  h.deliver(PointToPoint{v0, v1, 4, 7, 0, text("y")});

  CHECK(h.received(v1) == Texts{"ablonger than that!", "xy"});
}

TEST_CASE("pieces that overtook others wait, and repeated ones are dropped") {
  Harness h{{v1}};

  h.deliver(PointToPoint{v0, v1, 2, 0, false, text("c")});
  h.deliver(PointToPoint{v0, v1, 2, 0, false, text("c")});
  h.deliver(PointToPoint{v0, v1, 1, 0, false, text("b")});
  CHECK(h.received(v1).empty());
  h.deliver(PointToPoint{v0, v1, 0, 0, false, text("a")});
  h.deliver(PointToPoint{v0, v1, 1, 0, false, text("b")});

  CHECK(h.received(v1) == Texts{"a", "b", "c"});
  CHECK(h.endpoint.counters().duplicates == 2);
  CHECK(h.endpoint.counters().early == 2);
}

TEST_CASE("a message between two vnodes of one process does not pass the daemon") {
  Harness h{{v0, v1}};

  REQUIRE(h.endpoint.send(v0, v1, 0, text("a rather long message")).ok());

  CHECK(h.endpoint.take_outputs().empty());
  CHECK(h.received(v1) == Texts{"a rather long message"});
}

TEST_CASE("a near message waits for an earlier one that is still on its way") {
  Harness h{{v0}};
  REQUIRE(h.endpoint.send(v0, v1, 0, text("first")).ok());
  const auto far = h.sent<AppSend>();
  h.grant({v1});
  static_cast<void>(h.endpoint.begin_safe_point(h.endpoint.due()));
  h.endpoint.finish_safe_point({});

  REQUIRE(h.endpoint.send(v0, v1, 0, text("second")).ok());
  CHECK(h.received(v1).empty());
  const auto second = h.sent<AppSend>();
  REQUIRE(second.size() == 1);
  h.deliver(second[0].message);
  h.deliver(far.at(0).message);

  CHECK(h.received(v1) == Texts{"first", "second"});
}

TEST_CASE("a vnode that is not held cannot send, and one that does not exist is not sent to") {
  Harness h{{v0}};

  CHECK(h.endpoint.send(v1, v0, 0, text("x")).error().code == ErrorCode::kBadInput);
  CHECK(h.endpoint.send(v0, VnodeId{4}, 0, text("x")).error().what ==
        "there is no v4: the job has 4 vnodes");
  CHECK(h.endpoint.take_outputs().empty());
}

TEST_CASE("taking selects by vnode, kind, sender and tag, the oldest first") {
  Harness h{{v1, v2}};
  h.deliver(PointToPoint{v0, v2, 0, 5, false, text("a")});
  h.deliver(PointToPoint{v3, v1, 0, 6, false, text("b")});
  h.deliver(PointToPoint{v0, v1, 0, 5, false, text("c")});

  const auto by_tag = h.endpoint.take({.tag = 6});
  CHECK(by_tag->second.payload.text() == "b");
  const auto by_vnode = h.endpoint.take({.at = v1, .from = v0});
  CHECK(by_vnode->second.payload.text() == "c");
  CHECK(h.endpoint.count({}) == 1);
  CHECK(h.endpoint.take({})->first == v2);
  CHECK_FALSE(h.endpoint.take({}).has_value());
}

TEST_CASE("broadcasts and long values are cut as the job says, within limits") {
  constexpr std::size_t kBytes = std::size_t{64} << 10U;
  const std::map<std::uint32_t, std::size_t> pieces{
      {0, 1}, {32768, 2}, {16384, 4}, {1, 16}, {~std::uint32_t{0}, 1}};
  for (const auto& [said, count] : pieces) {
    Endpoint endpoint(EndpointConfig{});
    endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, "", 0, {said, 0}});
    endpoint.on_message(AppPlace{true});
    AppGrant grant;
    grant.parcels.push_back({v0, 1, {}});
    endpoint.on_message(grant);
    static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
    endpoint.finish_safe_point({});
    static_cast<void>(endpoint.take_outputs());
    REQUIRE(endpoint.broadcast(v0, 3, Payload(Bytes(kBytes))).ok());
    CHECK(endpoint.take_outputs().size() == count);
    const auto given =
        endpoint.contribute(v0, v0, {{ReduceOp::kSum, ReduceType::kInt64}, Payload(Bytes(kBytes))});
    REQUIRE(given.ok());
    CHECK(given.value().pieces == count);
  }
}

TEST_CASE("what waits for credit counts as part of the broadcasts behind it") {
  constexpr std::size_t kBytes = std::size_t{64} << 10U;
  Harness h({v0}, {});
  std::vector<SizeClass> sizes;
  const auto look = [&] {
    for (const AppBroadcast& m : h.sent<AppBroadcast>()) {
      if (!m.piece.payload.empty()) sizes.push_back(m.piece.size);
    }
  };
  for (int i = 0; i < 8; ++i) REQUIRE(h.endpoint.broadcast(v0, 3, Payload(Bytes(kBytes))).ok());
  look();
  CHECK(sizes.size() == 1);  // for more it has no credit
  h.deliver(CastCredit{v0, VnodeSet::range(v0, v3), 0, 16 * kBytes, {}});
  look();
  // The first two found nothing that waits; each after them 64 KiB more than the one before.
  CHECK(sizes == std::vector<SizeClass>{1, 1, 2, 2, 3, 3, 3, 3});
}

TEST_CASE("broadcasts of one root arrive in order, and all vnodes share the bytes") {
  Harness root{{v0}};
  Harness h{{v1, v2, v3}};
  REQUIRE(root.endpoint.broadcast(v0, 3, text("twelve bytes")).ok());
  REQUIRE(root.endpoint.broadcast(v0, 3, text("short")).ok());
  const auto pieces = root.sent<AppBroadcast>();
  REQUIRE(pieces.size() == 3);

  for (const std::size_t i : {2U, 0U, 1U}) {
    h.deliver(BroadcastDelivery{VnodeSet::range(v1, v3), pieces[i].piece});
  }

  const auto first = h.endpoint.take({.at = v1});
  const auto second = h.endpoint.take({.at = v3});
  CHECK(first->second == Message{Kind::kBroadcast, v0, 1, 3, text("twelve bytes")});
  CHECK(first->second.payload.bytes().data() == second->second.payload.bytes().data());
  CHECK(h.received(v2) == Texts{"twelve bytes", "short"});
}

TEST_CASE("contributions of one process are merged, and the target gets the result") {
  Harness a{{v0, v1}};
  Harness b{{v2, v3}};
  const ReductionKind sum{ReduceOp::kSum, ReduceType::kInt64, false};
  for (const VnodeId v : {v0, v1}) {
    REQUIRE(a.endpoint.contribute(v, v3, {sum, number(1 + static_cast<int>(v.value)), 0}).ok());
  }
  for (const VnodeId v : {v2, v3}) {
    REQUIRE(b.endpoint.contribute(v, v3, {sum, number(10), 0}).ok());
  }
  const auto from_a = a.sent<AppContribute>();
  const auto from_b = b.sent<AppContribute>();
  REQUIRE(from_a.size() == 1);
  REQUIRE(from_b.size() == 1);

  b.deliver(from_a[0].token);
  CHECK(b.endpoint.count({}) == 0);
  b.deliver(from_b[0].token);

  const auto taken = b.endpoint.take({});
  REQUIRE(taken.has_value());
  CHECK(taken->first == v3);
  CHECK(taken->second.kind == Kind::kReduced);
  CHECK(as_number(taken->second.payload) == 23);
}

TEST_CASE("the result for all is broadcast by the target and keeps its number") {
  Harness h{{v0, v1, v2, v3}};
  const ReductionKind sum{ReduceOp::kSum, ReduceType::kInt64, true};
  for (int round = 0; round < 2; ++round) {
    for (const VnodeId v : h.endpoint.held().ids()) {
      const auto made = h.endpoint.contribute(v, v0, {sum, number(round), 0});
      REQUIRE(made.ok());
      CHECK(made.value().first == static_cast<std::uint64_t>(round));
    }
  }
  auto tokens = h.sent<AppContribute>();
  REQUIRE(tokens.size() == 2);

  h.deliver(tokens[1].token);  // the later one is complete first
  h.deliver(tokens[0].token);
  for (const AppBroadcast& m : h.sent<AppBroadcast>()) {
    CHECK(m.piece.purpose == Purpose::kAllreduce);
    h.deliver(BroadcastDelivery{h.endpoint.held(), m.piece});
  }

  for (const std::uint64_t n : {0U, 1U}) {
    const auto taken =
        h.endpoint.take({.at = v2, .kind = Kind::kAllreduced, .from = v0, .number = n});
    REQUIRE(taken.has_value());
    CHECK(as_number(taken->second.payload) == 4 * static_cast<std::int64_t>(n));
  }
}

TEST_CASE("arrays are cut between elements into consecutive reductions") {
  Harness h{{v0, v1, v2, v3}};
  const std::vector<float> values{1, 2, 3};
  const Payload array = Payload::copy_of(std::as_bytes(std::span(values)));

  const auto made =
      h.endpoint.contribute(v0, v1, {{ReduceOp::kMax, ReduceType::kFloat, false}, array, 0});

  REQUIRE(made.ok());
  CHECK(made.value().pieces == 2);
  const auto tokens = h.sent<AppContribute>();
  CHECK(tokens.at(0).token.parts.at(0).value.size() == 8);
  CHECK(tokens.at(1).token.id.number == 1);
  CHECK(tokens.at(1).token.parts.at(0).value.size() == 4);
}

TEST_CASE("values of a user-defined reduction come to the target side by side, in vnode order") {
  Harness h{{v0, v1, v2, v3}};
  const ReductionKind user{ReduceOp::kUser, ReduceType::kBytes, true};
  for (const VnodeId v : {v2, v0, v3, v1}) {
    REQUIRE(h.endpoint.contribute(v, v1, {user, text(to_string(v)), 0}).ok());
  }
  for (const AppContribute& m : h.sent<AppContribute>()) h.deliver(m.token);

  const auto taken = h.endpoint.take({});
  REQUIRE(taken.has_value());
  CHECK(taken->second.kind == Kind::kReduced);
  const auto values = split_user_values(taken->second.payload);
  REQUIRE(values.size() == 4);
  CHECK(values[0].text() == "v0");
  CHECK(values[3].text() == "v3");
  CHECK(split_user_values(text("not their message")).empty());
}

TEST_CASE("who combines with an operator while others do something else ends the job, also late") {
  const ReductionKind user{ReduceOp::kUser, ReduceType::kBytes, false};
  const ReductionKind to_all{ReduceOp::kUser, ReduceType::kBytes, true};
  const ReductionKind sum{ReduceOp::kSum, ReduceType::kUint8, false};
  for (const auto& [most, odd] : {std::pair(user, to_all), std::pair(to_all, user),
                                  std::pair(user, sum), std::pair(sum, user)}) {
    for (const bool moves : {false, true}) {
      Harness source{{v0, v1, v2, v3}};
      for (const VnodeId v : {v0, v1, v2, v3}) {
        REQUIRE(source.endpoint.contribute(v, v1, {v == v2 ? odd : most, text(""), 0}).ok());
      }
      const auto given = source.sent<AppContribute>();
      REQUIRE(given.size() > 1);
      Targets targets{ContributionOptions{}};
      targets.set_total(4);
      targets.add(v1, {});
      for (std::size_t i = 0; i + 1 < given.size(); ++i) targets.on_token(given[i].token);
      if (moves) targets.add(v1, targets.remove(v1));
      targets.on_token(given.back().token);

      auto reduced = targets.take_reduced();
      REQUIRE(reduced.size() == 1);
      CHECK(reduced[0].value.misfit().find("the contribution of vnodes 2 does not fit") == 0);
      for (const AppContribute& m : given) source.deliver(m.token);
      const auto ends = source.sent<AppFinish>();
      REQUIRE(ends.size() == 1);
      CHECK(ends[0].reason.find("reduction 0 towards v1: the contribution of vnodes 2") == 0);
    }
  }
}

TEST_CASE("contributions that do not fit each other end the job with a reason") {
  Harness h{{v0, v1, v2, v3}};
  const ReductionKind sum{ReduceOp::kSum, ReduceType::kUint8, false};
  for (const VnodeId v : h.endpoint.held().ids()) {
    const std::string value(v == v2 ? 3 : 1, 'x');
    REQUIRE(h.endpoint.contribute(v, v0, {sum, text(value), 0}).ok());
  }

  for (const AppContribute& m : h.sent<AppContribute>()) h.deliver(m.token);

  const auto ends = h.sent<AppFinish>();
  REQUIRE(ends.size() == 1);
  CHECK(ends[0].abort);
  CHECK(ends[0].reason.find("reduction 0 towards v0") == 0);
}

TEST_CASE("a vnode takes its mailbox, filters and counters along") {
  Harness a{{v0, v1}};
  Harness b{{v2}};
  REQUIRE(a.endpoint.send(v0, v2, 0, text("0")).ok());
  a.deliver(PointToPoint{v3, v0, 0, 0, false, text("waits")});
  a.deliver(PointToPoint{v3, v0, 2, 0, false, text("early")});
  REQUIRE(a.endpoint.contribute(v0, v0, {{}, number(5), 0}).ok());
  static_cast<void>(a.endpoint.take_outputs());

  a.endpoint.on_message(AppRelease{{v0}});
  CHECK(a.endpoint.departing() == VnodeSet{v0});
  const auto point = a.endpoint.begin_safe_point(a.endpoint.due());
  CHECK(point.departing == VnodeSet{v0});
  a.endpoint.finish_safe_point({{v0, text("state of v0")}});
  auto released = a.sent<AppReleased>();
  REQUIRE(released.size() == 1);
  CHECK(released[0].received == 2);
  CHECK(a.endpoint.held() == VnodeSet{v1});
  b.endpoint.on_message(AppGrant{{{v0, 2, std::move(released[0].vnodes.at(0).second)}}});
  b.deliver(PointToPoint{v3, v0, 1, 0, false, text("came after")});
  CHECK(b.received(v0).empty());
  const auto arrival = b.endpoint.begin_safe_point(b.endpoint.due());
  b.endpoint.finish_safe_point({});

  REQUIRE(arrival.arriving.size() == 1);
  CHECK(arrival.arriving[0].state == text("state of v0"));
  CHECK(b.received(v0) == Texts{"waits", "came after", "early"});
  REQUIRE(b.endpoint.send(v0, v1, 0, text("1")).ok());
  REQUIRE(b.endpoint.send(v0, v3, 0, text("0")).ok());
  CHECK(b.sent<AppSend>().at(0).message.seq == 0);
  CHECK(b.endpoint.contribute(v0, v0, {{}, number(5), 0}).value().first == 1);
}

TEST_CASE("deliveries for a vnode that is gone are ignored, those for one not installed are kept") {
  Harness h{{v0}};
  h.grant({v1});

  h.deliver(PointToPoint{v0, v1, 0, 0, false, text("for v1")});
  h.deliver(PointToPoint{v0, v2, 0, 0, false, text("for v2")});

  CHECK(h.endpoint.counters().strays == 1);
  CHECK_FALSE(h.endpoint.take({}).has_value());
  CHECK(h.endpoint.begin_safe_point(h.endpoint.due()).arriving.size() == 1);
  h.endpoint.finish_safe_point({});
  CHECK(h.received(v1) == Texts{"for v1"});
}

TEST_CASE("a vnode wanted back before its installation passes through untouched") {
  Harness h{{v0}};
  VnodeBundle bundle;
  bundle.state = text("state");
  h.endpoint.on_message(AppGrant{{{v1, 3, bundle}}});

  h.endpoint.on_message(AppRelease{{v1}});

  const auto released = h.sent<AppReleased>();
  REQUIRE(released.size() == 1);
  CHECK(released[0].vnodes.at(0).second == bundle);
  CHECK(h.endpoint.begin_safe_point(h.endpoint.due()).arriving.empty());
  h.endpoint.finish_safe_point({});
}

TEST_CASE("acknowledges every so many deliveries, every so many bytes, and when asked") {
  Harness h{{v0}};
  for (std::uint64_t i = 0; i < 64; ++i) h.deliver(PointToPoint{v1, v0, i, 0, false, {}});
  CHECK(h.sent<AppAck>() == std::vector<AppAck>{{64}});
  h.deliver(PointToPoint{v2, v0, 0, 0, false, Payload(Bytes(300'000))});
  CHECK(h.sent<AppAck>() == std::vector<AppAck>{{65}});
  h.deliver(PointToPoint{v1, v0, 64, 0, false, {}});
  CHECK(h.sent<AppAck>().empty());

  h.endpoint.acknowledge();
  h.endpoint.acknowledge();

  CHECK(h.sent<AppAck>() == std::vector<AppAck>{{66}});
}

TEST_CASE("limits: a vnode that is too large to move aborts the job with a sentence") {
  Harness h({});
  AppGrant grant{{{v1, 1, {}}}};
  Message message;
  message.payload = Payload(Bytes(std::size_t{1} << 20U));
  grant.parcels[0].bundle.mailbox.assign(70'000, message);
  h.endpoint.on_message(std::move(grant));
  static_cast<void>(h.endpoint.begin_safe_point(h.endpoint.due()));
  h.endpoint.finish_safe_point({});
  h.endpoint.on_message(AppRelease{{v1}});

  static_cast<void>(h.endpoint.begin_safe_point(h.endpoint.departing()));
  h.endpoint.finish_safe_point({});

  const auto said = h.sent<AppFinish>();
  REQUIRE(said.size() == 1);
  CHECK(said[0].abort);
  CHECK(said[0].reason.find("v1 cannot move: its state and messages take 70000 MiB") == 0);
}

TEST_CASE("after the end of the job commands fail with its reason") {
  Harness h{{v0}};

  h.endpoint.on_message(AppEnd{1, "p2 was lost"});

  CHECK(h.endpoint.send(v0, v1, 0, text("x")).error() ==
        Error{ErrorCode::kUnavailable, "the job is over: p2 was lost"});
  CHECK(h.endpoint.ended()->code == 1);
}

TEST_SUITE_END();

}  // namespace phx::runtime::endpoint_test
