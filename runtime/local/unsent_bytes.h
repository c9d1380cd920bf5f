#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "overlay/base/payload.h"

namespace phx::local {

/// Bytes waiting to be written, in order. Payloads worth it are shared, short pieces are joined, so
/// that one system call carries many small messages. No I/O.
class UnsentBytes {
 public:
  /// Pieces up to this size are copied into the chunk before: cheaper than one of their own.
  static constexpr std::size_t kJoinBytes = 2048;
  static constexpr std::size_t kChunkBytes = std::size_t{32} << 10U;
  /// Of one system call.
  static constexpr std::size_t kPartsMax = 64;

  void add(Bytes&& bytes);
  void add(const Payload& payload);
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The first parts, valid until something changes.
  [[nodiscard]] std::vector<iovec> front() const;
  /// The first `size` bytes are written. REQUIRES size <= size().
  void pop(std::size_t size);

 private:
  /// Own bytes, or a shared payload.
  struct Chunk {
    Bytes own;
    Payload shared;
    [[nodiscard]] std::span<const std::byte> view() const {
      return own.empty() ? shared.bytes() : std::span<const std::byte>(own);
    }
  };
  void join(std::span<const std::byte> bytes);

  std::deque<Chunk> chunks_;  ///< None is empty.
  std::size_t written_ = 0;   ///< Of the first one.
  std::size_t size_ = 0;
};

}  // namespace phx::local
