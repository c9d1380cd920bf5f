#include "runtime/tcp/client.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <array>
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "overlay/base/payload.h"
#include "runtime/tcp/listener.h"
#include "runtime/wire/codec.h"
#include "tests/tcp/daemons.h"
#include "tests/tcp/loop.h"

namespace phx::tcp::client_test {
namespace {

/// A tool, and the socket at its daemon's end, which the test reads.
struct Pair {
  Pair() {
    auto opened = Listener::open(loop.io.get_executor(), {"127.0.0.1", 0});
    REQUIRE(opened.ok());
    listener = std::move(opened).value();
    listener->start(test::key_of(1), {.role = Role::kDaemon, .self = ProcessorId{7}},
                    {.on_proved = [this](asio::ip::tcp::socket socket,
                                         const Hello&) { far.emplace(std::move(socket)); },
                     .on_rejected = [](const Error&, const std::string&) {}});
    auto connected = std::async(std::launch::async, [place = to_string(listener->address())] {
      return test::tool_at(place);
    });
    REQUIRE(loop.until([&] { return far.has_value(); }));
    tool.emplace(connected.get());
  }
  /// So many bytes, then the end.
  std::size_t read(std::size_t wanted) {
    std::array<std::byte, 65536> buffer{};
    std::error_code error;
    far->non_blocking(false, error);
    std::size_t got = 0;
    while (!error && got < wanted) got += far->read_some(asio::buffer(buffer), error);
    far->close(error);
    return got;
  }

  test::Loop loop;
  std::unique_ptr<Listener> listener;
  std::optional<asio::ip::tcp::socket> far;
  std::optional<ToolClient> tool;
};

}  // namespace

TEST_SUITE_BEGIN("tcp/client");

TEST_CASE("who polls a tool's connection hears also that the rest of what was sent can go out") {
  constexpr std::size_t kPiece = std::size_t{64} << 10U;
  constexpr std::size_t kBytes = std::size_t{32} << 20U;  // More than the system takes.
  constexpr int kWatchdogMs = 30000;
  Pair pair;
  std::size_t sent = 0;
  for (std::uint64_t offset = 0; offset < kBytes; offset += kPiece) {
    const runtime::InputRequest piece{JobId{1}, offset, Payload(Bytes(kPiece)), false};
    sent += wire::Encoder().encode(runtime::ClientRequest(piece)).size();
    REQUIRE(pair.tool->send(piece).ok());
  }
  auto got = std::async(std::launch::async, [&] { return pair.read(sent); });

  ErrorCode code = ErrorCode::kTimeout;
  while (code == ErrorCode::kTimeout) {
    pollfd wanted{pair.tool->descriptor(), POLLIN, 0};
    const bool is_told = ::poll(&wanted, 1, kWatchdogMs) == 1;
    CHECK(is_told);
    if (!is_told) break;
    const auto reply = pair.tool->receive(Duration::zero());
    REQUIRE(!reply.ok());
    code = reply.error().code;
  }
  pair.tool.reset();
  CHECK(got.get() == sent);
}

TEST_SUITE_END();

}  // namespace phx::tcp::client_test
