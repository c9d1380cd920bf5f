#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "overlay/base/time.h"

namespace phx::tcp {

/// Gives memory that is free back to the system, where the allocator would keep it for ever, since
/// it is in pieces. That stops the thread: 0.1 s for 100 MiB, 1 s for 1 GiB. So it is done only
/// where it is worth it, and takes a fiftieth of the time at most. Not thread-safe.
class MemoryReturn {
 public:
  static constexpr std::size_t kWorthBytes = std::size_t{4} << 20U;
  /// More of it is left where it is: others would take the daemon for dead meanwhile.
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
  static constexpr int kShare = 50;

  struct Memory {
    std::function<std::size_t()> free_bytes;
    std::function<void()> give_back;
    std::function<Instant()> now;
  };
  /// That of this process.
  MemoryReturn();
  explicit MemoryReturn(Memory memory) : memory_(std::move(memory)) {}

  /// Something has ended that may have needed much. Does nothing before left() has passed.
  void consider();
  [[nodiscard]] Duration left() const;

 private:
  Memory memory_;
  Instant next_{};  ///< Not before.
};

}  // namespace phx::tcp
