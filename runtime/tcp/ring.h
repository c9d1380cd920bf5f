#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "overlay/base/result.h"

namespace phx::tcp {

/// Sets `count`, for which somebody may sleep who has said so by `flag`. Whether he is to be woken:
/// of all who ask so, one gets true. [runtime/local/README.md "Who wakes whom"]
template <class Count, class Flag>
[[nodiscard]] bool set_and_see(Count& count, std::uint64_t value, Flag& flag) {
  count.store(value, std::memory_order_seq_cst);
  return flag.load(std::memory_order_seq_cst) != 0 &&
         flag.exchange(0, std::memory_order_seq_cst) != 0;
}

/// Says by `flag` that somebody will sleep until `count` is another one than `value`. False: it is
/// already, so he must not. The flag stays then, and costs one bell that nobody needs.
template <class Count, class Flag>
[[nodiscard]] bool may_sleep(const Count& count, std::uint64_t value, Flag& flag) {
  if (count.load(std::memory_order_seq_cst) != value) return false;
  flag.store(1, std::memory_order_seq_cst);
  return count.load(std::memory_order_seq_cst) == value;
}

/// What the two sides of one ring tell each other, each word on a line of the cache (and on the
/// one that is fetched along) of its own. All zero bytes are an empty ring. Whoever shares the
/// memory may write anything here at any time, so each side believes only what can be.
struct RingLines {
  static constexpr std::size_t kApart = 128;
  alignas(kApart) std::atomic<std::uint64_t> written;  ///< Bytes put in so far, by the writer.
  alignas(kApart) std::atomic<std::uint64_t> taken;    ///< Bytes taken out so far, by the reader.
  /// Set by the reader, cleared by the writer, which then wakes it. And the other way round.
  alignas(kApart) std::atomic<std::uint32_t> reader_sleeps;
  alignas(kApart) std::atomic<std::uint32_t> writer_sleeps;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The writing side of a ring of bytes in memory that another process has mapped. Not thread-safe.
class RingWriter {
 public:
  /// `room`: of a power of two bytes. Both must outlive this.
  RingWriter(RingLines& lines, std::span<std::byte> room) : lines_(lines), room_(room) {}

  /// Copies as much of `bytes` as there is room for, and returns how much that was. The reader
  /// sees it after show(). kBadInput: what the reader says it has taken cannot be.
  [[nodiscard]] Result<std::size_t> put(std::span<const std::byte> bytes);
  /// Bytes there is room for at least; looks again if they are less than `wanted`. Errors: as
  /// put().
  [[nodiscard]] Result<std::size_t> has_room(std::size_t wanted);
  [[nodiscard]] bool has_shown_all() const { return put_ == shown_; }
  /// Whether the reader sleeps and is to be woken.
  [[nodiscard]] bool show();
  /// Wants to be woken when there is room. False: there is some. REQUIRES has_shown_all().
  [[nodiscard]] bool may_sleep() {
    return tcp::may_sleep(lines_.taken, put_ - room_.size(), lines_.writer_sleeps);
  }

 private:
  RingLines& lines_;
  std::span<std::byte> room_;
  // Our own; the shared ones are for the reader.
  std::uint64_t put_ = 0;
  std::uint64_t shown_ = 0;
  std::uint64_t taken_ = 0;  ///< As last seen.
};

/// The reading side. Thread rule: one thread at a time, but for may_sleep(): any.
class RingReader {
 public:
  RingReader(RingLines& lines, std::span<const std::byte> room) : lines_(lines), room_(room) {}

  /// The next bytes that lie together, at most a quarter of the ring; empty: there are none. The
  /// other process can change them under way: copy them, then look. kBadInput: what the writer says
  /// it has written cannot be.
  [[nodiscard]] Result<std::span<const std::byte>> peek();
  /// The first `size` bytes of peek() are done with. Whether the writer sleeps and is to be woken.
  [[nodiscard]] bool take(std::size_t size);
  /// Wants to be woken when there is something. False: there is.
  [[nodiscard]] bool may_sleep() {
    return tcp::may_sleep(lines_.written, taken_.load(std::memory_order_relaxed),
                          lines_.reader_sleeps);
  }

 private:
  RingLines& lines_;
  std::span<const std::byte> room_;
  std::atomic<std::uint64_t> taken_ = 0;  ///< Our own. Others only look whether to sleep.
  std::uint64_t written_ = 0;             ///< As last seen.
};

}  // namespace phx::tcp
