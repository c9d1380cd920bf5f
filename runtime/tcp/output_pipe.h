#pragma once

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "overlay/base/payload.h"
#include "overlay/base/time.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {

/// Reads what a process writes into one pipe and hands it on in whole lines where possible: a piece
/// ends with a line end, has kPieceBytes, or is a rest that nothing was added to for kLineTimeout.
/// Owned by shared_ptr. Not thread-safe: the io_context's thread only.
class OutputPipe : public std::enable_shared_from_this<OutputPipe> {
 public:
  static constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;
  static constexpr Duration kLineTimeout = 50ms;
  using OnPiece = std::function<void(Payload)>;

  OutputPipe(const asio::any_io_executor& executor, Descriptor read_end, OnPiece on_piece);

  /// pause(false) begins or goes on reading. While paused the process blocks once the pipe is full.
  void pause(bool paused);
  /// Hands on everything the pipe holds now, and closes it.
  void finish();

 private:
  enum class Outcome { kMore, kEmpty, kEnded };

  void wait();
  Outcome read_once();
  void hand_on(std::size_t size);
  void watch_rest();

  asio::posix::stream_descriptor pipe_;
  asio::steady_timer line_timer_;
  OnPiece on_piece_;
  std::string pending_;  ///< Read, not yet handed on; less than a piece.
  bool paused_ = true;
  bool waiting_ = false;  ///< An async_wait is under way.
};

}  // namespace phx::tcp
