#include "runtime/local/local_link.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <thread>

#include "runtime/tcp/loans.h"
#include "runtime/wire/codec.h"

namespace phx::local::local_link_test {
namespace {

using runtime::AppDeliver;
using runtime::AppSend;
using runtime::PointToPoint;

/// The daemon's end of a link, with calls that block.
class DaemonEnd {
 public:
  explicit DaemonEnd(int socket) : socket_(socket) {}
  ~DaemonEnd() { close(); }
  DaemonEnd(const DaemonEnd&) = delete;
  DaemonEnd& operator=(const DaemonEnd&) = delete;

  void write(const runtime::ToApplication& message) {
    const wire::Encoded encoded = encoder_.encode(message);
    write(encoded.head);
    for (const Payload& payload : encoded.tail) write(payload.bytes());
  }
  /// From now on it takes long payloads past the socket.
  void lend() { loans_.emplace(wire::Family::kToApplication, pools_, socket_); }
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      REQUIRE(size > 0);
      bytes = bytes.subspan(static_cast<std::size_t>(size));
    }
  }
  runtime::ToDaemon read() {
    while (!frames_.is_complete()) {
      const auto space = frames_.space();
      const ssize_t size = ::read(socket_, space.data(), space.size());
      REQUIRE(size > 0);
      REQUIRE(frames_.advance(static_cast<std::size_t>(size)).ok());
    }
    Payload payload = frames_.take_payload();
    if (frames_.is_reference() && frames_.header().empty()) {
      REQUIRE(loans_->on_control(payload).ok());
      for (const wire::Encoded& control : loans_->take_controls()) {
        write(control.head);
        write(control.tail.at(0).bytes());
      }
      frames_.next();
      return read();
    }
    if (frames_.is_reference()) {
      ++references;
      auto lent = loans_->resolve(payload);
      REQUIRE(lent.ok());
      payload = std::move(lent).value();
    }
    auto message = decoder_.to_daemon(frames_.header(), std::move(payload));
    REQUIRE(message.ok());
    frames_.next();
    return std::move(message).value();
  }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  std::size_t references = 0;  ///< Messages that came as such.

 private:
  int socket_;
  wire::Encoder encoder_;
  wire::Decoder decoder_;
  wire::FrameReader frames_{wire::Family::kToDaemon, {.references = true}};
  tcp::SharedPools pools_;
  std::optional<tcp::Loans> loans_;
};

struct Pair {
  Pair() : Pair(sockets()) {}
  explicit Pair(std::array<int, 2> ends) : link(ends[0]), daemon(ends[1]) {}
  static std::array<int, 2> sockets() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) == 0);
    return ends;
  }
  /// Pumps until so many messages are in, or the link is lost.
  Status receive(std::size_t count) {
    while (received.size() < count) {
      if (Status status = link.pump(received); !status.ok()) return status;
      if (received.size() < count) link.wait(link.unsent() > 0, 10s);
    }
    return success();
  }

  LocalLink link;
  DaemonEnd daemon;
  std::vector<runtime::ToApplication> received;
};

PointToPoint message(std::uint64_t seq, std::size_t size) {
  return {VnodeId{1}, VnodeId{2}, seq, 3, 0, Payload(Bytes(size, std::byte{'m'}))};
}

}  // namespace

TEST_SUITE_BEGIN("local/local_link");

TEST_CASE("messages pass whole and in order, in both directions") {
  Pair pair;
  for (std::uint64_t i = 0; i < 50; ++i) {
    pair.daemon.write(AppDeliver{i + 1, message(i, i * 37)});
  }

  REQUIRE(pair.receive(50).ok());
  pair.link.queue(AppSend{message(7, 100)});
  REQUIRE(pair.link.pump(pair.received).ok());

  CHECK(pair.received.size() == 50);
  CHECK(std::get<AppDeliver>(pair.received[49]) == AppDeliver{50, message(49, 49 * 37)});
  CHECK(std::get<AppSend>(pair.daemon.read()).message == message(7, 100));
}

TEST_CASE("two sides that both write much do not block each other") {
  constexpr std::size_t kBig = std::size_t{8} << 20U;
  Pair pair;
  pair.link.queue(AppSend{message(0, kBig)});
  std::thread daemon([&] {
    pair.daemon.write(AppDeliver{1, message(1, kBig)});  // reads nothing before this is out
    CHECK(std::get<AppSend>(pair.daemon.read()).message.payload.size() == kBig);
  });

  REQUIRE(pair.receive(1).ok());
  while (pair.link.unsent() > 0) {
    pair.link.wait(true, 10s);
    REQUIRE(pair.link.pump(pair.received).ok());
  }
  daemon.join();

  CHECK(std::get<AppDeliver>(pair.received[0]).delivery == runtime::Delivery(message(1, kBig)));
}

TEST_CASE("long payloads go past the socket, in order with all others, and come back") {
  constexpr std::uint64_t kCount = 300;  // more than there are blocks
  constexpr std::size_t kLong = std::size_t{256} << 10U;
  Pair pair;
  pair.daemon.lend();
  std::thread daemon([&] {
    for (std::uint64_t seq = 0; seq < kCount; ++seq) {
      const auto got = std::get<AppSend>(pair.daemon.read()).message;
      CHECK(got == message(seq, seq % 3 == 0 ? 10 : kLong));
    }
  });

  // Of the first third all may have left before the answer to the offer is read: the daemon's end
  // may be as fast as this one.
  for (std::uint64_t seq = 0; seq < kCount; ++seq) {
    pair.link.queue(AppSend{message(seq, seq % 3 == 0 ? 10 : kLong)});
    if ((seq + 1) % (kCount / 3) != 0) continue;
    while (pair.link.unsent() > 0) {
      REQUIRE(pair.link.pump(pair.received).ok());
      const bool starving = pair.link.is_starving();
      pair.link.wait(!starving, starving ? LocalLink::kRetry : 10s);
    }
  }
  daemon.join();

  CHECK(pair.daemon.references > 0);
}

TEST_CASE("without memory a long payload waits for a moment, then goes through the socket") {
  Pair pair;  // its daemon does not answer offers
  pair.link.queue(AppSend{message(1, 100'000)});
  REQUIRE(pair.link.pump(pair.received).ok());

  CHECK(pair.link.is_starving());
  CHECK(pair.link.unsent() > 100'000);
  while (pair.link.unsent() > 0) REQUIRE(pair.link.pump(pair.received).ok());

  CHECK_FALSE(pair.link.is_starving());
}

TEST_CASE("what the daemon said before it closed arrives before the error") {
  Pair pair;
  pair.daemon.write(runtime::AppEnd{1, "over"});
  pair.daemon.close();

  const Status status = pair.receive(2);

  CHECK(status.error().code == ErrorCode::kUnavailable);
  CHECK(pair.received.size() == 1);
  CHECK(pair.link.pump(pair.received).error().code == ErrorCode::kUnavailable);
}

TEST_CASE("bytes that are no messages close the link") {
  Pair pair;
  pair.daemon.write(Bytes(64, std::byte{'?'}));

  CHECK(pair.receive(1).error().code == ErrorCode::kBadInput);
  CHECK(pair.link.pump(pair.received).error().code == ErrorCode::kUnavailable);
}

TEST_CASE("finishing waits until the daemon has read everything") {
  Pair pair;
  pair.link.queue(runtime::AppFinish{});
  REQUIRE(pair.link.pump(pair.received).ok());
  std::thread daemon([&] {
    pair.daemon.write(AppDeliver{1, message(0, 1000)});  // crosses the end
    CHECK(std::holds_alternative<runtime::AppFinish>(pair.daemon.read()));
    pair.daemon.close();
  });

  pair.link.finish(10s);
  daemon.join();

  CHECK(pair.link.pump(pair.received).error().code == ErrorCode::kUnavailable);
}

TEST_CASE("a socket that is not there is an error with its path") {
  const auto link = LocalLink::connect("/nowhere/phoenix.sock");

  REQUIRE_FALSE(link.ok());
  CHECK(link.error().code == ErrorCode::kUnavailable);
  CHECK(link.error().what.find("/nowhere/phoenix.sock") != std::string::npos);
  CHECK(LocalLink::connect(std::string(200, 'x')).error().code == ErrorCode::kBadInput);
}

TEST_SUITE_END();

}  // namespace phx::local::local_link_test
