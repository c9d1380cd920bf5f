#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "runtime/endpoint/endpoint.h"

namespace phx::runtime::flows_test {
namespace {

constexpr VnodeId v0{0}, v1{1}, v2{2}, v3{3};
constexpr std::size_t kPiece = 936;  // weighs 1,000
constexpr InflowOptions kInflows{.unasked_bytes = 4'000,
                                 .window_free = 0,
                                 .window_max = 64'000,
                                 .inbox_bytes = 256'000,
                                 .inbox_bytes_max = 400'000};

Payload bytes(std::size_t size) {
  return Payload(Bytes(size));
}

/// Two processes with v0 and v1, and what is on its way between them, in order.
struct Pair {
  struct Process {
    Process(VnodeId holds, std::uint64_t outbox, std::size_t piece)
        : endpoint({.piece_bytes = piece, .outbox_bytes_max = outbox, .inflows = kInflows}) {
      endpoint.on_message(AppAttached{JobId{1}, ProcessorId{1}, 4, ""});
      endpoint.on_message(AppGrant{{{holds, 1, {}}}});
      static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
      endpoint.finish_safe_point({});
    }
    Endpoint endpoint;
    std::uint64_t delivered = 0;
  };

  explicit Pair(std::uint64_t outbox = 1'000'000, std::size_t piece = kPiece)
      : source(v0, outbox, piece), sink(v1, 1'000'000, piece) {}
  ~Pair() {
    source.endpoint.check_invariants();
    sink.endpoint.check_invariants();
  }

  /// What `from` has to say goes to the other one; the number of its messages.
  std::size_t carry(Process& from, Process& to) {
    std::size_t count = 0;
    for (ToDaemon& output : from.endpoint.take_outputs()) {
      if (auto* m = std::get_if<AppSend>(&output)) {
        deliver(to, std::move(m->message));
        ++pieces;
      } else if (auto* flow = std::get_if<AppFlow>(&output)) {
        std::visit([&](auto& said) { deliver(to, said); }, flow->message);
        ++talk;
      } else {
        continue;
      }
      ++count;
    }
    return count;
  }
  void deliver(Process& to, Delivery delivery) {
    to.endpoint.on_message(AppDeliver{++to.delivered, std::move(delivery)});
  }
  /// Until neither has anything to say.
  void settle() {
    while (carry(source, sink) + carry(sink, source) > 0) {
    }
  }
  [[nodiscard]] Status send(std::size_t size, std::uint32_t tag = 0) {
    return source.endpoint.send(v0, v1, tag, bytes(size));
  }
  std::size_t take_all(const Endpoint::Selector& wanted = {}) {
    std::size_t count = 0;
    while (sink.endpoint.take(wanted)) ++count;
    return count;
  }

  Process source;
  Process sink;
  std::size_t pieces = 0;
  std::size_t talk = 0;  ///< Credits and questions.
};

TEST_SUITE_BEGIN("runtime/flows");

TEST_CASE("what the receiver does not take stays at its source") {
  Pair pair;
  for (int i = 0; i < 100; ++i) REQUIRE(pair.send(kPiece).ok());

  pair.settle();

  CHECK(pair.pieces == 4);  // as much as goes unasked
  CHECK(pair.source.endpoint.outflows().kept_bytes() == 100'000);
  CHECK(pair.take_all() == 4);
}

TEST_CASE("a receiver that takes gets everything, at a credit per half window at most") {
  Pair pair;
  constexpr std::size_t kMessages = 2'000;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < kMessages; ++i) {
    while (!pair.send(kPiece).ok()) {
      pair.settle();
      taken += pair.take_all();
    }
  }
  while (taken < kMessages) {
    pair.settle();
    taken += pair.take_all();
  }

  CHECK(pair.pieces == kMessages);
  // Windows of 4, 8, 16, 32 pieces on the way to 64; each half is a credit. The source, which is at
  // its limit, may ask after each.
  CHECK(pair.talk <= 2 * kMessages / 32 + 12);
}

TEST_CASE("a window does not grow when that makes the flow no faster") {
  Pair pair;
  Instant now{};
  std::size_t most = 0;
  for (int round = 0; round < 50; ++round) {
    while (pair.source.endpoint.outflows().kept_bytes() < 200'000) REQUIRE(pair.send(kPiece).ok());
    // Whatever is on its way takes a millisecond per piece.
    std::vector<ToDaemon> outputs = pair.source.endpoint.take_outputs();
    most = std::max(most, outputs.size());
    now += 1ms * static_cast<int>(outputs.size());
    pair.sink.endpoint.on_time(now);
    for (ToDaemon& output : outputs) {
      if (auto* m = std::get_if<AppSend>(&output)) pair.deliver(pair.sink, std::move(m->message));
    }
    pair.take_all();
    pair.carry(pair.sink, pair.source);
  }
  CHECK(most <= 20);
}

TEST_CASE("a message longer than window and inbox arrives") {
  Pair pair;
  REQUIRE(pair.send(300'000).ok());

  pair.settle();
  const auto taken = pair.sink.endpoint.take({});

  REQUIRE(taken);
  CHECK(taken->second.payload.size() == 300'000);
}

TEST_CASE("send is refused at the limit, and goes on when the receiver has taken something") {
  Pair pair(/*outbox=*/10'000);
  while (pair.send(kPiece).ok()) {
  }
  CHECK(pair.source.endpoint.outflows().kept_bytes() == 10'000);
  const Status refused = pair.send(kPiece);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kLimit);
  CHECK(refused.error().what == "v1 has not taken 10 KiB from v0");

  pair.settle();
  pair.take_all();
  pair.settle();

  CHECK(pair.send(kPiece).ok());
  CHECK(pair.send(kPiece).ok());
}

TEST_CASE("whatever its size, a message is sent when nothing else waits") {
  Pair pair(/*outbox=*/10'000);
  CHECK(pair.send(50'000).ok());
  CHECK_FALSE(pair.send(1).ok());
}

TEST_CASE("a call that waits for tag B behind a window of tag A gets it") {
  Pair pair;
  for (int i = 0; i < 30; ++i) REQUIRE(pair.send(kPiece, /*tag=*/1).ok());
  REQUIRE(pair.send(kPiece, /*tag=*/2).ok());
  const Endpoint::Selector wanted{.at = v1, .tag = 2};

  int looks = 0;
  while (pair.sink.endpoint.count(wanted) == 0 && ++looks < 100) {
    REQUIRE(pair.sink.endpoint.want(wanted).ok());
    pair.settle();
  }

  CHECK(looks < 20);
  CHECK(pair.take_all(wanted) == 1);
  CHECK(pair.take_all() == 30);
}

TEST_CASE("a long message that is wanted comes piece by piece behind one that fills the window") {
  Pair pair(1'000'000, 3 * kInflows.unasked_bytes);
  REQUIRE(pair.send(2 * kInflows.unasked_bytes, /*tag=*/1).ok());
  REQUIRE(pair.send(30 * kInflows.unasked_bytes, /*tag=*/2).ok());
  const Endpoint::Selector wanted{.at = v1, .tag = 2};

  int looks = 0;
  while (pair.sink.endpoint.count(wanted) == 0 && ++looks < 100) {
    pair.settle();
    REQUIRE(pair.sink.endpoint.want(wanted).ok());
  }

  CHECK(pair.take_all(wanted) == 1);
  CHECK(pair.take_all() == 1);
}

TEST_CASE("a call that waits in vain fails when too much of something else waits") {
  Pair pair;
  for (int i = 0; i < 500; ++i) REQUIRE(pair.send(kPiece, /*tag=*/1).ok());
  const Endpoint::Selector wanted{.at = v1, .tag = 2};

  Status status = success();
  for (int i = 0; i < 500 && status.ok(); ++i) {
    pair.settle();
    status = pair.sink.endpoint.want(wanted);
  }

  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::kLimit);
  CHECK(pair.sink.endpoint.inbox_bytes() <= kInflows.inbox_bytes_max + kInflows.window_max);
}

TEST_CASE(
    "many sources into one receiver that does not take: its inbox stays bounded, nothing is lost") {
  constexpr std::size_t kSources = 60;
  InflowOptions small = kInflows;
  small.inbox_bytes = 20'000;
  Endpoint sink({.piece_bytes = kPiece, .inflows = small});
  sink.on_message(AppAttached{JobId{1}, ProcessorId{1}, 100, ""});
  sink.on_message(AppGrant{{{VnodeId{99}, 1, {}}}});
  static_cast<void>(sink.begin_safe_point(sink.due()));
  sink.finish_safe_point({});
  Outflows sources(kInflows.unasked_bytes);
  Outflows::Pieces flying;
  for (std::uint64_t v = 0; v < kSources; ++v) {
    for (int i = 0; i < 3; ++i) {
      sources.push({VnodeId{v}, VnodeId{99}, 0, 0, 0, bytes(kPiece)}, flying);
    }
  }
  std::uint64_t seq = 0;
  std::size_t taken = 0;
  const auto carry = [&] {
    for (PointToPoint& piece : std::exchange(flying, {})) {
      sink.on_message(AppDeliver{++seq, std::move(piece)});
    }
    for (const ToDaemon& output : sink.take_outputs()) {
      const auto* flow = std::get_if<AppFlow>(&output);
      if (flow != nullptr) sources.on_credit(std::get<FlowCredit>(flow->message), flying);
    }
  };

  carry();
  CHECK(sink.inbox_bytes() <= small.inbox_bytes + small.unasked_bytes);
  CHECK(sink.inbox_bytes() > small.inbox_bytes / 2);
  for (int round = 0; round < 500 && taken < 3 * kSources; ++round) {
    if (sink.take({})) ++taken;
    carry();
    CHECK(sink.inbox_bytes() <= small.inbox_bytes + small.unasked_bytes);
  }

  CHECK(taken == 3 * kSources);
}

TEST_CASE("what was lost with a processor is asked for, and only that comes again") {
  Pair pair;
  for (int i = 0; i < 4; ++i) REQUIRE(pair.send(kPiece).ok());
  auto outputs = pair.source.endpoint.take_outputs();
  REQUIRE(outputs.size() == 4);
  for (std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    pair.deliver(pair.sink, std::get<AppSend>(outputs[i]).message);  // the others are lost
  }

  pair.source.endpoint.on_message(AppRepair{});
  pair.settle();

  CHECK(pair.pieces == 2);
  CHECK(pair.talk == 3);  // the question; where it goes on; that all has come
  CHECK(pair.take_all() == 4);
}

TEST_CASE("at its limit a source asks for what it keeps now, also if that is as much as before") {
  Pair pair(1'500);
  for (int round = 0; round < 3; ++round) {
    CAPTURE(round);
    REQUIRE(pair.send(kPiece).ok());
    CHECK(!pair.send(kPiece).ok());
    CHECK(!pair.send(kPiece).ok());  // asks no more
    const std::size_t before = pair.talk;
    pair.settle();
    CHECK(pair.talk == before + 2);
  }
}

TEST_CASE("refused messages and contributions in turn ask once") {
  Pair pair(1'500);
  REQUIRE(pair.send(kPiece).ok());
  const ContributionPart part{{}, bytes(800), 0};
  for (int i = 0; i < 10; ++i) {
    CHECK(!pair.send(kPiece).ok());
    CHECK(!pair.source.endpoint.contribute(v0, VnodeId{3}, part).ok());
  }
  pair.carry(pair.source, pair.sink);

  CHECK(pair.talk == 1);
}

TEST_CASE("a source asks once, and hears at once, and once more when all has come") {
  Pair pair;
  for (int i = 0; i < 3; ++i) REQUIRE(pair.send(kPiece).ok());
  auto late = pair.source.endpoint.take_outputs();
  REQUIRE(late.size() == 3);
  pair.source.endpoint.close();
  pair.settle();  // the question has overtaken what it asks about
  CHECK(pair.talk == 2);
  CHECK(pair.source.endpoint.outflows().kept_bytes() == 3'000);

  for (const ToDaemon& output : late) {
    pair.deliver(pair.sink, std::get<AppSend>(output).message);
  }
  pair.settle();

  CHECK(pair.talk == 3);
  CHECK(pair.source.endpoint.outflows().kept_bytes() == 0);
}

TEST_CASE("credit that was lost is asked for") {
  Pair pair;
  for (int i = 0; i < 8; ++i) REQUIRE(pair.send(kPiece).ok());
  pair.carry(pair.source, pair.sink);
  CHECK(pair.take_all() == 4);
  static_cast<void>(pair.sink.endpoint.take_outputs());  // lost

  pair.source.endpoint.on_message(AppRepair{});
  pair.settle();

  CHECK(pair.take_all() == 4);
}

TEST_CASE("credit that was lost when nothing was kept is asked for by the source that is held up") {
  Pair pair;
  for (int i = 0; i < 4; ++i) REQUIRE(pair.send(kPiece).ok());
  pair.source.endpoint.on_message(AppRepair{});  // so that it hears that all has come
  pair.settle();
  CHECK(pair.source.endpoint.is_settled());
  CHECK(pair.take_all() == 4);
  static_cast<void>(pair.sink.endpoint.take_outputs());  // lost with a processor
  pair.source.endpoint.on_message(AppRepair{});

  for (int i = 0; i < 8; ++i) REQUIRE(pair.send(kPiece).ok());
  std::size_t taken = 0;
  for (int round = 0; round < 10; ++round) {
    pair.settle();
    taken += pair.take_all();
  }

  CHECK(taken == 8);
}

TEST_CASE(
    "a vnode that moves asks nobody, unless somebody has died meanwhile, or its program is done") {
  const auto release = [](Endpoint& endpoint) {
    endpoint.on_message(AppRelease{VnodeSet{v0}});
    static_cast<void>(endpoint.begin_safe_point(endpoint.due()));
    endpoint.finish_safe_point({{v0, bytes(1)}});
    for (ToDaemon& output : endpoint.take_outputs()) {
      CHECK(!std::holds_alternative<AppFlow>(output));  // not worth it
      CHECK(!std::holds_alternative<AppBroadcast>(output));
      if (auto* m = std::get_if<AppReleased>(&output)) return m->vnodes.front().second;
    }
    FAIL("not released");
    return VnodeBundle{};
  };
  const auto questions_after = [](const VnodeBundle& bundle, std::uint64_t line, bool is_closed) {
    Endpoint there({.piece_bytes = kPiece, .inflows = kInflows});
    there.on_message(AppAttached{JobId{1}, ProcessorId{2}, 4, "", line});
    if (is_closed) there.close();
    static_cast<void>(there.take_outputs());
    there.on_message(AppGrant{{{v0, 2, bundle}}});
    std::size_t count = 0;
    for (const ToDaemon& output : there.take_outputs()) {
      count += std::holds_alternative<AppFlow>(output) ? 1U : 0U;
      count += std::holds_alternative<AppBroadcast>(output) ? 1U : 0U;
    }
    return count;
  };
  Pair pair;
  pair.source.endpoint.on_message(AppRepair{3});
  REQUIRE(pair.send(kPiece).ok());
  REQUIRE(pair.source.endpoint.send(v0, v2, 0, bytes(kPiece)).ok());
  REQUIRE(pair.source.endpoint.broadcast(v0, 0, bytes(kPiece)).ok());
  static_cast<void>(pair.source.endpoint.take_outputs());
  const VnodeBundle bundle = release(pair.source.endpoint);

  CHECK(questions_after(bundle, 3, false) == 0);
  CHECK(questions_after(bundle, 4, false) == 3);  // a death that it has not asked about
  CHECK(questions_after(bundle, 2, false) == 3);  // one that is not known there
  CHECK(questions_after(bundle, 3, true) == 3);
}

TEST_CASE("who waits for room asks a receiver again when half of what is kept for it is new") {
  Outflows flows(1'000'000);
  Outflows::Pieces out;
  constexpr std::uint64_t kReceivers = 50;
  const auto push = [&](std::uint64_t to) {
    flows.push({v0, VnodeId{to}, 0, 0, 0, bytes(1)}, out);
  };
  const auto asked = [&] {
    std::vector<FlowQuestion> questions;
    flows.ask(VnodeSet{v0}, {.once = true}, questions);
    return questions.size();
  };
  for (std::uint64_t to = 1; to <= kReceivers; ++to) {
    for (int i = 0; i < 10; ++i) push(to);
  }

  CHECK(asked() == kReceivers);
  CHECK(asked() == 0);
  std::size_t questions = 0;
  for (int i = 0; i < 1'000; ++i) {
    push(7);  // it does not answer
    questions += asked();
  }
  CHECK(questions <= 8);  // 1,000 are 7 doublings of 10
  push(8);
  CHECK(asked() == 0);
  flows.on_credit({v0, VnodeId{8}, 11, 0, {}, 0}, out);
  push(8);
  CHECK(asked() == 1);
}

TEST_CASE("old and repeated credit does no harm") {
  Outflows flows(1'000);
  Outflows::Pieces out;
  for (int i = 0; i < 10; ++i) flows.push({v0, v1, 0, 0, 0, bytes(kPiece)}, out);
  CHECK(out.size() == 1);
  flows.on_credit({v0, v1, 1, 5'000, {}}, out);
  CHECK(out.size() == 5);

  flows.on_credit({v0, v1, 0, 2'000, {}}, out);
  flows.on_credit({v0, v1, 1, 5'000, {}}, out);
  flows.on_credit({v0, v1, 100, 0, {}}, out);  // more than was ever sent: as much as was
  flows.on_credit({v2, v1, 1, 5'000, {}}, out);
  flows.on_credit({v0, v3, kFlowClosed, 5'000, {}}, out);

  CHECK(out.size() == 5);
  CHECK(flows.kept_bytes() == 5'000);
  flows.check_invariants();
}

TEST_CASE("a program that has ended takes nothing: its sources forget what they kept for it") {
  Pair pair;
  for (int i = 0; i < 20; ++i) REQUIRE(pair.send(kPiece).ok());
  pair.settle();
  CHECK_FALSE(pair.source.endpoint.is_settled());

  pair.sink.endpoint.close();
  pair.settle();

  CHECK(pair.source.endpoint.is_settled());
  CHECK(pair.send(kPiece).ok());
  CHECK(pair.source.endpoint.is_settled());
}

TEST_CASE("a source that ends waits for its last messages, however few they are") {
  Pair pair;
  REQUIRE(pair.send(10).ok());
  pair.settle();
  CHECK_FALSE(pair.source.endpoint.is_settled());  // nobody has said yet that it came

  pair.source.endpoint.close();
  pair.settle();

  CHECK(pair.source.endpoint.is_settled());
  CHECK(pair.take_all() == 1);
}

TEST_SUITE_END();

}  // namespace
}  // namespace phx::runtime::flows_test
