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

/// A file in memory, mapped: whose it is, who borrows from it and what is lent to whom; then the
/// blocks [README.md "Loans"]. Thread rule: any thread, and any process that has mapped it.
class SharedMapping {
 public:
  /// One piece of a long message fits into a block.
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 20U;
  static constexpr std::size_t kBlocks = 64;
  static constexpr std::size_t kBlocksAt = 16384;
  static constexpr std::size_t kBytes = kBlocksAt + kBlocks * kBlockBytes;
  /// Processes that may borrow [limit].
  static constexpr std::size_t kBorrowers = 64;
  /// Loans of one borrower at a time [limit]: who keeps them leaves the others some.
  static constexpr std::uint32_t kShare = 32;

  /// A part of one block.
  struct Place {
    std::uint32_t block = 0;
    std::uint32_t offset = 0;
  };

  /// Null if the system refuses. `writable`: the blocks; what stands before them always is.
  [[nodiscard]] static std::unique_ptr<SharedMapping> map(int file, bool writable);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  /// Says whose it is; `token` tells it from all others. For its owner, once.
  void own(pid_t process, std::uint64_t token);
  void disown();  ///< Its owner needs it no more.
  [[nodiscard]] std::uint64_t token() const;
  /// Its owner has died, or needs it no more.
  [[nodiscard]] bool is_orphaned() const;

  /// A number for a borrower, until it leaves or has died; nothing if there are too many [limit].
  [[nodiscard]] std::optional<std::uint32_t> enroll(pid_t process);
  /// What was lent to it and has not reached it comes back, too. REQUIRES that it has nothing.
  void leave(std::uint32_t borrower);
  /// It has not got its share yet.
  [[nodiscard]] bool may_borrow(std::uint32_t borrower) const;
  /// One more loan of the block; false: the borrower has its share, or is none.
  [[nodiscard]] bool lend(std::uint32_t block, std::uint32_t borrower);
  void give_back(std::uint32_t block, std::uint32_t borrower);
  /// REQUIRES block < kBlocks.
  [[nodiscard]] bool is_lent(std::size_t block) const;
  /// What was lent to processes that have died or left since is not lent any more.
  void forget_the_dead();

  /// REQUIRES block < kBlocks.
  [[nodiscard]] std::byte* block(std::size_t block) const;
  /// Where `payload` lies; nothing if not in here.
  [[nodiscard]] std::optional<Place> find(const Payload& payload) const;

 private:
  struct Head;
  SharedMapping(std::byte* head, std::byte* blocks) : head_(head), blocks_(blocks) {}
  [[nodiscard]] Head& head() const;
  [[nodiscard]] std::optional<std::uint32_t> find_free(pid_t process);
  void clear(std::uint32_t borrower, std::int32_t process);

  std::byte* head_;
  std::byte* blocks_;
};

/// Memory whose blocks can be lent to other processes of this user. The system gives it as it is
/// used, and it is used from the front, so what lies in it is mostly in the processor's cache.
/// Thread rule: any thread.
///
/// A block is free when no owner's pointer to it is left and every loan was given back.
class BlockPool : public std::enable_shared_from_this<BlockPool> {
 public:
  /// Null if the system refuses.
  [[nodiscard]] static std::shared_ptr<BlockPool> create();
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// A free block of kBlockBytes; null if none is [limit].
  [[nodiscard]] std::shared_ptr<std::byte[]> take();
  /// What free blocks have held goes back to the system.
  void give_memory_back();
  [[nodiscard]] SharedMapping& mapping() const { return *mapping_; }
  /// Of the file in memory, for borrowers to open.
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  BlockPool(Descriptor file, std::unique_ptr<SharedMapping> mapping);
  [[nodiscard]] std::shared_ptr<std::byte[]> take_free();

  Descriptor file_;
  std::unique_ptr<SharedMapping> mapping_;
  std::array<std::atomic<bool>, SharedMapping::kBlocks> owned_{};
  std::atomic<std::int64_t> looked_at_ = 0;  ///< For borrowers that have died, in nanoseconds.
  pid_t process_;                            ///< This one.
};

/// The borrower's side of another process's BlockPool. Thread rule: any thread.
class BorrowedBlocks : public std::enable_shared_from_this<BorrowedBlocks> {
 public:
  /// Opens `descriptor` of `process`. Null if that is not the pool with this token, the system does
  /// not allow it, or both processes do not know each other by the same numbers.
  [[nodiscard]] static std::shared_ptr<BorrowedBlocks> open(pid_t process, int descriptor,
                                                            std::uint64_t token);
  ~BorrowedBlocks();
  BorrowedBlocks(const BorrowedBlocks&) = delete;
  BorrowedBlocks& operator=(const BorrowedBlocks&) = delete;

  /// The bytes at `place`, lent to us: given back when the last copy is gone. kBadInput: outside.
  [[nodiscard]] Result<Payload> take(SharedMapping::Place place, std::size_t size);
  [[nodiscard]] SharedMapping& mapping() const { return *mapping_; }
  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Our number with the pool.
  [[nodiscard]] std::uint32_t borrower() const { return borrower_; }

 private:
  BorrowedBlocks(Descriptor file, std::unique_ptr<SharedMapping> mapping, std::uint32_t borrower);

  Descriptor file_;
  std::unique_ptr<SharedMapping> mapping_;
  std::uint32_t borrower_;
  pid_t process_;  ///< This one.
};

}  // namespace phx::tcp
