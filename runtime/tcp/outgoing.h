#pragma once

#include <array>
#include <asio/buffer.hpp>
#include <cstddef>
#include <deque>
#include <span>

#include "overlay/base/payload.h"

namespace phx::tcp {

/// The bytes waiting to be written to one connection, in order, without a copy of any payload worth
/// sharing: small pieces are joined, so that one system call carries many small frames. Plain
/// bookkeeping, no I/O.
class Outgoing {
 public:
  /// Pieces up to this size are copied into the current chunk: cheaper than an entry of their own.
  static constexpr std::size_t kJoinBytes = 2048;
  static constexpr std::size_t kChunkBytes = std::size_t{32} << 10U;
  /// As many as Asio hands to one system call.
  static constexpr std::size_t kBuffersMax = 64;

  /// Views into the queue, valid until it changes.
  struct Gathered {
    std::array<asio::const_buffer, kBuffersMax> buffers;
    std::size_t count = 0;
    [[nodiscard]] const asio::const_buffer* begin() const { return buffers.data(); }
    [[nodiscard]] const asio::const_buffer* end() const { return buffers.data() + count; }
    using value_type = asio::const_buffer;
    using const_iterator = const asio::const_buffer*;
  };

  void add(Bytes&& bytes);
  void add(const Payload& payload);

  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] Gathered front() const;
  /// The first `size` bytes are written. REQUIRES size <= bytes().
  void pop(std::size_t size);
  void clear();

 private:
  /// Either own bytes or a shared payload.
  struct Chunk {
    Bytes own;
    Payload shared;
    [[nodiscard]] std::span<const std::byte> view() const {
      return own.empty() ? shared.bytes() : std::span<const std::byte>(own);
    }
  };
  void join(std::span<const std::byte> bytes);

  std::deque<Chunk> chunks_;
  std::size_t written_ = 0;  ///< Of the first chunk.
  std::size_t bytes_ = 0;    ///< Not yet written, in all chunks.
};

}  // namespace phx::tcp
