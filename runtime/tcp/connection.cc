#include "runtime/tcp/connection.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "runtime/tcp/steady_now.h"

namespace phx::tcp {
namespace {

/// Written in a row before others get their turn.
constexpr std::size_t kBytesInARow = std::size_t{4} << 20U;
constexpr std::size_t kLongBytes = std::size_t{32} << 10U;
constexpr std::size_t kBeginningBytes = 4096;
/// Of a ring, before others get their turn.
constexpr int kLooksInARow = 16;

/// `error`: of the system; 0: the peer has closed its end.
Error lost(int error) {
  if (error == EPROTO) return {ErrorCode::kBadInput, "the counts of a ring make no sense"};
  const bool by_peer = error == 0 || error == ECONNRESET;
  return {ErrorCode::kUnavailable, by_peer ? "closed by the peer" : std::strerror(error)};
}

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK;
}

}  // namespace

Connection::Connection(Loop& loop, Descriptor socket, wire::Family family, ReadBuffer& shared,
                       Handlers handlers, PayloadWays ways)
    : loop_(loop),
      socket_(std::move(socket)),
      loans_(std::move(ways.loans)),
      rings_(std::move(ways.rings)),
      reader_(family, {.references = loans_ != nullptr}, std::move(ways.memory)),
      shared_(shared),
      handlers_(std::move(handlers)),
      timer_(loop.io()) {
  if (shared_.size() < kReadBufferBytes) shared_.resize(kReadBufferBytes);
  ::fcntl(socket_.get(), F_SETFL, ::fcntl(socket_.get(), F_GETFL) | O_NONBLOCK);
}

void Connection::start() {
  is_started_ = true;
  watch();
}

void Connection::send(wire::Encoded&& encoded) {
  if (state_ != State::kOpen || is_mute_) return;
  if (!wire::is_within(encoded, {})) {
    return become_closed({ErrorCode::kLimit, "a message of " + std::to_string(encoded.size()) +
                                                 " bytes is too large to be sent"});
  }
  if (loans_) {
    loans_->apply(encoded);
    put_controls();
  }
  put(std::move(encoded));
}

void Connection::put(wire::Encoded&& encoded) {
  if (rings_ && queue_.empty() && rings_->put(encoded)) return;
  queue_.add(std::move(encoded.head));
  for (const Payload& payload : encoded.tail) queue_.add(payload);
}

void Connection::put_controls() {
  for (wire::Encoded& control : loans_->take_controls()) put(std::move(control));
}

void Connection::forget_the_dead() {
  if (!loans_ || state_ != State::kOpen || is_mute_) return;
  loans_->forget_the_dead();
  put_controls();
  flush();
}

void Connection::flush() {
  if (awaits_writing_ || state_ == State::kLingering || state_ == State::kClosed) return;
  std::size_t written = 0;
  int error = 0;
  do {
    const std::size_t before = queue_.bytes();
    if (rings_) {
      error = rings_->write(queue_, socket_.get());
    } else if (!queue_.empty()) {
      error = queue_.write_to(socket_.get());
    }
    written += before - queue_.bytes();
  } while (error == 0 && !queue_.empty() && written < kBytesInARow);
  if (error == EPROTO) return become_closed(lost(error));
  if (error != 0 && !would_block(error)) {
    if (broken_by_ == 0 && error != EPIPE) broken_by_ = error;  // EPIPE: it may have closed it.
    return on_write_error(lost(error));
  }
  written_ += written;
  if (written > 0) flushed_at_ = steady_now();
  report_drained();
  if (!queue_.empty()) {
    awaits_writing_ = true;
    watch();
    if (error == 0 && rings_ && rings_->is_writing()) ring_later();
  } else if (state_ == State::kDraining) {
    become_lingering();
  }
}

/// What the peer has sent before it closed counts: the end is reported when it was read.
void Connection::on_write_error(const Error& error) {
  if (state_ != State::kOpen) return become_closed(error);
  is_mute_ = is_started_ = true;
  queue_.clear();
  watch();
}

/// Tells the loop what is waited for, if that is another thing than before.
void Connection::watch() {
  if (state_ == State::kClosed) return;
  const bool reads = is_started_ && ((!paused_ && !end_) || state_ != State::kOpen);
  const bool writes_ring = rings_ && rings_->is_writing();
  const Loop::Ready wanted{.readable = reads, .writable = awaits_writing_ && !writes_ring};
  if (watch_) return loop_.want(*watch_, wanted);
  watch_ = loop_.watch(socket_.get(), wanted,
                       [self = shared_from_this()](Loop::Ready ready) { self->on_ready(ready); });
}

void Connection::on_ready(Loop::Ready ready) {
  if (ready.writable && awaits_writing_ && !(rings_ && rings_->is_writing())) {
    awaits_writing_ = false;
    flush();
    report_part(!queue_.empty());
  }
  if (ready.readable && state_ != State::kClosed) on_readable();
  watch();
}

void Connection::report_part(bool is_within_frame) {
  if (is_within_frame && state_ == State::kOpen && handlers_.on_part) handlers_.on_part();
}

/// Later, so that reading gets its turn before more is written.
void Connection::report_drained() {
  const auto end = std::upper_bound(marks_.begin(), marks_.end(), written_);
  if (end == marks_.begin()) return;
  const bool is_posted = passed_ > 0;
  passed_ += static_cast<std::size_t>(end - marks_.begin());
  marks_.erase(marks_.begin(), end);
  if (is_posted) return;
  loop_.post([self = shared_from_this()] {
    const std::size_t marks = std::exchange(self->passed_, 0);
    if (self->state_ == State::kOpen && self->handlers_.on_drained) {
      self->handlers_.on_drained(marks);
    }
  });
}

bool Connection::has_arrived() {
  if (state_ != State::kOpen || is_mute_ || !queue_.empty()) return false;
  // What the system still has for a peer that does not read is lost some minutes after we close.
  int unacknowledged = 0;
  return ::ioctl(socket_.get(), TIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0;
}

void Connection::pause_reading(bool paused) {
  paused_ = paused;
  if (is_started_) watch();
  if (!paused && reads_ring()) ring_later();
}

void Connection::on_readable() {
  if (state_ != State::kOpen) return discard();
  if (reads_ring()) return on_socket_end();
  if (paused_) return;
  read_once();
  reads_ring() ? read_ring() : end_reading();
}

void Connection::end_reading() {
  flush();  // answers of the loans
  handlers_.on_batch_end();
  report_part(reader_.space().size() >= kBeginningBytes);
}

/// The peer has mapped the rings, and what it says next is in its own.
Status Connection::on_mark() {
  Status status = rings_->on_mark();
  if (!status.ok()) return status;
  bell_ = loop_.watch(rings_->bell(), {.readable = true, .anew = true},
                      [self = shared_from_this()](Loop::Ready) { self->on_bell(); });
  rings_->move(queue_);
  return status;
}

/// As if the bell had rung: for what must not be done now.
void Connection::ring_later() {
  loop_.post([self = shared_from_this()] { self->on_bell(); });
}

/// There is something in the ring, or room in ours.
void Connection::on_bell() {
  if (state_ == State::kClosed) return;
  if (rings_->is_writing() && std::exchange(awaits_writing_, false)) flush();
  if (state_ != State::kOpen) return rings_->discard();
  if (!paused_) read_ring();
}

void Connection::read_ring() {
  for (int looks = 0; state_ == State::kOpen && !paused_; ++looks) {
    if (looks == kLooksInARow) {
      ring_later();
      break;
    }
    const auto bytes = rings_->peek();
    if (!bytes.ok()) {
      become_closed(bytes.error());
    } else if (!bytes.value().empty()) {
      const Status consumed = consume(bytes.value(), true);
      rings_->take(bytes.value().size());
      if (!consumed.ok()) become_closed(consumed.error());
    } else if (end_) {
      become_closed(*end_);
    } else if (rings_->may_sleep_for_bytes()) {
      break;
    }
  }
  end_reading();
}

/// After the stream has moved into the rings the socket says only that the peer is gone.
void Connection::on_socket_end() {
  std::byte unexpected{};
  const ssize_t size = ::recv(socket_.get(), &unexpected, sizeof(unexpected), MSG_DONTWAIT);
  const int error = size == 0 ? 0 : errno;
  if (size < 0 && (would_block(error) || error == EINTR)) return;
  if (size > 0) {
    return become_closed({ErrorCode::kBadInput, "bytes beside the ring that the stream is in"});
  }
  end_ = lost(error);
  read_ring();
}

/// A turn: messages of other connections, which may be short, wait behind it.
void Connection::read_once() {
  const std::span<std::byte> direct = reader_.space();
  // Behind a long payload only the beginning of the next frame is read along, because its payload
  // should go to its place directly, too.
  const std::size_t along = direct.size() >= kLongBytes ? kBeginningBytes : shared_.size();
  const std::array<iovec, 2> parts{iovec{direct.data(), direct.size()},
                                   iovec{shared_.data(), along}};
  const ssize_t count = ::readv(socket_.get(), parts.data(), static_cast<int>(parts.size()));
  if (count <= 0) {
    const int error = count == 0 ? 0 : errno;
    if (count < 0 && (would_block(error) || error == EINTR)) return;
    if (broken_by_ == 0) broken_by_ = error;
    return become_closed(lost(error));
  }
  const auto size = static_cast<std::size_t>(count);
  const Status taken = take(size, direct.size());
  if (!taken.ok()) become_closed(taken.error());
}

Status Connection::take(std::size_t size, std::size_t direct) {
  Status status = reader_.advance(std::min(size, direct));
  if (status.ok()) status = hand_on();
  if (!status.ok()) return status;
  return consume(std::span(shared_).first(size > direct ? size - direct : 0), false);
}

/// Frames copy what they are made of before they look at it, so `rest` may change under way.
Status Connection::consume(std::span<const std::byte> rest, bool is_from_ring) {
  Status status = success();
  while (status.ok() && !rest.empty() && state_ == State::kOpen) {
    if (reads_ring() != is_from_ring) {
      return Error{ErrorCode::kBadInput, "bytes beside the ring that the stream is in"};
    }
    status = reader_.consume(rest);
    if (status.ok()) status = hand_on();
  }
  return status;
}

Status Connection::hand_on() {
  if (!reader_.is_complete() || state_ != State::kOpen) return success();
  Payload payload = reader_.take_payload();
  Status status = reader_.is_reference() ? on_reference(payload)
                                         : handlers_.on_frame(reader_.header(), std::move(payload));
  reader_.next();
  return status;
}

Status Connection::on_reference(const Payload& reference) {
  if (!reader_.header().empty()) {
    auto payload = loans_->resolve(reference);
    if (!payload.ok()) return payload.error();
    return handlers_.on_frame(reader_.header(), std::move(payload).value());
  }
  if (rings_ && Rings::is_mark(reference)) return on_mark();
  Status status = loans_->on_control(reference);
  put_controls();
  return status;
}

void Connection::discard() {
  if (reads_ring()) rings_->discard();
  const ssize_t size = ::read(socket_.get(), shared_.data(), shared_.size());
  const int error = size == 0 ? 0 : errno;
  if (size > 0 || (size < 0 && (would_block(error) || error == EINTR))) return;
  // The peer has closed its end too, so nothing can be lost any more.
  if (state_ == State::kLingering) become_closed({ErrorCode::kAborted, "drained"});
  if (state_ == State::kDraining) become_closed(lost(error));
}

void Connection::close() {
  is_silent_ = true;
  become_closed({ErrorCode::kAborted, "closed here"});
}

void Connection::close_after_drain() {
  if (state_ != State::kOpen) return;
  state_ = State::kDraining;
  is_started_ = true;
  loop_.touch();
  timer_.expires_after(kDrainTimeout);
  timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error) self->become_closed({ErrorCode::kTimeout, "the peer did not take what was sent"});
  });
  watch();
  flush();
}

void Connection::become_lingering() {
  state_ = State::kLingering;
  ::shutdown(socket_.get(), SHUT_WR);
  loop_.touch();
  timer_.expires_after(kLinger);
  timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error) self->become_closed({ErrorCode::kAborted, "drained"});
  });
}

void Connection::become_closed(const Error& error) {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  queue_.clear();
  timer_.cancel();
  loop_.touch();
  if (watch_) loop_.unwatch(*watch_);
  if (bell_) loop_.unwatch(*bell_);
  socket_.reset();
  loop_.post([self = shared_from_this(), error] {
    if (!self->is_silent_) self->handlers_.on_closed(error);
  });
}

}  // namespace phx::tcp
