#pragma once

#include <doctest/doctest.h>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/messages/client_messages.h"
#include "runtime/tcp/client.h"
#include "runtime/tcp/greeting.h"
#include "runtime/tcp/tcp_driver.h"
#include "runtime/wire/codec.h"
#include "tests/tcp/loop.h"

namespace phx::tcp::test {

/// Only ends a test that would hang.
constexpr Duration kWatchdog = 30s;

/// A daemon on a thread of its own.
struct Daemon {
  explicit Daemon(const DriverOptions& options, LogSink log = {}) {
    auto started = TcpDriver::start(options, std::move(log));
    if (!started.ok()) MESSAGE(started.error().what);
    REQUIRE(started.ok());
    driver = std::move(started).value();
    thread = std::thread([this] { stop = driver->run(); });
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon() {
    if (thread.joinable()) driver->halt();
    wait();
  }
  void wait() {
    if (thread.joinable()) thread.join();
  }
  [[nodiscard]] std::string endpoint() const { return driver->endpoints().front(); }

  std::unique_ptr<TcpDriver> driver;
  runtime::Stop stop;
  std::thread thread;
};

[[nodiscard]] inline DriverOptions options_of(const std::vector<std::string>& join = {}) {
  DriverOptions options;
  options.key = key_of(1);
  options.name = "test";
  options.join = join;
  return options;
}

[[nodiscard]] inline ToolClient tool_at(const std::string& endpoint) {
  auto client = ToolClient::connect({endpoint}, key_of(1));
  REQUIRE(client.ok());
  return std::move(client).value();
}

/// The same without a reader: the bytes of its requests are written by the test.
[[nodiscard]] inline asio::ip::tcp::socket socket_of_tool(asio::io_context& io,
                                                          const std::string& endpoint) {
  std::optional<DialOutcome> done;
  asio::co_spawn(
      io, dial({endpoint}, key_of(1), {.role = Role::kClient}),
      [&](const std::exception_ptr&, DialOutcome outcome) { done = std::move(outcome); });
  io.run();
  REQUIRE(done->reached);
  return std::move(done->reached->socket);
}

[[nodiscard]] inline std::vector<std::byte> bytes_of(const runtime::ClientRequest& request) {
  return wire::Encoder().encode(request).head;
}

template <class Reply>
Reply answer(ToolClient& tool, const runtime::ClientRequest& request) {
  REQUIRE(tool.send(request).ok());
  auto reply = tool.receive(kWatchdog);
  REQUIRE(reply.ok());
  REQUIRE(std::holds_alternative<Reply>(reply.value()));
  return std::get<Reply>(std::move(reply).value());
}

}  // namespace phx::tcp::test
