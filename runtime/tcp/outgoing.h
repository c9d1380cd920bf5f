#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <utility>

#include "overlay/base/payload.h"

namespace phx::tcp {

/// The bytes waiting to be written to one connection, in order, without a copy of any payload worth
/// sharing: small pieces are joined, so that one system call carries many small frames.
class Outgoing {
 public:
  /// Pieces up to this size are copied into the current chunk: cheaper than an entry of their own.
  static constexpr std::size_t kJoinBytes = 2048;
  static constexpr std::size_t kChunkBytes = std::size_t{32} << 10U;
  /// Of one system call.
  static constexpr std::size_t kPartsMax = 64;
  static constexpr std::size_t kDescriptorsMax = 4;
  static constexpr std::size_t kAll = ~std::size_t{0};

  /// Views into the queue, valid until it changes.
  struct Gathered {
    std::array<iovec, kPartsMax> parts;
    std::size_t count = 0;
    [[nodiscard]] std::span<const iovec> view() const { return std::span(parts).first(count); }
    void cut(std::size_t most);
  };

  /// Calls `write(bytes)`, which appends something short, or nothing and returns false. Returns the
  /// same.
  template <class Write>
  bool append(Write write) {
    Bytes* const joint = joint_with_room(kJoinBytes);
    Bytes& to = joint != nullptr ? *joint : spare_;
    const std::size_t before = to.size();
    if (!write(to)) return false;
    bytes_ += to.size() - before;
    if (joint == nullptr) chunks_.push_back(Chunk{std::exchange(spare_, {}), {}});
    return true;
  }
  void add(Bytes&& bytes);
  void add(const Payload& payload);

  [[nodiscard]] bool empty() const { return bytes_ == 0; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] Gathered front() const;
  /// The first bytes that lie together. REQUIRES !empty().
  [[nodiscard]] std::span<const std::byte> first() const {
    return chunks_.front().view().subspan(written_);
  }
  /// Writes what `socket` takes now of the first `most` bytes, with one system call, and these
  /// descriptors. Returns 0, or why it is not all written (errno: EAGAIN, if the socket is full).
  [[nodiscard]] int write_to(int socket, std::size_t most = kAll,
                             std::span<const int> descriptors = {});
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
  [[nodiscard]] Bytes* joint_with_room(std::size_t bytes);  ///< Null: there is none.

  /// Of a chunk that was written: so much is kept, for a message or two.
  static constexpr std::size_t kSpareBytes = 512;

  std::deque<Chunk> chunks_;
  Bytes spare_;              ///< Empty: room for the next chunk.
  std::size_t written_ = 0;  ///< Of the first chunk.
  std::size_t bytes_ = 0;    ///< Not yet written, in all chunks.
};

}  // namespace phx::tcp
