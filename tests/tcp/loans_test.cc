#include "runtime/tcp/loans.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>
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
      : app(Family::kToDaemon, pools[0], ends.sockets[0]),
        daemon(Family::kToApplication, pools[1], ends.sockets[1]) {}

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
  std::array<SharedPools, 2> pools;
  Loans app;
  Loans daemon;
};

Payload reference_of(const wire::Encoded& encoded) {
  return encoded.tail.at(0);
}

/// A link over which a daemon lends what it has, and a third process behind it.
struct Chain {
  explicit Chain(SharedPools& pools)
      : onward(Family::kFrame, pools, -1), third(Family::kFrame, third_pools, -1) {}

  /// As it leaves; whether it was lent.
  std::pair<wire::Encoded, bool> send(const Payload& payload) {
    wire::Encoder encoder;
    auto encoded = encoder.encode(runtime::ToApplication(
        runtime::AppDeliver{1, runtime::PointToPoint{VnodeId{1}, VnodeId{2}, 0, 0, 0, payload}}));
    const bool is_lent = onward.apply(encoded);
    return {std::move(encoded), is_lent};
  }
  /// Passes on what both have to say.
  void agree() {
    for (int i = 0; i < 3; ++i) {
      for (const auto& control : onward.take_controls()) {
        REQUIRE(third.on_control(reference_of(control)).ok());
      }
      for (const auto& control : third.take_controls()) {
        REQUIRE(onward.on_control(reference_of(control)).ok());
      }
    }
  }

  SharedPools third_pools;
  Loans onward;
  Loans third;
};

/// Another process, which has a pool and lives until it is told to die.
struct Owner {
  Owner() {
    std::array<int, 2> said{};
    std::array<int, 2> over{};
    REQUIRE(::pipe(said.data()) == 0);
    REQUIRE(::pipe(over.data()) == 0);
    process = ::fork();
    if (process == 0) {
      ::close(over[1]);
      const auto pool = BlockPool::create();
      descriptor = pool->descriptor();
      token = pool->mapping().token();
      bool is_told = ::write(said[1], &descriptor, sizeof(descriptor)) > 0;
      is_told = is_told && ::write(said[1], &token, sizeof(token)) > 0;
      ::_exit(is_told && ::read(over[0], &token, 1) == 0 ? 0 : 1);
    }
    REQUIRE(::read(said[0], &descriptor, sizeof(descriptor)) == sizeof(descriptor));
    REQUIRE(::read(said[0], &token, sizeof(token)) == sizeof(token));
    for (const int end : {said[0], said[1], over[0]}) ::close(end);
    life = over[1];
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (life >= 0) die();
  }
  void die() {
    ::close(std::exchange(life, -1));
    int status = -1;
    REQUIRE(::waitpid(process, &status, 0) == process);
    CHECK(status == 0);
  }

  pid_t process = 0;
  int descriptor = -1;
  std::uint64_t token = 0;
  int life = -1;
};

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

TEST_CASE("when a borrower has its share the bytes go through the socket, until one comes back") {
  Pair pair;
  pair.agree();
  std::vector<Payload> held;
  for (std::size_t i = 0; i < SharedMapping::kShare; ++i) {
    const auto lent = pair.message(Loans::kLongBytes, static_cast<std::byte>(i));
    REQUIRE(pass(lent, Family::kToDaemon).is_reference);
    held.push_back(pair.resolved(lent));
  }

  const auto inline_one = pair.message(Loans::kLongBytes, std::byte{99});
  CHECK_FALSE(pass(inline_one, Family::kToDaemon).is_reference);
  CHECK(pair.app.is_worth_waiting(inline_one));
  CHECK(pair.resolved(inline_one) == Payload(Bytes(Loans::kLongBytes, std::byte{99})));
  CHECK(held[5] == Payload(Bytes(Loans::kLongBytes, std::byte{5})));
  CHECK(pair.app.pool()->take() != nullptr);  // others find room

  held.erase(held.begin() + 5);
  CHECK(pass(pair.message(Loans::kLongBytes), Family::kToDaemon).is_reference);
  CHECK(held[5] == Payload(Bytes(Loans::kLongBytes, std::byte{6})));
}

TEST_CASE("when all blocks are in use the bytes go through the socket, until one comes back") {
  Pair pair;
  pair.agree();
  std::vector<std::shared_ptr<std::byte[]>> taken;
  while (auto block = pair.app.pool()->take()) taken.push_back(std::move(block));
  REQUIRE(taken.size() == SharedMapping::kBlocks);

  const auto inline_one = pair.message(Loans::kLongBytes, std::byte{99});
  CHECK_FALSE(pass(inline_one, Family::kToDaemon).is_reference);
  CHECK(pair.app.is_worth_waiting(inline_one));

  taken.pop_back();
  CHECK_FALSE(pair.app.is_worth_waiting(inline_one));
  CHECK(pass(pair.message(Loans::kLongBytes), Family::kToDaemon).is_reference);
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
  CHECK(pair.daemon.on_control(Payload(Bytes(40))).error().code == ErrorCode::kBadInput);
  CHECK(pair.daemon.on_control(reference_of(lent)).error().code == ErrorCode::kBadInput);
  Bytes beyond(reference_of(lent).bytes().begin(), reference_of(lent).bytes().end());
  for (std::size_t i = 12; i < 20; ++i) beyond[i] = std::byte{0x7f};  // offset and size
  CHECK(pair.daemon.resolve(Payload(beyond)).error().code == ErrorCode::kBadInput);
}

TEST_CASE("an offer that cannot be opened is refused, and not made again") {
  constexpr std::size_t kProcessAt = 24;
  constexpr std::size_t kDescriptorAt = 28;
  constexpr std::size_t kTokenAt = 32;
  for (const std::size_t wrong : {kProcessAt, kDescriptorAt, kTokenAt}) {
    Pair pair;
    static_cast<void>(pair.message(Loans::kLongBytes));
    auto offer = pair.app.take_controls();
    Bytes bytes(reference_of(offer[0]).bytes().begin(), reference_of(offer[0]).bytes().end());
    bytes[wrong] ^= std::byte{0x3f};

    CHECK(pair.daemon.on_control(Payload(bytes)).ok());
    const auto answer = pair.daemon.take_controls();
    REQUIRE(answer.size() == 1);
    CHECK(pair.app.on_control(reference_of(answer[0])).ok());

    const auto next = pair.message(Loans::kLongBytes);
    CHECK_FALSE(pass(next, Family::kToDaemon).is_reference);
    CHECK_FALSE(pair.app.is_worth_waiting(next));
    CHECK(pair.app.take_controls().empty());
  }
}

TEST_CASE("between machines nothing is offered, lent or accepted") {
  Pair pair;
  pair.app.disable();
  static_cast<void>(pair.message(Loans::kLongBytes));
  CHECK(pair.app.take_controls().empty());
  Pair other;
  other.daemon.disable();
  static_cast<void>(other.message(Loans::kLongBytes));
  const auto offer = other.app.take_controls();
  CHECK(other.daemon.on_control(reference_of(offer.at(0))).ok());
  CHECK(other.app.on_control(reference_of(other.daemon.take_controls().at(0))).ok());
  CHECK_FALSE(pass(other.message(Loans::kLongBytes), Family::kToDaemon).is_reference);
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

TEST_CASE("what was lent is lent on where it lies, to somebody who does not know its owner") {
  Pair pair;
  pair.agree();
  std::optional<Payload> lent = pair.resolved(pair.message(100'000, std::byte{5}));
  Chain chain(pair.pools[1]);
  CHECK(reference_of(chain.send(*lent).first).size() == 100'000);
  chain.agree();

  std::optional<Payload> there = chain.third.resolve(reference_of(chain.send(*lent).first)).value();

  CHECK(pair.pools[1].made() == nullptr);  // nothing was copied
  CHECK(*there == *lent);
  CHECK_FALSE(pair.app.pool()->mapping().find(*there).has_value());  // another mapping, ...
  lent.reset();
  CHECK(pair.app.pool()->mapping().is_lent(0));  // ... the same block
  CHECK(*there == Payload(Bytes(100'000, std::byte{5})));
  there.reset();
  CHECK_FALSE(pair.app.pool()->mapping().is_lent(0));
}

TEST_CASE("what was lent to a process that has died comes back when it is needed") {
  const auto pool = BlockPool::create();
  REQUIRE(pool != nullptr);
  const pid_t owner = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto borrowed = BorrowedBlocks::open(owner, pool->descriptor(), pool->mapping().token());
    if (!borrowed) ::_exit(1);
    for (std::uint32_t i = 0; i < SharedMapping::kShare; ++i) {
      if (!borrowed->mapping().lend(i, borrowed->borrower())) ::_exit(2);
    }
    ::_exit(borrowed->mapping().lend(0, borrowed->borrower()) ? 3 : 0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(pool->mapping().is_lent(0));

  std::vector<std::shared_ptr<std::byte[]>> taken;
  while (auto block = pool->take()) taken.push_back(std::move(block));

  CHECK(taken.size() == SharedMapping::kBlocks);
}

TEST_CASE("what is lent on and given back at once is never taken for free") {
  const auto pool = BlockPool::create();
  REQUIRE(pool != nullptr);
  SharedMapping& mapping = pool->mapping();
  for (std::size_t i = 0; i < SharedMapping::kBorrowers; ++i) REQUIRE(mapping.enroll(::getpid()));
  // Those that are looked at first and last.
  const std::array<std::uint32_t, 2> borrowers{SharedMapping::kBorrowers - 1, 0};
  REQUIRE(mapping.lend(0, borrowers[0]));
  std::atomic<bool> is_over = false;
  std::thread passing([&] {
    for (std::size_t i = 0; !is_over; ++i) {
      static_cast<void>(mapping.lend(0, borrowers[(i + 1) % 2]));
      mapping.give_back(0, borrowers[i % 2]);
    }
  });
  constexpr int kLooks = 200'000;
  int seen = 0;
  for (int i = 0; i < kLooks; ++i) seen += mapping.is_lent(0) ? 1 : 0;
  is_over = true;
  passing.join();
  CHECK(seen == kLooks);
}

TEST_CASE("who leaves takes nothing along: what had not reached it, or comes late, is free again") {
  const auto pool = BlockPool::create();
  REQUIRE(pool != nullptr);
  SharedMapping& mapping = pool->mapping();
  const auto borrower = mapping.enroll(::getpid()).value();
  for (std::uint32_t i = 0; i < SharedMapping::kShare; ++i) REQUIRE(mapping.lend(i, borrower));
  CHECK_FALSE(mapping.may_borrow(borrower));
  mapping.leave(borrower);
  CHECK_FALSE(mapping.is_lent(0));
  CHECK_FALSE(mapping.lend(0, borrower));
  CHECK(mapping.enroll(::getpid()) == borrower);
  CHECK(mapping.may_borrow(borrower));
}

TEST_CASE("borrowers that have died make room for others") {
  const auto pool = BlockPool::create();
  REQUIRE(pool != nullptr);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  for (std::size_t i = 0; i < SharedMapping::kBorrowers; ++i) {
    REQUIRE(pool->mapping().enroll(child));
  }
  CHECK(pool->mapping().enroll(::getpid()) == 0);
}

TEST_CASE("a pool that its owner needs no more is let go, too") {
  SharedPools pools;
  auto pool = BlockPool::create();
  REQUIRE(pool != nullptr);
  const auto borrowed = pools.borrow(::getpid(), pool->descriptor(), pool->mapping().token());
  REQUIRE(borrowed != nullptr);
  CHECK_FALSE(borrowed->mapping().is_orphaned());
  pool.reset();
  CHECK(borrowed->mapping().is_orphaned());
}

TEST_CASE("the pool of a process that has died is let go, and its number means another one then") {
  Pair pair;
  pair.agree();
  Owner owner;
  const auto borrowed = pair.pools[1].borrow(owner.process, owner.descriptor, owner.token);
  REQUIRE(borrowed != nullptr);
  REQUIRE(borrowed->mapping().lend(3, borrowed->borrower()));
  const Payload old = borrowed->take({3, 0}, Loans::kLongBytes).value();
  Chain chain(pair.pools[1]);
  CHECK_FALSE(chain.send(old).second);
  chain.agree();
  const auto [late, is_lent] = chain.send(old);
  CHECK(is_lent);
  chain.third.forget_the_dead();
  CHECK(chain.third.take_controls().empty());  // it lives

  owner.die();
  chain.third.forget_the_dead();
  CHECK(chain.third.resolve(reference_of(late)).ok());  // what was sent before is there
  chain.agree();

  CHECK(chain.third.resolve(reference_of(late)).error().code == ErrorCode::kBadInput);
  const Payload fresh = pair.resolved(pair.message(100'000, std::byte{9}));
  CHECK_FALSE(chain.send(fresh).second);
  const auto offers = chain.onward.take_controls();
  REQUIRE(offers.size() == 1);
  CHECK(reference_of(offers[0]).bytes()[4] == std::byte{0});  // the number that has become free
}

TEST_CASE("free memory of a pool goes back to the system") {
  const auto pool = BlockPool::create();
  REQUIRE(pool != nullptr);
  const auto resident = [&] {
    struct stat status {};
    REQUIRE(::fstat(pool->descriptor(), &status) == 0);
    return status.st_blocks * 512;
  };
  auto kept = pool->take();
  std::fill_n(kept.get(), SharedMapping::kBlockBytes, std::byte{1});
  {
    const auto block = pool->take();
    std::fill_n(block.get(), SharedMapping::kBlockBytes, std::byte{2});
  }
  const auto before = resident();

  pool->give_memory_back();

  CHECK(before - resident() > static_cast<long>(SharedMapping::kBlockBytes / 2));
  CHECK(kept[SharedMapping::kBlockBytes - 1] == std::byte{1});
}

TEST_CASE("one piece of a long message fits into a block") {
  CHECK(runtime::EndpointConfig::kLentPiece <= SharedMapping::kBlockBytes);
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
