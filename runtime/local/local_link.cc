#include "runtime/local/local_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/embedded.h"
#include "runtime/tcp/loans.h"
#include "runtime/tcp/outgoing.h"
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

/// So much is made ready for writing ahead of the system call. Memory is lent no sooner.
constexpr std::size_t kReadyBytes = std::size_t{512} << 10U;

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
  explicit State(int connected)
      : socket(connected),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        loans(wire::Family::kToDaemon, connected),
        joint(kReadBytes) {}
  explicit State(tcp::EmbeddedDaemon& daemon)
      : inside(&daemon), loans(wire::Family::kToDaemon, -1) {}
  ~State() {
    if (socket >= 0) ::close(socket);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const int socket = -1;
  const tcp::Descriptor wake;
  bool is_open = true;
  // With a daemon inside only these two.
  tcp::EmbeddedDaemon* const inside = nullptr;
  std::vector<runtime::ToDaemon> for_inside;
  bool is_congested = false;
  std::deque<wire::Encoded> queued;
  std::size_t queued_bytes = 0;
  /// When memory was first found missing for the first of them.
  std::optional<std::chrono::steady_clock::time_point> starving_since;
  bool has_given_up = false;
  tcp::Outgoing unsent;  ///< Behind them: what is queued.
  wire::Encoder encoder;
  wire::Decoder decoder;
  tcp::Loans loans;
  wire::FrameReader frames{wire::Family::kToApplication, {.references = true}};
  Bytes joint;  ///< Where short frames land together.
};

LocalLink::LocalLink() = default;
LocalLink::LocalLink(tcp::EmbeddedDaemon& inside) : state_(std::make_unique<State>(inside)) {}
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
  tcp::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // Still blocking: a full queue of the listener means to wait.
  if (!socket.is_open() ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    const ErrorCode code = error == EACCES ? ErrorCode::kDenied : ErrorCode::kUnavailable;
    return Error{code, "there is no daemon at " + path + ": " + std::strerror(error)};
  }
  return LocalLink(socket.release());
}

bool LocalLink::is_open() const {
  return state_ && state_->is_open;
}
std::size_t LocalLink::unsent() const {
  if (is_open() && state_->inside != nullptr) {
    return state_->for_inside.size() + (state_->is_congested ? 1 : 0);
  }
  return is_open() ? state_->unsent.bytes() + state_->queued_bytes : 0;
}
bool LocalLink::is_starving() const {
  return is_open() && state_->starving_since && state_->unsent.empty();
}

void LocalLink::close() {
  if (!is_open()) return;
  // The descriptor stays ours until the end: somebody may be waiting at it.
  if (state_->socket >= 0) ::shutdown(state_->socket, SHUT_RDWR);
  state_->is_open = false;
}

void LocalLink::finish(Duration at_most) {
  if (!is_open()) return;
  if (state_->inside != nullptr) {
    static_cast<void>(flush_inside());
    state_->inside->detach();
    return close();
  }
  ::shutdown(state_->socket, SHUT_WR);
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (std::chrono::steady_clock::now() < deadline) {
    const ssize_t size = ::read(state_->socket, state_->joint.data(), state_->joint.size());
    if (size == 0 || (size < 0 && !would_block(errno) && errno != EINTR)) break;
    if (size < 0) wait(false, deadline - std::chrono::steady_clock::now());
  }
  close();
}

void LocalLink::queue(runtime::ToDaemon message) {
  if (!is_open()) return;
  if (state_->inside != nullptr) return state_->for_inside.push_back(std::move(message));
  state_->queued.push_back(state_->encoder.encode(message));
  state_->queued_bytes += state_->queued.back().size();
}

void LocalLink::put(wire::Encoded&& encoded) {
  state_->unsent.add(std::move(encoded.head));
  for (const Payload& payload : encoded.tail) state_->unsent.add(payload);
}

Status LocalLink::pump(std::vector<runtime::ToApplication>& received) {
  if (!is_open()) return Error{ErrorCode::kUnavailable, "not connected to a daemon"};
  if (state_->inside != nullptr) return pump_inside(received);
  // What the daemon said before it closed the connection counts, so reading comes first.
  Status status = read(received);
  if (status.ok()) status = write();
  if (!status.ok()) {
    static_cast<void>(read(received));
    close();
  }
  return status;
}

/// Makes the next messages ready. Memory that is not to be had is waited for, but not for long, and
/// not again before some was had.
void LocalLink::refill() {
  State& state = *state_;
  while (!state.queued.empty() && state.unsent.bytes() < kReadyBytes) {
    wire::Encoded& next = state.queued.front();
    const std::size_t size = next.size();
    const bool is_worth_waiting = !state.has_given_up && state.loans.is_worth_waiting(next);
    if (is_worth_waiting) {
      const auto now = std::chrono::steady_clock::now();
      if (!state.starving_since) state.starving_since = now;
      state.has_given_up = now - *state.starving_since >= kRetry;
    }
    const bool must_wait = is_worth_waiting && !state.has_given_up;
    if (!must_wait && state.loans.apply(next)) state.has_given_up = false;
    for (wire::Encoded& control : state.loans.take_controls()) put(std::move(control));
    if (must_wait) return;
    state.starving_since.reset();
    put(std::move(next));
    state.queued.pop_front();
    state.queued_bytes -= size;
  }
}

Status LocalLink::pump_inside(std::vector<runtime::ToApplication>& received) {
  if (!state_->inside->receive(received)) {
    close();
    return lost(0);
  }
  if (state_->is_congested) state_->is_congested = state_->inside->is_congested();
  return flush_inside();
}

Status LocalLink::flush_inside() {
  if (state_->for_inside.empty()) return success();
  state_->is_congested = state_->inside->send(state_->for_inside);
  state_->for_inside.clear();
  return success();
}

Status LocalLink::flush() {
  if (is_open() && state_->inside != nullptr) return flush_inside();
  return is_open() ? write() : Error{ErrorCode::kUnavailable, "not connected to a daemon"};
}

Status LocalLink::write() {
  while (true) {
    refill();
    if (state_->unsent.bytes() == 0) break;
    const int error = state_->unsent.write_to(state_->socket);
    if (error != 0 && would_block(error)) break;
    if (error != 0) return lost(error);
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
    if (frames.is_complete()) status = hand_on(received);
    if (rest.empty() || !status.ok()) break;
    status = frames.consume(rest);
  }
  return status;
}

Status LocalLink::hand_on(std::vector<runtime::ToApplication>& received) {
  wire::FrameReader& frames = state_->frames;
  Payload payload = frames.take_payload();
  if (frames.is_reference() && frames.header().empty()) {
    if (Status status = state_->loans.on_control(payload); !status.ok()) return status;
    for (wire::Encoded& control : state_->loans.take_controls()) put(std::move(control));
  } else {
    if (frames.is_reference()) {
      auto lent = state_->loans.resolve(payload);
      if (!lent.ok()) return lent.error();
      payload = std::move(lent).value();
    }
    auto message = state_->decoder.to_application(frames.header(), std::move(payload));
    if (!message.ok()) return message.error();
    received.push_back(std::move(message).value());
  }
  frames.next();
  return success();
}

bool LocalLink::wait(bool also_for_room, Duration at_most) const {
  PHX_CHECK(state_ != nullptr);
  if (state_->inside != nullptr) return state_->inside->wait(at_most, also_for_room);
  std::array<pollfd, 2> watched{
      pollfd{state_->socket, static_cast<short>(POLLIN | (also_for_room ? POLLOUT : 0)), 0},
      pollfd{state_->wake.get(), POLLIN, 0}};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(at_most).count();
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  // Who waits for room has to do with the socket alone.
  const nfds_t count = also_for_room ? 1 : 2;
  const int ready =
      ::poll(watched.data(), count, static_cast<int>(std::clamp<std::int64_t>(ms, 0, kMost)));
  eventfd_t ignored = 0;
  if (ready > 0 && watched[1].revents != 0) ::eventfd_read(state_->wake.get(), &ignored);
  return ready > 0;
}

void LocalLink::wake() const {
  PHX_CHECK(state_ != nullptr);
  if (state_->inside != nullptr) return state_->inside->wake();
  ::eventfd_write(state_->wake.get(), 1);
}

}  // namespace phx::local
