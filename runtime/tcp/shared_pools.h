#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "overlay/base/payload.h"
#include "runtime/tcp/shared_blocks.h"

namespace phx::tcp {

/// The pools that a process lends from: its own, and those from which it has borrowed: what it was
/// lent it lends on where it lies. Not thread-safe: one owner.
class SharedPools {
 public:
  /// Mapped at a time, of other processes [limit].
  static constexpr std::size_t kBorrowedMost = 64;

  /// Made when it is first asked for; null if the system refuses.
  [[nodiscard]] const std::shared_ptr<BlockPool>& own();
  /// The same without making one.
  [[nodiscard]] const std::shared_ptr<BlockPool>& made() const { return own_; }
  /// The pool with this token, which `process` has as `descriptor`. It is mapped as long as
  /// somebody has it. Null: BorrowedBlocks::open(), or too many [limit].
  [[nodiscard]] std::shared_ptr<BorrowedBlocks> borrow(pid_t process, int descriptor,
                                                       std::uint64_t token);

  [[nodiscard]] bool has_borrowed() const;

  struct Found {
    SharedMapping* mapping = nullptr;  ///< Lives as long as the payload.
    int descriptor = -1;
    SharedMapping::Place place = {};
  };
  /// Where `payload` lies; nothing if in none of them.
  [[nodiscard]] std::optional<Found> find(const Payload& payload);

 private:
  std::shared_ptr<BlockPool> own_;
  bool is_refused_ = false;
  std::vector<std::weak_ptr<BorrowedBlocks>> borrowed_;
};

}  // namespace phx::tcp
