#include "runtime/local/local_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
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
#include "runtime/tcp/rings.h"
#include "runtime/wire/codec.h"
#include "runtime/wire/framing.h"

namespace phx::local {
namespace {

/// What one system call reads beyond the frame that is being filled.
constexpr std::size_t kReadBytes = std::size_t{64} << 10U;

Error lost(int error) {
  if (error == EPROTO) return {ErrorCode::kBadInput, "the counts of a ring make no sense"};
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

/// Counts a thread for as long as it lives.
class Waiting {
 public:
  explicit Waiting(std::atomic<int>& count) : count_(count) { ++count_; }
  ~Waiting() { --count_; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::atomic<int>& count_;
};

Error beside_the_ring() {
  return {ErrorCode::kBadInput, "bytes beside the ring that the daemon's stream is in"};
}

/// Reads as readv(), and what descriptors come along.
ssize_t read_with_descriptors(int socket, std::span<iovec> parts,
                              std::vector<tcp::Descriptor>& descriptors) {
  constexpr std::size_t kMost = 8;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(kMost * sizeof(int))> beside{};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  message.msg_control = beside.data();
  message.msg_controllen = beside.size();
  const ssize_t size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (size < 0) return size;
  for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
    if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS) continue;
    std::array<int, kMost> came{};
    const std::size_t bytes = std::min(at->cmsg_len - CMSG_LEN(0), sizeof(came));
    std::memcpy(came.data(), CMSG_DATA(at), bytes);
    for (std::size_t i = 0; i < bytes / sizeof(int); ++i) descriptors.emplace_back(came.at(i));
  }
  return size;
}

}  // namespace

struct LocalLink::State {
  explicit State(int connected)
      : socket(connected),
        wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        loans(wire::Family::kToDaemon, pools, connected),
        joint(kReadBytes) {}
  explicit State(tcp::EmbeddedDaemon& daemon)
      : inside(&daemon), loans(wire::Family::kToDaemon, pools, -1) {}
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
  tcp::SharedPools pools;
  tcp::Loans loans;
  wire::FrameReader frames{wire::Family::kToApplication, {.references = true}};
  Bytes joint;             ///< Where short frames land together.
  bool has_heard = false;  ///< The daemon has written something: it can offer no rings any more.
  std::unique_ptr<tcp::Rings> rings;
  std::atomic<tcp::Rings*> seen_rings = nullptr;  ///< The same, for whoever waits.
  // What a wait() has seen and left for the owner.
  mutable std::atomic<bool> has_rung = false;
  mutable std::atomic<bool> socket_is_ready = false;
  mutable std::atomic<int> waiting = 0;  ///< Threads in wait(), which have to see the bell.
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
    hush();
    if (state_->rings) state_->rings->discard();
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
  if (state_->rings && state_->unsent.empty() && state_->rings->put(encoded)) return;
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
  State& state = *state_;
  while (true) {
    refill();
    const bool has_rings = state.rings != nullptr;
    if (!has_rings && state.unsent.empty()) break;
    const int error = has_rings ? state.rings->write(state.unsent, state.socket)
                                : state.unsent.write_to(state.socket);
    if (error != 0 && would_block(error)) break;
    if (error != 0) return lost(error);
    if (state.unsent.empty() && (state.queued.empty() || state.starving_since)) break;
  }
  return success();
}

Status LocalLink::read(std::vector<runtime::ToApplication>& received) {
  State& state = *state_;
  hush();
  if (!state.rings || !state.rings->is_reading()) {
    Status status = read_socket(received);
    if (!status.ok() || !state.rings || !state.rings->is_reading()) return status;
  }
  const std::size_t before = received.size();
  Status status = read_ring(received);
  const bool may_be_over = received.size() == before || state.socket_is_ready.load();
  return status.ok() && may_be_over ? look_at_socket(received) : status;
}

Status LocalLink::read_socket(std::vector<runtime::ToApplication>& received) {
  State& state = *state_;
  while (true) {
    const std::span<std::byte> direct = state.frames.space();
    std::array<iovec, 2> parts{iovec{direct.data(), direct.size()},
                               iovec{state.joint.data(), state.joint.size()}};
    std::vector<tcp::Descriptor> offered;
    const ssize_t size = state.has_heard
                             ? ::readv(state.socket, parts.data(), static_cast<int>(parts.size()))
                             : read_with_descriptors(state.socket, parts, offered);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && would_block(errno)) return success();
    if (size <= 0) return lost(size == 0 ? 0 : errno);
    if (!std::exchange(state.has_heard, true)) open_rings(std::move(offered));
    const auto count = static_cast<std::size_t>(size);
    const std::size_t in_place = std::min(count, direct.size());
    Status status = state.frames.advance(in_place);
    if (status.ok() && state.frames.is_complete()) status = hand_on(received);
    if (status.ok()) {
      status = take(std::span(state.joint).first(count - in_place), false, received);
    }
    if (!status.ok() || count < direct.size() + state.joint.size()) return status;
  }
}

/// As much as the ring holds, at most: the daemon may go on writing meanwhile.
Status LocalLink::read_ring(std::vector<runtime::ToApplication>& received) {
  for (std::size_t read = 0; read < tcp::Rings::kRingBytes;) {
    const auto bytes = state_->rings->peek();
    if (!bytes.ok()) return bytes.error();
    if (bytes.value().empty()) break;
    Status status = take(bytes.value(), true, received);
    state_->rings->take(bytes.value().size());
    if (!status.ok()) return status;
    read += bytes.value().size();
  }
  return success();
}

/// Once the stream has moved, the socket says only that the daemon is gone.
Status LocalLink::look_at_socket(std::vector<runtime::ToApplication>& received) {
  state_->socket_is_ready = false;
  std::byte unexpected{};
  const ssize_t size = ::recv(state_->socket, &unexpected, sizeof(unexpected), MSG_DONTWAIT);
  const int error = size == 0 ? 0 : errno;
  if (size < 0 && (would_block(error) || error == EINTR)) return success();
  if (size > 0) return beside_the_ring();
  // What it said before it closed counts.
  Status status = read_ring(received);
  return status.ok() ? lost(error) : status;
}

/// Frames copy what they are made of before they look at it, so `rest` may change under way.
Status LocalLink::take(std::span<const std::byte> rest, bool is_from_ring,
                       std::vector<runtime::ToApplication>& received) {
  wire::FrameReader& frames = state_->frames;
  Status status = success();
  while (status.ok() && !rest.empty()) {
    if ((state_->rings && state_->rings->is_reading()) != is_from_ring) return beside_the_ring();
    status = frames.consume(rest);
    if (status.ok() && frames.is_complete()) status = hand_on(received);
  }
  return status;
}

/// Whoever waits already does not watch the bell, and is woken to do so.
void LocalLink::open_rings(std::vector<tcp::Descriptor> offered) {
  State& state = *state_;
  if (offered.empty()) return;
  state.rings = tcp::Rings::open(std::move(offered));
  if (!state.rings) return;
  state.seen_rings = state.rings.get();
  state.rings->move(state.unsent);
  wake();
}

/// Not as long as another thread may be about to see it: the daemon rings only once for it. One
/// that has come while the bell was ended looks anew.
void LocalLink::hush() {
  if (state_->waiting.load() > 0 || !state_->has_rung.exchange(false)) return;
  state_->rings->hush();
  if (state_->waiting.load() > 0) wake();
}

Status LocalLink::hand_on(std::vector<runtime::ToApplication>& received) {
  wire::FrameReader& frames = state_->frames;
  Payload payload = frames.take_payload();
  const bool is_control = frames.is_reference() && frames.header().empty();
  if (is_control && state_->rings && tcp::Rings::is_mark(payload)) {
    if (Status status = state_->rings->on_mark(); !status.ok()) return status;
  } else if (is_control) {
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
  const Waiting waiting(state_->waiting);
  tcp::Rings* const rings = state_->seen_rings;
  const bool for_ring_room = also_for_room && rings != nullptr && rings->is_writing();
  if (rings != nullptr && !rings->may_sleep_for_bytes()) return true;
  if (for_ring_room && !rings->may_sleep_for_room()) return true;
  const auto events = static_cast<short>(POLLIN | (also_for_room && !for_ring_room ? POLLOUT : 0));
  const int bell = rings != nullptr ? rings->bell() : -1;  // which is passed over
  // Who waits for room has to do with the daemon alone.
  const int wake = also_for_room ? -1 : state_->wake.get();
  std::array<pollfd, 3> watched{pollfd{state_->socket, events, 0}, pollfd{bell, POLLIN, 0},
                                pollfd{wake, POLLIN, 0}};
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(at_most).count();
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const int ready = ::poll(watched.data(), watched.size(),
                           static_cast<int>(std::clamp<std::int64_t>(ms, 0, kMost)));
  if (ready <= 0) return false;
  if (watched[0].revents != 0) state_->socket_is_ready = true;
  // Not taken back here: whoever else waits has to see it, too.
  if (watched[1].revents != 0) state_->has_rung = true;
  eventfd_t ignored = 0;
  if (watched[2].revents != 0) ::eventfd_read(state_->wake.get(), &ignored);
  return true;
}

void LocalLink::wake() const {
  PHX_CHECK(state_ != nullptr);
  if (state_->inside != nullptr) return state_->inside->wake();
  ::eventfd_write(state_->wake.get(), 1);
}

}  // namespace phx::local
