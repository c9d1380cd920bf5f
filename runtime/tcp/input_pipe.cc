#include "runtime/tcp/input_pipe.h"

#include <unistd.h>

#include <asio/post.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

namespace phx::tcp {

InputPipe::InputPipe(const asio::any_io_executor& executor, Descriptor write_end, OnTaken on_taken)
    : pipe_(executor, write_end.release()), on_taken_(std::move(on_taken)) {}

void InputPipe::put(std::uint64_t offset, const Payload& bytes, bool is_end) {
  const std::uint64_t come = written_ + pending_.size();
  const bool is_gap = offset > come || pending_.size() > kPendingMax;
  if (!is_closed_ && !has_end_ && !is_gap) {
    const std::uint64_t known = come - offset;
    if (known < bytes.size()) pending_ += bytes.text().substr(static_cast<std::size_t>(known));
    has_end_ = is_end && known <= bytes.size();
  }
  if (!is_closed_) return wait();
  asio::post(pipe_.get_executor(), [self = shared_from_this()] {
    if (self->on_taken_) self->on_taken_(self->written_, true);
  });
}

void InputPipe::wait() {
  if (std::exchange(is_waiting_, true)) return;
  pipe_.async_wait(asio::posix::descriptor_base::wait_write,
                   [self = shared_from_this()](const std::error_code& error) {
                     self->is_waiting_ = false;
                     if (!error && !self->is_closed_) self->write();
                   });
}

void InputPipe::write() {
  std::size_t size = 0;
  bool is_broken = false;
  while (size < pending_.size() && !is_broken) {
    const ssize_t now =
        ::write(pipe_.native_handle(), pending_.data() + size, pending_.size() - size);
    if (now > 0) size += static_cast<std::size_t>(now);
    if (now < 0 && errno == EAGAIN) break;
    is_broken = now < 0 && errno != EINTR;
  }
  pending_.erase(0, size);
  written_ += size;
  is_closed_ = is_broken || (has_end_ && pending_.empty());
  std::error_code ignored;
  if (is_closed_) pipe_.close(ignored);
  if (!is_closed_ && !pending_.empty()) wait();
  if (on_taken_) on_taken_(written_, is_closed_);
}

void InputPipe::close() {
  on_taken_ = nullptr;
  is_closed_ = true;
  std::error_code ignored;
  pipe_.close(ignored);
}

}  // namespace phx::tcp
