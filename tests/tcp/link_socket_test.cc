#include "runtime/tcp/link_socket.h"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <asio/io_context.hpp>
#include <string>

namespace phx::link_socket_test {

using asio::ip::make_address;
using asio::ip::tcp;

std::string control_of(tcp::socket& socket) {
  std::array<char, 16> name{};
  auto size = static_cast<socklen_t>(name.size());
  REQUIRE(::getsockopt(socket.native_handle(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) ==
          0);
  return name.data();
}

TEST_SUITE_BEGIN("tcp/link_socket");

TEST_CASE("who has the same address, or is at the loopback, too, is on this machine") {
  const auto one = make_address("10.1.2.3");
  CHECK(phx::tcp::is_within_machine(one, one));
  CHECK_FALSE(phx::tcp::is_within_machine(one, make_address("10.1.2.4")));
  CHECK(phx::tcp::is_within_machine(make_address("127.0.0.1"), make_address("127.8.0.2")));
  CHECK_FALSE(phx::tcp::is_within_machine(make_address("127.0.0.1"), one));
  CHECK(phx::tcp::is_within_machine(make_address("::1"), make_address("::1")));
  CHECK_FALSE(phx::tcp::is_within_machine(make_address("fe80::1%2"), make_address("fe80::1%3")));
}

int unsent_of(tcp::socket& socket) {
  int unsent = 0;
  socklen_t size = sizeof(unsent);
  REQUIRE(::getsockopt(socket.native_handle(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, &size) ==
          0);
  return unsent;
}

TEST_CASE("a link within the machine is not paced, and two pieces of it wait in the system") {
  asio::io_context io;
  tcp::acceptor listener(io, {make_address("127.0.0.1"), 0});
  tcp::socket dialled(io);
  dialled.connect(listener.local_endpoint());
  tcp::socket accepted = listener.accept();
  for (tcp::socket* socket : {&dialled, &accepted}) {
    CHECK(phx::tcp::prepare_link(*socket));
    CHECK(control_of(*socket) == "reno");
    CHECK(unsent_of(*socket) == 512 << 10);
  }
}

TEST_CASE("a socket without a peer is left alone") {
  asio::io_context io;
  tcp::socket socket(io, tcp::v4());
  const std::string before = control_of(socket);
  CHECK_FALSE(phx::tcp::prepare_link(socket));
  CHECK(control_of(socket) == before);
  CHECK(unsent_of(socket) == 128 << 10);  // As of one to another machine.
}

TEST_SUITE_END();

}  // namespace phx::link_socket_test
