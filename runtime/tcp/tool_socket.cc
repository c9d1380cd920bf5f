#include "runtime/tcp/tool_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <chrono>

namespace phx::tcp {
namespace {

using std::chrono::duration_cast;

// Three questions that are not answered.
constexpr int kIdleSeconds = 6;
constexpr int kPauseSeconds = 3;
constexpr int kQuestions = 3;
static_assert(std::chrono::seconds(kIdleSeconds + kQuestions * kPauseSeconds) == kPeerSilence);

void set(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof(value));
}

}  // namespace

void watch_peer(int socket) {
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, kIdleSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, kPauseSeconds);
  set(socket, IPPROTO_TCP, TCP_KEEPCNT, kQuestions);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
}

void expect_reader(int socket) {
  const auto ms = duration_cast<std::chrono::milliseconds>(kPeerSilence);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(ms.count()));
}

bool is_peer_gone(int socket) {
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
  return means_gone(info.tcpi_retransmits + info.tcpi_probes,
                    std::chrono::milliseconds(info.tcpi_last_ack_recv));
}

/// Who does not read is asked again and again whether there is room, in the end each two minutes.
/// So silence alone says nothing, and one question may be on its way.
bool means_gone(int unanswered, Duration silence) {
  return unanswered >= kQuestions && silence >= kPeerSilence;
}

}  // namespace phx::tcp
