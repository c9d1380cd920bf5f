#pragma once

#include <asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "overlay/base/payload.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {

/// Writes into the pipe from which a process reads its standard input, as fast as that reads. A
/// process that closes it, or ends, wants nothing more. REQUIRES that this process ignores SIGPIPE,
/// as phoenixd does. Owned by shared_ptr. Not thread-safe: the io_context's thread only.
class InputPipe : public std::enable_shared_from_this<InputPipe> {
 public:
  /// What is beyond this is not taken: the tool keeps less than that under way [limit].
  static constexpr std::size_t kPendingMax = std::size_t{1} << 20U;
  /// So many bytes are in the pipe, or nobody wants them.
  using OnTaken = std::function<void(std::uint64_t bytes, bool is_closed)>;

  InputPipe(const asio::any_io_executor& executor, Descriptor write_end, OnTaken on_taken);

  /// The bytes from `offset` on; those that came before are left out. Behind a gap they are
  /// ignored. `on_taken` follows, never from within this call.
  void put(std::uint64_t offset, const Payload& bytes, bool is_end);
  /// Nothing is written or reported any more.
  void close();

 private:
  void wait();
  void write();

  asio::posix::stream_descriptor pipe_;
  OnTaken on_taken_;
  std::string pending_;  ///< Came, and not written.
  std::uint64_t written_ = 0;
  bool has_end_ = false;  ///< Nothing follows what is pending.
  bool is_closed_ = false;
  bool is_waiting_ = false;  ///< An async_wait is under way.
};

}  // namespace phx::tcp
