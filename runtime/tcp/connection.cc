#include "runtime/tcp/connection.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <string>
#include <utility>

namespace phx::tcp {
namespace {

/// Full reads in a row before others get their turn, and bytes written in a row.
constexpr int kReadsInARow = 4;
constexpr std::size_t kBytesInARow = std::size_t{4} << 20U;
constexpr std::size_t kLongBytes = std::size_t{32} << 10U;
constexpr std::size_t kBeginningBytes = 4096;

Error lost(const std::error_code& code) {
  const bool by_peer = code == asio::error::eof || code == asio::error::connection_reset;
  return {ErrorCode::kUnavailable, by_peer ? "closed by the peer" : code.message()};
}

bool would_block(const std::error_code& code) {
  return code == asio::error::would_block || code == asio::error::try_again;
}

}  // namespace

Connection::Connection(Socket socket, wire::Family family, ReadBuffer& shared, Handlers handlers,
                       PayloadWays ways)
    : socket_(std::move(socket)),
      loans_(std::move(ways.loans)),
      reader_(family, {.references = loans_ != nullptr}, std::move(ways.memory)),
      shared_(shared),
      handlers_(std::move(handlers)),
      timer_(socket_.get_executor()) {
  if (shared_.size() < kReadBufferBytes) shared_.resize(kReadBufferBytes);
  std::error_code ignored;
  socket_.non_blocking(true, ignored);
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
  queue_.add(std::move(encoded.head));
  for (const Payload& payload : encoded.tail) queue_.add(payload);
}

void Connection::put_controls() {
  for (wire::Encoded& control : loans_->take_controls()) put(std::move(control));
}

void Connection::flush() {
  if (awaits_writing_ || state_ == State::kLingering || state_ == State::kClosed) return;
  std::size_t written = 0;
  while (!queue_.empty() && written < kBytesInARow) {
    const std::size_t before = queue_.bytes();
    const std::error_code error(queue_.write_to(socket_.native_handle()),
                                asio::error::get_system_category());
    if (error && !would_block(error)) return on_write_error(lost(error));
    if (error) break;
    written += before - queue_.bytes();
  }
  written_ += written;
  report_drained();
  if (!queue_.empty()) {
    wait_writable();
  } else if (state_ == State::kDraining) {
    become_lingering();
  }
}

/// What the peer has sent before it closed counts: the end is reported when it was read.
void Connection::on_write_error(const Error& error) {
  if (state_ != State::kOpen) return become_closed(error);
  is_mute_ = true;
  queue_.clear();
  wait_readable();
}

void Connection::wait_writable() {
  awaits_writing_ = true;
  socket_.async_wait(Socket::wait_write, [self = shared_from_this()](const std::error_code& error) {
    self->awaits_writing_ = false;
    if (error) return;
    self->flush();
    self->report_part(!self->queue_.empty());
  });
}

void Connection::report_part(bool is_within_frame) {
  if (is_within_frame && state_ == State::kOpen && handlers_.on_part) handlers_.on_part();
}

/// Later, so that reading gets its turn before more is written.
void Connection::report_drained() {
  if (!mark_ || written_ < *mark_) return;
  mark_.reset();
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    if (self->state_ == State::kOpen && self->handlers_.on_drained) self->handlers_.on_drained();
  });
}

bool Connection::has_arrived() {
  if (state_ != State::kOpen || is_mute_ || !queue_.empty()) return false;
  // What the system still has for a peer that does not read is lost some minutes after we close.
  int unacknowledged = 0;
  return ::ioctl(socket_.native_handle(), TIOCOUTQ, &unacknowledged) != 0 || unacknowledged == 0;
}

void Connection::pause_reading(bool paused) {
  paused_ = paused;
  if (!paused_) wait_readable();
}

void Connection::wait_readable() {
  if (awaits_reading_ || state_ == State::kClosed) return;
  if (paused_ && state_ == State::kOpen) return;
  awaits_reading_ = true;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const std::error_code& error) {
    self->awaits_reading_ = false;
    if (!error) self->on_readable();
  });
}

void Connection::on_readable() {
  if (state_ == State::kOpen) {
    if (paused_) return;
    int reads = 1;
    while (read_once() && reads < kReadsInARow) ++reads;
    flush();  // answers of the loans
    handlers_.on_batch_end();
    report_part(reader_.space().size() >= kBeginningBytes);
  } else {
    discard();
  }
  wait_readable();
}

bool Connection::read_once() {
  const std::span<std::byte> direct = reader_.space();
  // Behind a long payload only the beginning of the next frame is read along, because its payload
  // should go to its place directly, too.
  const std::size_t along = direct.size() >= kLongBytes ? kBeginningBytes : shared_.size();
  const std::array<asio::mutable_buffer, 2> buffers{
      asio::mutable_buffer(direct.data(), direct.size()),
      asio::mutable_buffer(shared_.data(), along)};
  std::error_code error;
  const std::size_t size = socket_.read_some(buffers, error);
  if (error) {
    if (!would_block(error)) become_closed(lost(error));
    return false;
  }
  const Status taken = take(size, direct.size());
  if (!taken.ok()) become_closed(taken.error());
  return state_ == State::kOpen && !paused_ && size == direct.size() + along;
}

Status Connection::take(std::size_t size, std::size_t direct) {
  Status status = reader_.advance(std::min(size, direct));
  if (status.ok()) status = hand_on();
  std::span<const std::byte> rest(shared_.data(), size > direct ? size - direct : 0);
  while (status.ok() && !rest.empty() && state_ == State::kOpen) {
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
  Status status = loans_->on_control(reference);
  put_controls();
  return status;
}

void Connection::discard() {
  std::error_code error;
  for (int reads = 0; !error && reads < kReadsInARow; ++reads) {
    socket_.read_some(asio::buffer(shared_), error);
  }
  if (!error || would_block(error)) return;
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
  timer_.expires_after(kDrainTimeout);
  timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error) self->become_closed({ErrorCode::kTimeout, "the peer did not take what was sent"});
  });
  wait_readable();
  flush();
}

void Connection::become_lingering() {
  state_ = State::kLingering;
  std::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
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
  std::error_code ignored;
  socket_.close(ignored);
  asio::post(socket_.get_executor(), [self = shared_from_this(), error] {
    if (!self->is_silent_) self->handlers_.on_closed(error);
  });
}

}  // namespace phx::tcp
