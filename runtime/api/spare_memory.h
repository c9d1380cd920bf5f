#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace phx {

/// How a block goes back to the system.
struct FreeMemory {
  std::size_t mapped = 0;  ///< 0: of the heap.
  void operator()(std::byte* bytes) const;
};

/// Memory of long messages and of operations that are over, for the next ones: pages that the
/// system has to make anew cost more than what is done in them. Long blocks have large pages.
/// Thread rule: any thread.
class SpareMemory {
 public:
  static constexpr std::size_t kLeast = std::size_t{16} << 10U;  ///< Shorter blocks are not kept.
  static constexpr std::size_t kLargePage = std::size_t{2} << 20U;
  /// Bytes kept [limit]: a message of 64 MiB with what stands before it, and some short ones. As
  /// few blocks as possible go for one that comes later.
  static constexpr std::size_t kMost = std::size_t{72} << 20U;

  struct Block {
    std::size_t size = 0;
    std::unique_ptr<std::byte[], FreeMemory> bytes;
  };

  [[nodiscard]] static SpareMemory& of_process();
  /// At least so many bytes, with any content.
  [[nodiscard]] Block take(std::size_t size);
  void give(Block block);
  [[nodiscard]] std::size_t kept() const;

 private:
  mutable std::mutex mutex_;
  std::multimap<std::size_t, std::unique_ptr<std::byte[], FreeMemory>> blocks_;  ///< By size.
  std::size_t kept_ = 0;
};

/// Room for so many bytes, of the memory of the process; it is not set to anything.
[[nodiscard]] std::shared_ptr<std::byte[]> lend(std::size_t size);

}  // namespace phx
