#include "runtime/tcp/link_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <string_view>
#include <system_error>

namespace phx::tcp {
namespace {

/// What the system has of a link and has not sent; more stays here, where it can be overtaken.
constexpr int kUnsentBytes = 128 << 10;
/// Within a machine: a piece and its header pass with one system call.
constexpr int kUnsentNearBytes = 512 << 10;

/// Every Linux has it, and lets everybody choose it unless it was told otherwise.
constexpr std::string_view kPlainControl = "reno";

}  // namespace

bool is_within_machine(const asio::ip::address& one, const asio::ip::address& other) {
  return one == other || (one.is_loopback() && other.is_loopback());
}

bool prepare_link(asio::ip::tcp::socket& socket) {
  const int descriptor = socket.native_handle();
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentBytes, sizeof(kUnsentBytes));
  std::error_code error;
  const auto here = socket.local_endpoint(error);
  if (error) return false;
  const auto there = socket.remote_endpoint(error);
  if (error || !is_within_machine(here.address(), there.address())) return false;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsentNearBytes,
               sizeof(kUnsentNearBytes));
  // Nothing is lost on the way, so any control of congestion will do. One that paces, as BBR does,
  // sets timers, and takes what the processor manages beside these for the bandwidth.
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, kPlainControl.data(), kPlainControl.size());
  return true;
}

}  // namespace phx::tcp
