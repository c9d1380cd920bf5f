#include "runtime/local/local_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/local/unsent_bytes.h"
#include "runtime/wire/codec.h"
#include "runtime/wire/framing.h"

namespace phx::local {
namespace {

/// What one system call reads beyond the frame that is being filled.
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;

Error lost(int error) {
  const bool by_daemon = error == 0 || error == ECONNRESET || error == EPIPE;
  return {ErrorCode::kUnavailable,
          by_daemon ? "the daemon has closed the connection"
                    : std::string("the connection to the daemon failed: ") + std::strerror(error)};
}

/// A piece of a long message should leave with one system call. The system may give less.
constexpr int kSendBufferBytes = 1 << 20;

void prepare(int socket) {
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof(kSendBufferBytes));
}

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

struct LocalLink::State {
  explicit State(int connected) : socket(connected), joint(kReadBytes) {}
  ~State() {
    if (socket >= 0) ::close(socket);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const int socket;
  bool is_open = true;
  UnsentBytes unsent;
  wire::Encoder encoder;
  wire::Decoder decoder;
  wire::FrameReader frames{wire::Family::kToApplication};
  Bytes joint;  ///< Where short frames land together.
};

LocalLink::LocalLink() = default;
LocalLink::LocalLink(int socket) : state_(std::make_unique<State>(socket)) {
  prepare(socket);
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
}
LocalLink::~LocalLink() = default;
LocalLink::LocalLink(LocalLink&&) noexcept = default;
LocalLink& LocalLink::operator=(LocalLink&&) noexcept = default;

Result<LocalLink> LocalLink::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return Error{ErrorCode::kBadInput, "the name of the daemon's socket is too long: " + path};
  }
  std::copy(path.begin(), path.end(), std::begin(address.sun_path));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  LocalLink link;
  if (socket >= 0) link.state_ = std::make_unique<State>(socket);
  // Still blocking: a full queue of the listener means to wait.
  if (socket < 0 ||
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    const ErrorCode code = error == EACCES ? ErrorCode::kDenied : ErrorCode::kUnavailable;
    return Error{code, "there is no daemon at " + path + ": " + std::strerror(error)};
  }
  prepare(socket);
  return link;
}

bool LocalLink::is_open() const {
  return state_ && state_->is_open;
}
std::size_t LocalLink::unsent() const {
  return is_open() ? state_->unsent.size() : 0;
}

void LocalLink::close() {
  if (!is_open()) return;
  // The descriptor stays ours until the end: somebody may be waiting at it.
  ::shutdown(state_->socket, SHUT_RDWR);
  state_->is_open = false;
}

void LocalLink::finish(Duration at_most) {
  if (!is_open()) return;
  ::shutdown(state_->socket, SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (std::chrono::steady_clock::now() < deadline) {
    const ssize_t size = ::read(state_->socket, state_->joint.data(), state_->joint.size());
    if (size == 0 || (size < 0 && !would_block(errno) && errno != EINTR)) break;
    if (size < 0) wait(state_->socket, false, deadline - std::chrono::steady_clock::now());
  }
  close();
}

void LocalLink::queue(const runtime::ToDaemon& message) {
  if (!is_open()) return;
  wire::Encoded encoded = state_->encoder.encode(message);
  state_->unsent.add(std::move(encoded.head));
  for (const Payload& payload : encoded.tail) state_->unsent.add(payload);
}

Status LocalLink::pump(std::vector<runtime::ToApplication>& received) {
  if (!is_open()) return Error{ErrorCode::kUnavailable, "not connected to a daemon"};
  // What the daemon said before it closed the connection counts, so reading comes first.
  Status status = read(received);
  if (status.ok()) status = write();
  if (!status.ok()) {
    static_cast<void>(read(received));
    close();
  }
  return status;
}

Status LocalLink::write() {
  while (state_->unsent.size() > 0) {
    std::vector<iovec> parts = state_->unsent.front();
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t size = ::sendmsg(state_->socket, &message, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && would_block(errno)) break;
    if (size < 0) return lost(errno);
    state_->unsent.pop(static_cast<std::size_t>(size));
  }
  return success();
}

Status LocalLink::read(std::vector<runtime::ToApplication>& received) {
  while (true) {
    const std::span<std::byte> direct = state_->frames.space();
    std::array<iovec, 2> parts{iovec{direct.data(), direct.size()},
                               iovec{state_->joint.data(), state_->joint.size()}};
    const ssize_t size = ::readv(state_->socket, parts.data(), static_cast<int>(parts.size()));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && would_block(errno)) return success();
    if (size <= 0) return lost(size == 0 ? 0 : errno);
    const auto count = static_cast<std::size_t>(size);
    const std::size_t in_place = std::min(count, direct.size());
    if (Status status = take(in_place, count - in_place, received); !status.ok()) return status;
    if (count < direct.size() + state_->joint.size()) return success();
  }
}

/// `in_place` bytes stand where the frame reader wanted them, `joint` more in the joint buffer.
Status LocalLink::take(std::size_t in_place, std::size_t joint,
                       std::vector<runtime::ToApplication>& received) {
  wire::FrameReader& frames = state_->frames;
  Status status = frames.advance(in_place);
  std::span<const std::byte> rest(state_->joint.data(), joint);
  while (status.ok()) {
    if (frames.is_complete()) {
      auto message = state_->decoder.to_application(frames.header(), frames.take_payload());
      if (!message.ok()) return message.error();
      received.push_back(std::move(message).value());
      frames.next();
    }
    if (rest.empty()) break;
    status = frames.consume(rest);
  }
  return status;
}

int LocalLink::descriptor() const {
  PHX_CHECK(state_ != nullptr);
  return state_->socket;
}

void LocalLink::wait(int descriptor, bool also_for_room, Duration at_most) {
  pollfd watched{descriptor, static_cast<short>(POLLIN | (also_for_room ? POLLOUT : 0)), 0};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(at_most).count();
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  ::poll(&watched, 1, static_cast<int>(std::clamp<std::int64_t>(ms, 0, kMost)));
}

}  // namespace phx::local
