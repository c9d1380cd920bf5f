#include "runtime/tcp/tool_socket.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <vector>

#include "runtime/tcp/descriptor.h"

namespace phx::tcp::tool_socket_test {
namespace {

int option(int socket, int level, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  REQUIRE(::getsockopt(socket, level, name, &value, &size) == 0);
  return value;
}

/// The two ends of a connection on the loopback.
struct Pair {
  Pair() {
    const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const named = reinterpret_cast<sockaddr*>(&place);
    socklen_t size = sizeof(place);
    REQUIRE(::bind(listener.get(), named, size) == 0);
    REQUIRE(::listen(listener.get(), 1) == 0);
    REQUIRE(::getsockname(listener.get(), named, &size) == 0);
    near = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(::connect(near.get(), named, size) == 0);
    far = Descriptor(::accept(listener.get(), nullptr, nullptr));
  }
  Descriptor near, far;
};

}  // namespace

TEST_CASE("the system asks an idle peer and gives it up after 15 s") {
  const Pair pair;
  watch_peer(pair.near.get());

  CHECK(option(pair.near.get(), SOL_SOCKET, SO_KEEPALIVE) == 1);
  const int seconds = option(pair.near.get(), IPPROTO_TCP, TCP_KEEPIDLE) +
                      option(pair.near.get(), IPPROTO_TCP, TCP_KEEPINTVL) *
                          option(pair.near.get(), IPPROTO_TCP, TCP_KEEPCNT);
  CHECK(seconds == 15);
  // It would end the connection of one that is there and does not read.
  CHECK(option(pair.near.get(), IPPROTO_TCP, TCP_USER_TIMEOUT) == 0);
}

TEST_CASE("a peer that does not read is there") {
  const Pair pair;
  const std::vector<char> much(std::size_t{64} << 20U);
  while (::send(pair.near.get(), much.data(), much.size(), MSG_DONTWAIT) > 0) continue;

  CHECK(!is_peer_gone(pair.near.get()));
}

TEST_CASE("a peer is gone when several questions in a row have found no answer for long") {
  CHECK(!means_gone(1, 2min));  // asked just now, as one that does not read is now and then
  CHECK(!means_gone(5, 6s));
  CHECK(!means_gone(0, 2min));

  CHECK(means_gone(6, 15s));
  CHECK(means_gone(3, 2min));
}

}  // namespace phx::tcp::tool_socket_test
