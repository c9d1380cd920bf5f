#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "overlay/base/payload.h"
#include "overlay/base/result.h"
#include "runtime/tcp/descriptor.h"

namespace phx::tcp {

/// A file in memory, mapped: a page with one counter of loans per block, then the blocks.
class SharedMapping {
 public:
  /// One piece of a long message fits into a block.
  static constexpr std::size_t kBlockBytes = std::size_t{256} << 10U;
  static constexpr std::size_t kBlocks = 64;
  static constexpr std::size_t kBlocksAt = 4096;
  static constexpr std::size_t kBytes = kBlocksAt + kBlocks * kBlockBytes;

  /// Null if the system refuses. `writable`: the blocks; the counters always are.
  [[nodiscard]] static std::unique_ptr<SharedMapping> map(int file, bool writable);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  /// How often the block was lent and not given back. REQUIRES block < kBlocks.
  [[nodiscard]] std::atomic<std::uint32_t>& loans(std::size_t block) const;
  /// REQUIRES block < kBlocks.
  [[nodiscard]] std::byte* block(std::size_t block) const;

 private:
  SharedMapping(std::byte* counters, std::byte* blocks) : counters_(counters), blocks_(blocks) {}

  std::byte* counters_;
  std::byte* blocks_;
};

/// Memory whose blocks can be lent to another process of this user. The system gives it as it is
/// used, and it is used from the front, so what lies in it is mostly in the processor's cache.
/// Thread rule: any thread.
///
/// A block is free when no owner's pointer to it is left and every loan was given back.
class BlockPool : public std::enable_shared_from_this<BlockPool> {
 public:
  /// A part of one block.
  struct Place {
    std::uint32_t block = 0;
    std::uint32_t offset = 0;
  };

  /// Null if the system refuses.
  [[nodiscard]] static std::shared_ptr<BlockPool> create();

  /// A free block of kBlockBytes; null if none is [limit].
  [[nodiscard]] std::shared_ptr<std::byte[]> take();
  /// Where `payload` lies; nothing if not in here.
  [[nodiscard]] std::optional<Place> find(const Payload& payload) const;
  /// One more loan, to be given back by the borrower.
  void lend(std::uint32_t block) { mapping_->loans(block).fetch_add(1, std::memory_order_relaxed); }
  /// Of the file in memory, for the borrower to open.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  BlockPool(Descriptor file, std::unique_ptr<SharedMapping> mapping)
      : file_(std::move(file)), mapping_(std::move(mapping)) {}

  Descriptor file_;
  std::unique_ptr<SharedMapping> mapping_;
  std::array<std::atomic<bool>, SharedMapping::kBlocks> owned_{};
};

/// The borrower's side of another process's BlockPool. Thread rule: any thread.
class BorrowedBlocks : public std::enable_shared_from_this<BorrowedBlocks> {
 public:
  /// Opens `descriptor` of `process`. Null if that is no pool, or the system does not allow it.
  [[nodiscard]] static std::shared_ptr<BorrowedBlocks> open(pid_t process, int descriptor);
  /// The bytes at `place`, lent to us: given back when the last copy is gone. kBadInput: outside.
  [[nodiscard]] Result<Payload> take(BlockPool::Place place, std::size_t size);

 private:
  explicit BorrowedBlocks(std::unique_ptr<SharedMapping> mapping);

  std::unique_ptr<SharedMapping> mapping_;
  pid_t borrower_;  ///< This process.
};

}  // namespace phx::tcp
