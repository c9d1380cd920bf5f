#include "runtime/tcp/ring.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "overlay/base/payload.h"
#include "overlay/base/rng.h"
#include "tests/tcp/interleavings.h"

namespace phx::tcp::ring_test {
namespace {

constexpr std::size_t kRoom = 64;

/// Both sides of a ring within this process.
struct Both {
  RingLines lines{};
  std::array<std::byte, kRoom> room{};
  RingWriter writer{lines, room};
  RingReader reader{lines, room};

  /// All that is there, at once.
  Bytes read() {
    Bytes all;
    while (true) {
      const auto bytes = reader.peek();
      REQUIRE(bytes.ok());
      if (bytes.value().empty()) return all;
      all.insert(all.end(), bytes.value().begin(), bytes.value().end());
      static_cast<void>(reader.take(bytes.value().size()));
    }
  }
};

Bytes numbered(std::size_t size, std::size_t from = 0) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(from + i);
  return bytes;
}

}  // namespace

TEST_SUITE_BEGIN("tcp/ring");

TEST_CASE("whatever sizes go in, the same bytes come out, around the end of the ring") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CAPTURE(seed);
    Rng rng(seed);
    Both both;
    Bytes in;
    Bytes out;
    while (in.size() < 20 * kRoom) {
      const Bytes piece = numbered(rng.below(2 * kRoom), in.size());
      const auto written = both.writer.put(piece);
      REQUIRE(written.ok());
      in.insert(in.end(), piece.begin(),
                piece.begin() + static_cast<std::ptrdiff_t>(written.value()));
      static_cast<void>(both.writer.show());
      if (rng.chance(0.6)) {
        const Bytes some = both.read();
        out.insert(out.end(), some.begin(), some.end());
      }
    }
    const Bytes rest = both.read();
    out.insert(out.end(), rest.begin(), rest.end());

    CHECK(in == out);
  }
}

TEST_CASE("a full ring takes nothing, and what is not shown is not seen") {
  Both both;
  CHECK(both.writer.put(numbered(kRoom + 9)).value() == kRoom);
  CHECK(both.writer.put(numbered(1)).value() == 0);
  CHECK(both.reader.peek().value().empty());

  static_cast<void>(both.writer.show());

  CHECK(both.reader.peek().value().size() == kRoom / 4);
  CHECK(both.read() == numbered(kRoom));
  CHECK(both.writer.has_room(kRoom).value() == kRoom);
}

TEST_CASE("only who has said that he sleeps is woken, and once") {
  Both both;
  CHECK(both.writer.put(numbered(1)).ok());
  CHECK_FALSE(both.writer.show());
  CHECK_FALSE(both.reader.may_sleep());
  CHECK(both.read().size() == 1);

  CHECK(both.reader.may_sleep());
  CHECK(both.writer.put(numbered(1)).ok());
  CHECK(both.writer.show());
  CHECK(both.writer.put(numbered(1)).ok());
  CHECK_FALSE(both.writer.show());

  CHECK(both.writer.put(numbered(kRoom)).value() == kRoom - 2);
  CHECK_FALSE(both.writer.show());
  CHECK(both.writer.may_sleep());
  CHECK(both.reader.take(both.reader.peek().value().size()));
  CHECK_FALSE(both.reader.take(both.reader.peek().value().size()));
  CHECK_FALSE(both.writer.may_sleep());
}

TEST_CASE("counts that cannot be are refused, whatever they are") {
  for (const std::uint64_t lie : {std::uint64_t{kRoom + 1}, ~std::uint64_t{0}, std::uint64_t{2},
                                  std::uint64_t{1} << 63U, std::uint64_t{10} + kRoom + 1}) {
    CAPTURE(lie);
    Both both;
    CHECK(both.writer.put(numbered(10)).ok());
    static_cast<void>(both.writer.show());
    CHECK(both.read().size() == 10);
    both.lines.written = lie == kRoom + 1 ? lie + 10 : lie;
    CHECK(both.reader.peek().error().code == ErrorCode::kBadInput);
  }
  for (const std::uint64_t lie : {std::uint64_t{11}, ~std::uint64_t{0}, std::uint64_t{1} << 63U}) {
    CAPTURE(lie);
    Both both;
    CHECK(both.writer.put(numbered(10)).ok());
    static_cast<void>(both.writer.show());
    both.lines.taken = lie;
    CHECK(both.writer.put(numbered(kRoom)).error().code == ErrorCode::kBadInput);
  }
}

TEST_CASE("a count that goes back is refused") {
  Both both;
  CHECK(both.writer.put(numbered(kRoom)).ok());
  static_cast<void>(both.writer.show());
  CHECK(both.read().size() == kRoom);
  CHECK(both.writer.put(numbered(kRoom)).ok());  // has seen that all was taken
  both.lines.taken = kRoom - 1;

  CHECK(both.writer.put(numbered(1)).error().code == ErrorCode::kBadInput);
}

namespace {

/// A count or a flag whose every use is a step of its own.
struct SteppedWord {
  test::Interleaving& at;
  std::uint64_t value = 0;

  std::uint64_t load(std::memory_order) const {
    at.step();
    return value;
  }
  void store(std::uint64_t now, std::memory_order) {
    at.step();
    value = now;
  }
  std::uint64_t exchange(std::uint64_t now, std::memory_order) {
    at.step();
    return std::exchange(value, now);
  }
};

/// One side puts `count` things into a ring that holds `room`, the other takes them; both sleep
/// when they can do nothing else.
bool passes_all(test::Interleaving& at, std::uint64_t count, std::uint64_t room) {
  SteppedWord written{at};
  SteppedWord taken{at};
  SteppedWord reader_sleeps{at};
  SteppedWord writer_sleeps{at};
  bool reader_bell = false;
  bool writer_bell = false;
  const auto order = std::memory_order_seq_cst;
  const auto write = [&] {
    for (std::uint64_t put = 0; put < count;) {
      if (put - taken.load(order) < room) {
        if (set_and_see(written, ++put, reader_sleeps)) reader_bell = true;
      } else if (may_sleep(taken, put - room, writer_sleeps)) {
        at.wait_for(writer_bell);
      }
    }
  };
  const auto read = [&] {
    for (std::uint64_t got = 0; got < count;) {
      if (written.load(order) != got) {
        if (set_and_see(taken, ++got, writer_sleeps)) writer_bell = true;
      } else if (may_sleep(written, got, reader_sleeps)) {
        at.wait_for(reader_bell);
      }
    }
  };
  return at.run(write, read);
}

}  // namespace

TEST_CASE("no order of the steps of both sides loses a bell") {
  constexpr std::size_t kEvery = 100;
  const std::size_t all_of_one = test::for_each_interleaving(
      [](test::Interleaving& at) { REQUIRE(passes_all(at, 1, 1)); }, kEvery);
  // Each sleeps for the other in turn; every order would take too long.
  constexpr std::size_t kSome = 3;
  const std::size_t some_of_more = test::for_each_interleaving(
      [](test::Interleaving& at) { REQUIRE(passes_all(at, 2, 1)); }, kSome);

  CHECK(all_of_one > 50);
  CHECK(some_of_more > 50);
}

TEST_CASE("the orders tried do find a bell that is lost") {
  std::size_t lost = 0;
  constexpr std::size_t kEvery = 100;
  const auto forgetful = [&](test::Interleaving& at) {
    SteppedWord written{at};
    SteppedWord sleeps{at};
    bool bell = false;
    const bool is_over = at.run(
        [&] {
          if (set_and_see(written, 1, sleeps)) bell = true;
        },
        [&] {
          if (written.load(std::memory_order_seq_cst) != 0) return;
          sleeps.store(1, std::memory_order_seq_cst);  // and does not look again
          at.wait_for(bell);
        });
    if (!is_over) ++lost;
  };
  CHECK(test::for_each_interleaving(forgetful, kEvery) >= 5);
  CHECK(lost > 0);
}

TEST_CASE("two threads pass bytes through a small ring, and neither sleeps for ever") {
  constexpr std::size_t kBytes = 200'000;
  Both both;
  std::binary_semaphore reader_bell(0);
  std::binary_semaphore writer_bell(0);
  std::thread writer([&] {
    std::size_t sent = 0;
    while (sent < kBytes) {
      const Bytes piece = numbered(std::min<std::size_t>(1 + sent % 90, kBytes - sent), sent);
      const std::size_t written = both.writer.put(piece).value();
      sent += written;
      if (both.writer.show()) reader_bell.release();
      if (written < piece.size() && both.writer.may_sleep()) writer_bell.acquire();
    }
  });
  std::size_t got = 0;
  bool is_equal = true;
  while (got < kBytes) {
    const auto bytes = both.reader.peek().value();
    if (bytes.empty() && both.reader.may_sleep()) reader_bell.acquire();
    for (const std::byte byte : bytes) is_equal = is_equal && byte == static_cast<std::byte>(got++);
    if (!bytes.empty() && both.reader.take(bytes.size())) writer_bell.release();
  }
  writer.join();

  CHECK(is_equal);
}

TEST_SUITE_END();

}  // namespace phx::tcp::ring_test
