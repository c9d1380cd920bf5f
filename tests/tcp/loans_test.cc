#include "runtime/tcp/loans.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/endpoint/endpoint.h"
#include "runtime/wire/codec.h"

namespace phx::tcp::loans_test {
namespace {

using wire::Family;

/// A socket pair: both ends of it belong to this process, so each can open what the other offers.
struct Ends {
  Ends() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0); }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    for (const int socket : sockets) ::close(socket);
  }
  std::array<int, 2> sockets{};
};

/// What the receiver makes of the bytes of one frame.
struct Arrived {
  bool is_control = false;
  bool is_reference = false;
  Payload payload;
};

Arrived pass(const wire::Encoded& encoded, Family family) {
  wire::FrameReader reader(family, {.references = true});
  Bytes all = encoded.head;
  for (const Payload& part : encoded.tail) {
    all.insert(all.end(), part.bytes().begin(), part.bytes().end());
  }
  std::span<const std::byte> rest = all;
  REQUIRE(reader.consume(rest).ok());
  REQUIRE(reader.is_complete());
  return {reader.header().empty(), reader.is_reference(), reader.take_payload()};
}

/// The application's end and the daemon's, with the frames of Loans passed between them by hand.
struct Pair {
  Pair()
      : app(Family::kToDaemon, ends.sockets[0]), daemon(Family::kToApplication, ends.sockets[1]) {}

  /// A message of `size` bytes as it leaves the application.
  wire::Encoded message(std::size_t size, std::byte fill = std::byte{'m'}) {
    wire::Encoder encoder;
    auto encoded = encoder.encode(runtime::ToDaemon(
        runtime::AppSend{{VnodeId{1}, VnodeId{2}, 0, 0, 0, Payload(Bytes(size, fill))}}));
    app.apply(encoded);
    return encoded;
  }
  /// The offer of the application's pool, and the daemon's answer.
  void agree() {
    static_cast<void>(message(Loans::kLongBytes));
    const auto offer = app.take_controls();
    REQUIRE(offer.size() == 1);
    REQUIRE(daemon.on_control(pass(offer[0], Family::kToDaemon).payload).ok());
    const auto answer = daemon.take_controls();
    REQUIRE(answer.size() == 1);
    REQUIRE(app.on_control(pass(answer[0], Family::kToApplication).payload).ok());
  }
  /// The payload of `encoded` as the daemon gets it.
  Payload resolved(const wire::Encoded& encoded) {
    const Arrived arrived = pass(encoded, Family::kToDaemon);
    if (!arrived.is_reference) return arrived.payload;
    auto payload = daemon.resolve(arrived.payload);
    REQUIRE(payload.ok());
    return std::move(payload).value();
  }

  Ends ends;
  Loans app;
  Loans daemon;
};

Payload reference_of(const wire::Encoded& encoded) {
  return encoded.tail.at(0);
}

}  // namespace

TEST_SUITE_BEGIN("tcp/loans");

TEST_CASE("long payloads are lent once both ends have agreed, short ones never") {
  Pair pair;
  CHECK_FALSE(pass(pair.message(Loans::kLongBytes), Family::kToDaemon).is_reference);

  pair.agree();

  const auto lent = pair.message(100'000, std::byte{7});
  CHECK(pass(lent, Family::kToDaemon).is_reference);
  CHECK(lent.size() < 200);
  CHECK(pair.resolved(lent) == Payload(Bytes(100'000, std::byte{7})));
  CHECK_FALSE(pass(pair.message(Loans::kLongBytes - 1), Family::kToDaemon).is_reference);
  CHECK_FALSE(pass(pair.message(SharedMapping::kBlockBytes + 1), Family::kToDaemon).is_reference);
}

TEST_CASE("when all blocks are lent the bytes go through the socket, until one comes back") {
  Pair pair;
  pair.agree();
  std::vector<Payload> held;
  for (std::size_t i = 0; i < SharedMapping::kBlocks; ++i) {
    const auto lent = pair.message(Loans::kLongBytes, static_cast<std::byte>(i));
    REQUIRE(pass(lent, Family::kToDaemon).is_reference);
    held.push_back(pair.resolved(lent));
  }

  const auto inline_one = pair.message(Loans::kLongBytes, std::byte{99});
  CHECK_FALSE(pass(inline_one, Family::kToDaemon).is_reference);
  CHECK(pair.app.is_worth_waiting(inline_one));
  CHECK(pair.resolved(inline_one) == Payload(Bytes(Loans::kLongBytes, std::byte{99})));
  CHECK(held[5] == Payload(Bytes(Loans::kLongBytes, std::byte{5})));

  held.erase(held.begin() + 5);
  CHECK_FALSE(pair.app.is_worth_waiting(inline_one));
  CHECK(pass(pair.message(Loans::kLongBytes), Family::kToDaemon).is_reference);
  CHECK(held[5] == Payload(Bytes(Loans::kLongBytes, std::byte{6})));
}

TEST_CASE("what lies in the pool already is lent where it lies, and stays while it is on loan") {
  Pair pair;
  pair.agree();
  auto block = pair.app.pool()->take();
  std::fill_n(block.get(), 40'000, std::byte{3});
  std::optional<Payload> mine(std::in_place, block,
                              std::span<const std::byte>(block.get(), 40'000));
  const std::byte* place = block.get();
  block.reset();
  wire::Encoder encoder;
  auto encoded =
      encoder.encode(runtime::ToDaemon(runtime::AppSend{{VnodeId{1}, VnodeId{2}, 0, 0, 0, *mine}}));

  pair.app.apply(encoded);
  encoded.tail.push_back({});  // the encoding itself does not hold on to the block
  encoded.tail.pop_back();
  mine.reset();
  std::optional<Payload> lent = pair.resolved(encoded);

  CHECK(*lent == Payload(Bytes(40'000, std::byte{3})));
  CHECK(pair.app.pool()->take().get() != place);
  lent.reset();
  CHECK(pair.app.pool()->take().get() == place);
}

TEST_CASE("references that nobody has given are refused") {
  Pair pair;
  Pair other;
  pair.agree();
  const auto lent = pair.message(Loans::kLongBytes);

  CHECK(other.daemon.resolve(reference_of(lent)).error().code == ErrorCode::kBadInput);
  CHECK(pair.daemon.resolve(Payload(Bytes(3))).error().code == ErrorCode::kBadInput);
  CHECK(pair.daemon.on_control(Payload(Bytes(24))).error().code == ErrorCode::kBadInput);
  CHECK(pair.daemon.on_control(reference_of(lent)).error().code == ErrorCode::kBadInput);
  Bytes beyond(reference_of(lent).bytes().begin(), reference_of(lent).bytes().end());
  for (std::size_t i = 4; i < 12; ++i) beyond[i] = std::byte{0x7f};  // size and offset
  CHECK(pair.daemon.resolve(Payload(beyond)).error().code == ErrorCode::kBadInput);
}

TEST_CASE("an offer that cannot be opened is not answered, and the link goes on without") {
  Pair pair;
  static_cast<void>(pair.message(Loans::kLongBytes));
  auto offer = pair.app.take_controls();
  Bytes bytes(reference_of(offer[0]).bytes().begin(), reference_of(offer[0]).bytes().end());
  bytes[16] = std::byte{0};  // the descriptor: standard input is no pool

  CHECK(pair.daemon.on_control(Payload(bytes)).ok());

  CHECK(pair.daemon.take_controls().empty());
  CHECK_FALSE(pass(pair.message(Loans::kLongBytes), Family::kToDaemon).is_reference);
}

TEST_CASE("an offer of somebody unknown is not answered either") {
  Pair pair;
  static_cast<void>(pair.message(Loans::kLongBytes));
  const auto offer = pair.app.take_controls();
  Loans stranger(Family::kToApplication, -1);  // as if of another namespace: no process id

  CHECK(stranger.on_control(reference_of(offer.at(0))).ok());

  CHECK(stranger.take_controls().empty());
}

TEST_CASE("a child that inherits what was lent does not give it back") {
  Pair pair;
  pair.agree();
  std::optional<Payload> lent = pair.resolved(pair.message(Loans::kLongBytes, std::byte{4}));
  const pid_t child = ::fork();
  if (child == 0) {
    lent.reset();
    ::_exit(0);
  }
  REQUIRE(::waitpid(child, nullptr, 0) == child);

  std::vector<std::shared_ptr<std::byte[]>> taken;
  while (auto block = pair.app.pool()->take()) taken.push_back(std::move(block));

  CHECK(taken.size() == SharedMapping::kBlocks - 1);
  CHECK(*lent == Payload(Bytes(Loans::kLongBytes, std::byte{4})));
}

TEST_CASE("one piece of a long message fits into a block") {
  CHECK(runtime::EndpointConfig().piece_bytes <= SharedMapping::kBlockBytes);
  CHECK(runtime::EndpointConfig().piece_bytes >= Loans::kLongBytes);
}

TEST_CASE("a pool outlives its owner's interest while something of it is on loan") {
  std::optional<Payload> lent;
  {
    Pair inner;
    inner.agree();
    lent = inner.resolved(inner.message(Loans::kLongBytes, std::byte{8}));
  }

  CHECK(*lent == Payload(Bytes(Loans::kLongBytes, std::byte{8})));
}

TEST_SUITE_END();

}  // namespace phx::tcp::loans_test
