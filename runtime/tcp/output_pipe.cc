#include "runtime/tcp/output_pipe.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

namespace phx::tcp {
namespace {

constexpr int kReadsMax = 64;

}  // namespace

OutputPipe::OutputPipe(const asio::any_io_executor& executor, Descriptor read_end, OnPiece on_piece)
    : pipe_(executor, read_end.release()), line_timer_(executor), on_piece_(std::move(on_piece)) {}

void OutputPipe::pause(bool paused) {
  paused_ = paused;
  if (!paused_) wait();
}

void OutputPipe::wait() {
  if (paused_ || waiting_ || !pipe_.is_open()) return;
  waiting_ = true;
  pipe_.async_wait(asio::posix::descriptor_base::wait_read,
                   [self = shared_from_this()](const std::error_code& error) {
                     self->waiting_ = false;
                     if (error || self->paused_ || !self->pipe_.is_open()) return;
                     if (self->read_once() == Outcome::kEnded) self->finish();
                     self->watch_rest();
                     self->wait();
                   });
}

OutputPipe::Outcome OutputPipe::read_once() {
  const std::size_t before = pending_.size();
  pending_.resize(kPieceBytes);
  ssize_t size = 0;
  do {
    size = ::read(pipe_.native_handle(), pending_.data() + before, kPieceBytes - before);
  } while (size < 0 && errno == EINTR);
  const bool is_empty = size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  pending_.resize(before + (size > 0 ? static_cast<std::size_t>(size) : 0));
  if (size <= 0) return is_empty ? Outcome::kEmpty : Outcome::kEnded;
  const std::size_t line_end = pending_.rfind('\n');
  if (pending_.size() == kPieceBytes && line_end == std::string::npos) {
    hand_on(pending_.size());
  } else if (line_end != std::string::npos) {
    hand_on(line_end + 1);
  }
  return Outcome::kMore;
}

void OutputPipe::hand_on(std::size_t size) {
  if (size == 0) return;
  const Payload piece = Payload::copy_of(std::string_view(pending_).substr(0, size));
  pending_.erase(0, size);
  if (pending_.empty()) pending_.shrink_to_fit();
  on_piece_(piece);
}

void OutputPipe::watch_rest() {
  if (pending_.empty()) return;
  line_timer_.expires_after(kLineTimeout);
  line_timer_.async_wait([self = shared_from_this()](const std::error_code& error) {
    if (!error) self->hand_on(self->pending_.size());
  });
}

void OutputPipe::finish() {
  if (!pipe_.is_open()) return;
  // Bounded, because a process that left the group may go on writing.
  for (int reads = 0; reads < kReadsMax && read_once() == Outcome::kMore; ++reads) {
  }
  hand_on(pending_.size());
  line_timer_.cancel();
  std::error_code ignored;
  pipe_.close(ignored);
}

}  // namespace phx::tcp
