#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace phx::mpi {

/// What near ranks show each other in short collective operations: each has places that it writes
/// and all others read. The operations are numbered, in the same order at all ranks; what a rank
/// shows in one of them stays until all have left it. Layout and rules: README.md, "The board".
///
/// Thread rule: one thread at a time. It wakes nobody: that is for who shows or leaves.
class Board {
 public:
  /// More ranks than these have none: one of them reads what all others show.
  static constexpr int kRanksMost = 32;
  static constexpr std::size_t kBytesMost = 1024;  ///< of what is shown
  /// So many operations may a rank be ahead of others. A power of two.
  static constexpr std::uint64_t kAhead = 16;

  /// What is shown: in which operation, which all have to agree on, and the bytes.
  struct Shown {
    std::uint32_t operation = 0;
    std::span<const std::byte> bytes;
  };

  [[nodiscard]] static std::size_t bytes_for(int size);
  /// Memory of bytes_for(size) that began as zeros, aligned as a line of the cache, that lives
  /// longer. REQUIRES size <= kRanksMost.
  Board(std::byte* memory, int rank, int size);

  /// The next operation begins here.
  void begin() { ++number_; }
  /// Whether all others have left the operation whose place is needed next. False: who leaves one
  /// from now on is told so.
  [[nodiscard]] bool has_place();
  /// Where to write what is shown, once there is a place.
  [[nodiscard]] std::span<std::byte, kBytesMost> place();
  /// So many bytes of it are seen by all, from now on.
  void show(std::uint32_t operation, std::size_t bytes);
  /// What that rank shows in this operation. The bytes stay until leave(). Nothing: not yet.
  [[nodiscard]] std::optional<Shown> shown_by(int rank) const;
  /// That rank has left this operation; so if it shows nothing, it never will.
  [[nodiscard]] bool has_left(int rank) const;
  /// The operation is over here. Whether some rank may wait for that.
  [[nodiscard]] bool leave();

 private:
  struct Cell;
  struct Row;
  struct Head;
  [[nodiscard]] Head& head() const;
  [[nodiscard]] Row& row(int rank) const;
  [[nodiscard]] Cell& cell(int rank) const;
  [[nodiscard]] bool all_have_left(std::uint64_t number) const;

  std::byte* const memory_;
  const int rank_;
  const int size_;
  std::uint64_t number_ = 0;            ///< of this operation; the first is 1
  std::uint64_t place_until_ = kAhead;  ///< the last operation that certainly has a place
  bool is_waiting_ = false;             ///< for others to leave
};

}  // namespace phx::mpi
