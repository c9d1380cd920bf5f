#include "runtime/tcp/connection.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/write.hpp>
#include <optional>
#include <string>
#include <vector>

#include "overlay/base/rng.h"
#include "tests/tcp/loop.h"

namespace phx::tcp::connection_test {
namespace {

Payload payload_of(std::size_t size, std::uint64_t seed) {
  Rng rng(seed);
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
  return Payload(std::move(bytes));
}

/// A frame whose header is the text of `number`; the codec is not this test's business.
wire::Encoded frame(std::uint64_t number, const Payload& payload) {
  const std::string header = std::to_string(number);
  const auto bytes = std::as_bytes(std::span(header));
  wire::Encoded encoded;
  encoded.head.resize(wire::kPrefixBytes);
  wire::write_prefix({.family = wire::Family::kFrame,
                      .version = wire::kWireVersion,
                      .header_size = static_cast<std::uint32_t>(header.size()),
                      .payload_size = static_cast<std::uint32_t>(payload.size()),
                      .header_check = wire::check_of(bytes)},
                     encoded.head);
  encoded.head.insert(encoded.head.end(), bytes.begin(), bytes.end());
  if (!payload.empty()) encoded.tail.push_back(payload);
  return encoded;
}

struct Received {
  std::string header;
  Payload payload;
};

/// One connection and what it reported.
struct End {
  template <class Socket>
  End(test::Loop& loop, Socket socket, ReadBuffer& buffer, PayloadWays ways = {}) {
    connection = std::make_shared<Connection>(
        loop.inner, descriptor_of(std::move(socket)), wire::Family::kFrame, buffer,
        Connection::Handlers{
            .on_frame = [this](std::span<const std::byte> header, Payload payload) -> Status {
              received.push_back({std::string(Payload::copy_of(header).text()), payload});
              if (refuses) return Error{ErrorCode::kBadInput, "refused"};
              return success();
            },
            .on_batch_end =
                [this] {
                  ++batches;
                  longest_batch = std::max(longest_batch, received.size() - batched);
                  batched = received.size();
                },
            .on_closed = [this](const Error& why) { closed = why; },
            .on_part = [this] { ++parts; },
            .on_drained = [this](std::size_t marks) { drained += marks; }},
        std::move(ways));
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() { connection->close(); }

  std::shared_ptr<Connection> connection;
  std::vector<Received> received;
  std::size_t batches = 0;
  std::size_t batched = 0;        ///< Frames that came in them.
  std::size_t longest_batch = 0;  ///< In frames.
  std::size_t parts = 0;
  std::size_t drained = 0;
  bool refuses = false;
  std::optional<Error> closed;
};

struct Harness {
  Harness()
      : pair(loop.io),
        near(loop, std::move(pair.near), buffer),
        far(loop, std::move(pair.far), buffer) {
    near.connection->start();
    far.connection->start();
  }
  test::Loop loop;
  test::SocketPair pair;
  ReadBuffer buffer;
  End near;
  End far;
};

/// Both of one machine, where long payloads are lent.
struct LendingHarness {
  LendingHarness()
      : pair(loop.io),
        near(loop, std::move(pair.near), buffer, ways(pools[0])),
        far(loop, std::move(pair.far), buffer, ways(pools[1])) {
    near.connection->start();
    far.connection->start();
  }
  static PayloadWays ways(SharedPools& pools) {
    return {.memory = {},
            .loans = std::make_unique<Loans>(wire::Family::kFrame, pools, -1),
            .rings = {}};
  }
  test::Loop loop;
  test::SocketPair pair;
  ReadBuffer buffer;
  std::array<SharedPools, 2> pools;
  End near;
  End far;
};

/// One connection whose other side is in the test's hand.
struct RawHarness {
  RawHarness() : pair(loop.io), end(loop, std::move(pair.near), buffer) { end.connection->start(); }
  test::Loop loop;
  test::SocketPair pair;
  ReadBuffer buffer;
  End end;
};

}  // namespace

TEST_SUITE_BEGIN("tcp/connection");

TEST_CASE("over a link within a machine a long payload is lent from the second on") {
  LendingHarness h;
  const auto send = [&](std::uint64_t number) {
    h.near.connection->send(frame(number, payload_of(std::size_t{1} << 20U, number)));
    const std::size_t queued = h.near.connection->queued_bytes();
    h.near.connection->flush();
    REQUIRE(h.loop.until([&] { return h.far.received.size() == number; }));
    CHECK(h.far.received.back().payload == payload_of(std::size_t{1} << 20U, number));
    return queued;
  };
  CHECK(send(1) > std::size_t{1} << 20U);  // with the offer
  REQUIRE(h.loop.until([&] { return h.near.connection->lends(); }));
  send(2);  // the answer is there
  for (std::uint64_t number = 3; number < 100; ++number) {
    CHECK(send(number) < 200);
    h.far.received[number - 1].payload = {};  // given back
  }
}

TEST_CASE("a mark is told once, when all before it is written, and never from within a call") {
  Harness h;
  h.far.connection->pause_reading(true);
  h.near.connection->send(frame(1, payload_of(std::size_t{16} << 20U, 1)));
  h.near.connection->mark();
  h.near.connection->send(frame(2, payload_of(10, 2)));
  h.near.connection->flush();
  CHECK(h.near.drained == 0);
  h.far.connection->send(frame(3, {}));
  h.far.connection->flush();
  REQUIRE(h.loop.until([&] { return h.near.received.size() == 1; }));
  CHECK(h.near.drained == 0);

  h.far.connection->pause_reading(false);
  REQUIRE(h.loop.until([&] { return h.near.drained > 0; }));
  REQUIRE(h.loop.until([&] { return h.far.received.size() == 2; }));
  CHECK(h.near.drained == 1);

  h.near.connection->mark();
  h.near.connection->flush();
  CHECK(h.near.drained == 1);
  CHECK(h.loop.until([&] { return h.near.drained == 2; }));
}

TEST_CASE("frames of all sizes arrive whole and in order, in both directions") {
  Harness h;
  Rng rng(1);
  std::vector<Payload> sent;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::size_t size = rng.chance(0.1) ? rng.below(2000000) : rng.below(400);
    sent.push_back(payload_of(size, i));
    h.near.connection->send(frame(i, sent.back()));
    h.far.connection->send(frame(i, sent.back()));
    if (rng.chance(0.3)) h.near.connection->flush();
  }
  h.near.connection->flush();
  h.far.connection->flush();

  REQUIRE(
      h.loop.until([&] { return h.near.received.size() == 300 && h.far.received.size() == 300; }));

  for (std::size_t i = 0; i < 300; ++i) {
    CHECK(h.far.received[i].header == std::to_string(i));
    CHECK(h.far.received[i].payload == sent[i]);
    CHECK(h.near.received[i].payload == sent[i]);
  }
  CHECK(h.near.connection->queued_bytes() == 0);
}

TEST_CASE("many small frames come with few system calls") {
  Harness h;
  for (std::uint64_t i = 0; i < 1000; ++i) h.near.connection->send(frame(i, payload_of(64, i)));
  h.near.connection->flush();

  REQUIRE(h.loop.until([&] { return h.far.received.size() == 1000; }));

  CHECK(h.far.batches <= 50);
}

TEST_CASE("one read is one turn, however much there is") {
  constexpr std::size_t kBytes = 1000;
  Harness h;
  h.far.connection->pause_reading(true);
  for (std::uint64_t i = 0; i < 1000; ++i) h.near.connection->send(frame(i, payload_of(kBytes, i)));
  h.near.connection->flush();
  h.loop.poll();
  h.far.connection->pause_reading(false);

  REQUIRE(h.loop.until([&] { return h.far.received.size() == 1000; }));

  CHECK(h.far.longest_batch <= kReadBufferBytes / kBytes);
}

TEST_CASE("a payload that is sent is shared, not copied, until it is written") {
  Harness h;
  const Payload payload = payload_of(1000000, 1);

  for (std::uint64_t i = 0; i < 100; ++i) h.near.connection->send(frame(i, payload));

  CHECK(h.near.connection->queued_bytes() > 100000000);
  h.near.connection->flush();
  REQUIRE(h.loop.until([&] { return h.far.received.size() == 100; }));
  CHECK(h.far.received.back().payload == payload);
}

TEST_CASE("while reading is paused the sender's queue grows, and nothing is lost") {
  Harness h;
  h.far.connection->pause_reading(true);
  const Payload payload = payload_of(1000000, 1);
  for (std::uint64_t i = 0; i < 30; ++i) h.near.connection->send(frame(i, payload));
  h.near.connection->flush();
  h.loop.poll();
  CHECK(h.far.received.empty());
  CHECK(h.near.connection->queued_bytes() > 0);

  h.far.connection->pause_reading(false);

  REQUIRE(h.loop.until([&] { return h.far.received.size() == 30; }));
}

TEST_CASE("parts of a long frame are signs of life at both ends, and short frames are none") {
  Harness h;
  h.near.connection->send(frame(1, payload_of(100, 1)));
  h.near.connection->flush();
  REQUIRE(h.loop.until([&] { return h.far.received.size() == 1; }));
  CHECK(h.far.parts == 0);

  h.near.connection->send(frame(2, payload_of(30000000, 1)));
  h.near.connection->flush();
  REQUIRE(h.loop.until([&] { return h.far.received.size() == 2; }));

  CHECK(h.near.parts > 0);
  CHECK(h.far.parts > 0);
}

TEST_CASE("a connection dropped in good order delivers what was sent before") {
  Harness h;
  const Payload payload = payload_of(1000000, 1);
  // The other side is busy sending, which must not make the system throw anything away.
  for (std::uint64_t i = 0; i < 20; ++i) h.far.connection->send(frame(i, payload));
  h.far.connection->flush();
  for (std::uint64_t i = 0; i < 20; ++i) h.near.connection->send(frame(i, payload));

  h.near.connection->close_after_drain();
  REQUIRE(h.loop.until([&] { return h.near.closed && h.far.closed; }));

  CHECK(h.far.received.size() == 20);
  CHECK(h.near.closed->code == ErrorCode::kAborted);
  CHECK(h.far.closed->code == ErrorCode::kUnavailable);
}

TEST_CASE("a peer that goes away is reported once") {
  RawHarness h;

  h.pair.far.close();

  REQUIRE(h.loop.until([&] { return h.end.closed.has_value(); }));
  CHECK(h.end.closed->code == ErrorCode::kUnavailable);
  CHECK(!h.end.connection->is_open());
}

TEST_CASE("writing to a peer that is gone ends the connection, not the process") {
  RawHarness h;
  h.pair.far.set_option(asio::socket_base::linger(true, 0));
  h.pair.far.close();

  for (std::uint64_t i = 0; i < 3; ++i) {
    h.end.connection->send(frame(i, payload_of(100, i)));
    h.end.connection->flush();
  }

  REQUIRE(h.loop.until([&] { return h.end.closed.has_value(); }));
}

TEST_CASE("what the peer has sent before it closed is read, also if writing to it fails first") {
  test::Loop loop;
  asio::local::stream_protocol::socket near(loop.io);
  asio::local::stream_protocol::socket far(loop.io);
  asio::local::connect_pair(near, far);
  ReadBuffer buffer;
  End end(loop, std::move(near), buffer);
  for (std::uint64_t i = 0; i < 2; ++i) asio::write(far, asio::buffer(frame(i, {}).head));
  far.close();

  end.connection->send(frame(9, payload_of(100, 9)));
  end.connection->flush();  // fails: nobody is there any more

  REQUIRE(loop.until([&] { return end.closed.has_value(); }));
  CHECK(end.received.size() == 2);
  CHECK(end.connection->queued_bytes() == 0);
}

TEST_CASE("garbage, damage and oversize end the connection before anything is handed on") {
  const wire::Encoded good = frame(1, payload_of(10, 1));
  std::vector<Bytes> wrong;
  wrong.push_back(Bytes(64, std::byte{'x'}));
  for (std::size_t i = 0; i < good.head.size(); ++i) {
    wrong.push_back(good.head);
    wrong.back()[i] ^= std::byte{0x40};
  }
  Bytes oversize(wire::kPrefixBytes);
  wire::write_prefix({.family = wire::Family::kFrame,
                      .version = wire::kWireVersion,
                      .header_size = 0xffffffff,
                      .payload_size = 0xffffffff,
                      .header_check = 0},
                     oversize);
  wrong.push_back(oversize);
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    CAPTURE(i);
    RawHarness h;
    asio::write(h.pair.far, asio::buffer(wrong[i]));
    asio::write(h.pair.far, asio::buffer(Bytes(100)));

    REQUIRE(h.loop.until([&] { return h.end.closed.has_value(); }));

    CHECK(h.end.received.empty());
    CHECK(h.end.closed->code != ErrorCode::kUnavailable);
  }
}

TEST_CASE("a frame that comes byte by byte arrives") {
  RawHarness h;
  const wire::Encoded whole = frame(5, payload_of(3, 1));
  Bytes bytes = whole.head;
  const auto tail = whole.tail.front().bytes();
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  h.pair.far.set_option(asio::ip::tcp::no_delay(true));

  for (const std::byte& byte : bytes) {
    const std::size_t before = h.end.batches;
    asio::write(h.pair.far, asio::buffer(&byte, 1));
    REQUIRE(h.loop.until([&] { return h.end.batches > before; }));
  }

  REQUIRE(h.end.received.size() == 1);
  CHECK(h.end.received.front().payload == whole.tail.front());
}

TEST_CASE("what the owner refuses ends the connection with the owner's reason") {
  RawHarness h;
  h.end.refuses = true;
  const wire::Encoded one = frame(1, {});
  asio::write(h.pair.far, asio::buffer(one.head));
  asio::write(h.pair.far, asio::buffer(one.head));

  REQUIRE(h.loop.until([&] { return h.end.closed.has_value(); }));

  CHECK(h.end.received.size() == 1);
  CHECK(h.end.closed->what == "refused");
}

TEST_CASE("close() reports nothing") {
  RawHarness h;

  h.end.connection->close();
  h.loop.poll();

  CHECK(!h.end.closed);
  CHECK(!h.end.connection->is_open());
}

TEST_SUITE_END();

}  // namespace phx::tcp::connection_test
