#include "apps/bench/plain_tcp.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace bench {
namespace {

void check(bool is_well, const char* what) {
  if (is_well) return;
  throw std::runtime_error(std::string("plain TCP: ") + what + ": " +
                           std::generic_category().message(errno));
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int make_socket() {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(made >= 0, "socket");
  return made;
}

/// As the runtime's links: sent at once, and not paced, which is faster within a machine.
void prepare(int socket) {
  const int on = 1;
  check(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0, "setsockopt");
  constexpr std::string_view kControl = "reno";  // not all may choose it: then it is as it is
  ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, kControl.data(), kControl.size());
}

}  // namespace

PlainTcp::~PlainTcp() {
  if (socket_ >= 0) ::close(socket_);
  if (listener_ >= 0) ::close(listener_);
}

std::uint16_t PlainTcp::listen() {
  listener_ = make_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  check(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0, "bind");
  check(::listen(listener_, 1) == 0, "listen");
  check(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0, "name");
  return ntohs(address.sin_port);
}

void PlainTcp::accept() {
  socket_ = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  check(socket_ >= 0, "accept");
  prepare(socket_);
}

void PlainTcp::connect(std::uint16_t port) {
  socket_ = make_socket();
  const sockaddr_in address = loopback(port);
  check(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
        "connect");
  prepare(socket_);
}

void PlainTcp::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    check(size > 0, "send");
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
}

void PlainTcp::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::recv(socket_, bytes.data(), bytes.size(), 0);
    check(size > 0, "recv");
    bytes = bytes.subspan(static_cast<std::size_t>(size));
  }
}

}  // namespace bench
