#pragma once

#include <doctest/doctest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/local/local_link.h"
#include "runtime/messages/local_messages.h"
#include "runtime/tcp/connection.h"
#include "runtime/wire/codec.h"

namespace phx::local::test {

/// The two ends of a UNIX socket.
inline std::array<int, 2> socket_ends() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return ends;
}

/// The daemon's end of a link as the daemon has it, run by hand.
class DaemonSide {
 public:
  explicit DaemonSide(int socket, bool offers = true) : socket_(socket) {
    tcp::PayloadWays ways;
    ways.loans = std::make_unique<tcp::Loans>(wire::Family::kToApplication, pools_, socket);
    if (offers) ways.rings = tcp::Rings::make();
    REQUIRE((ways.rings != nullptr) == offers);
    connection = std::make_shared<tcp::Connection>(
        loop_, tcp::Descriptor(socket), wire::Family::kToDaemon, buffer_,
        tcp::Connection::Handlers{
            .on_frame = [this](std::span<const std::byte> header, Payload payload) -> Status {
              auto message = decoder_.to_daemon(header, std::move(payload));
              if (!message.ok()) return message.error();
              received.push_back(std::move(message).value());
              if (pauses_with == received.size()) connection->pause_reading(true);
              return success();
            },
            .on_batch_end = [] {},
            .on_closed = [this](const Error& why) { closed = why; }},
        std::move(ways));
    connection->start();
  }
  DaemonSide(const DaemonSide&) = delete;
  DaemonSide& operator=(const DaemonSide&) = delete;
  ~DaemonSide() {
    connection->close();
    turn();
    connection.reset();  // before the loop
  }

  void send(const runtime::ToApplication& message) {
    connection->send(encoder_.encode(message));
    connection->flush();
  }
  /// Does what can be done at once.
  void turn() {
    constexpr int kRounds = 40;
    for (int i = 0; i < kRounds; ++i) loop_.run_one(Duration::zero());
  }
  template <class F>
  void sleep_until(F is_enough) {
    while (!is_enough()) loop_.run_one(kForever);
  }
  /// Until it is closed.
  const Error& end() {
    sleep_until([this] { return closed.has_value(); });
    return *closed;
  }
  /// Bytes that have come through the socket and were not read.
  [[nodiscard]] int on_socket() const {
    int bytes = 0;
    REQUIRE(::ioctl(socket_, FIONREAD, &bytes) == 0);
    return bytes;
  }

  std::shared_ptr<tcp::Connection> connection;
  std::vector<runtime::ToDaemon> received;
  std::size_t pauses_with = 0;  ///< Messages.
  std::optional<Error> closed;

 private:
  int socket_;
  tcp::Loop loop_;
  tcp::SharedPools pools_;
  tcp::ReadBuffer buffer_;
  wire::Encoder encoder_;
  wire::Decoder decoder_;
};

inline runtime::PointToPoint message(std::uint64_t seq, std::size_t size) {
  return {VnodeId{1}, VnodeId{2}, seq, 3, 0, Payload(Bytes(size, static_cast<std::byte>(seq)))};
}

/// A link and its daemon.
struct Meeting {
  explicit Meeting(bool offers = true) : Meeting(socket_ends(), offers) {}
  Meeting(std::array<int, 2> ends, bool offers) : daemon(ends[1], offers), link(ends[0]) {}

  void pump() { REQUIRE(link.pump(received).ok()); }
  /// Says something in both directions, until both have moved if they can.
  void greet() {
    link.queue(runtime::AppAttach{JobId{1}, 1, 1});
    pump();
    daemon.turn();
    daemon.send(runtime::AppAttached{JobId{1}, ProcessorId{1}, 1, {}});
    pump();         // maps, moves
    daemon.turn();  // moves, too
    pump();
    REQUIRE(daemon.received.size() == 1);
    REQUIRE(received.size() == 1);
    daemon.received.clear();
    received.clear();
  }
  /// Lets both work until `is_enough`; neither waits for time to pass.
  template <class F>
  void work_until(F is_enough) {
    while (!is_enough()) {
      pump();
      daemon.turn();
    }
  }

  DaemonSide daemon;
  LocalLink link;
  std::vector<runtime::ToApplication> received;
};

}  // namespace phx::local::test
