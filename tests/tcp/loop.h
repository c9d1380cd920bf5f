#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <functional>

#include "runtime/tcp/key.h"
#include "runtime/tcp/loop.h"

namespace phx::tcp::test {

/// Runs handlers until something has happened. The time limit only ends a test that would hang.
class Loop {
 public:
  tcp::Loop inner;
  asio::io_context& io = inner.io();

  /// What can be done at once.
  void poll() {
    constexpr int kRounds = 20;
    for (int round = 0; round < kRounds; ++round) {
      inner.touch();
      inner.run_one(Duration::zero());
    }
  }
  /// False: it did not happen.
  [[nodiscard]] bool until(const std::function<bool()>& happened) {
    constexpr auto kWatchdog = std::chrono::seconds(30);
    const auto end = std::chrono::steady_clock::now() + kWatchdog;
    while (!happened()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      inner.touch();  // the test itself may have begun something at Asio's objects
      inner.run_one(Duration::zero());
      if (!happened()) inner.run_one(1ms);
    }
    return true;
  }
};

/// A key whose bytes are all `value`.
[[nodiscard]] inline MeshKey key_of(unsigned char value) {
  MeshKey key{};
  key.fill(static_cast<std::byte>(value));
  return key;
}

/// Two ends of one TCP connection over loopback.
struct SocketPair {
  explicit SocketPair(asio::io_context& io) : near(io), far(io) {
    asio::ip::tcp::acceptor acceptor(io,
                                     asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    near.connect(acceptor.local_endpoint());
    far = acceptor.accept();
  }
  asio::ip::tcp::socket near;
  asio::ip::tcp::socket far;
};

}  // namespace phx::tcp::test
