#pragma once

#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace phx::mpi {

/// Memory of collective operations and of messages that are over, for the next ones: pages that the
/// system has to make anew cost more than what is done in them. Thread rule: any thread.
class SpareMemory {
 public:
  static constexpr std::size_t kLeast = std::size_t{16} << 10;  ///< Shorter blocks are not kept.
  static constexpr std::size_t kMost = std::size_t{64} << 20;   ///< Bytes kept [limit].
  struct Block {
    std::size_t size = 0;
    std::unique_ptr<std::byte[]> bytes;
  };

  [[nodiscard]] static SpareMemory& of_process() {
    static SpareMemory& all = *new SpareMemory;  // threads of the runtime may outlive main()
    return all;
  }
  /// At least so many bytes, with any content.
  [[nodiscard]] Block take(std::size_t size) {
    if (size < kLeast) return {size, std::make_unique_for_overwrite<std::byte[]>(size)};
    size = std::bit_ceil(size);
    const std::unique_lock lock(mutex_);
    const auto found = blocks_.find(size);
    if (found == blocks_.end() || found->second.empty()) {
      return {size, std::make_unique_for_overwrite<std::byte[]>(size)};
    }
    Block block{size, std::move(found->second.back())};
    found->second.pop_back();
    kept_ -= size;
    return block;
  }
  void give(Block block) {
    if (block.size < kLeast) return;
    const std::unique_lock lock(mutex_);
    if (kept_ + block.size > kMost) return;
    kept_ += block.size;
    blocks_[block.size].push_back(std::move(block.bytes));
  }
  [[nodiscard]] std::size_t kept() const {
    const std::unique_lock lock(mutex_);
    return kept_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::unique_ptr<std::byte[]>>> blocks_;
  std::size_t kept_ = 0;
};

}  // namespace phx::mpi
