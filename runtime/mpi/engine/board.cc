#include "runtime/mpi/engine/board.h"

#include <array>
#include <atomic>
#include <new>

namespace phx::mpi {
namespace {

constexpr std::size_t kLineOfCache = 64;

}  // namespace

/// What one rank shows in one operation; its number is written last.
struct Board::Cell {
  alignas(kLineOfCache) std::atomic<std::uint64_t> number;
  std::uint32_t operation;
  std::uint32_t size;
  alignas(16) std::array<std::byte, kBytesMost> bytes;
};

struct Board::Row {
  alignas(kLineOfCache) std::atomic<std::uint64_t> left;  ///< the last operation that is over there
  std::array<Cell, kAhead> cells;
};

struct Board::Head {
  alignas(
      kLineOfCache) std::atomic<std::uint32_t> waiting;  ///< ranks that wait for others to leave
};

std::size_t Board::bytes_for(int size) {
  return sizeof(Head) + static_cast<std::size_t>(size) * sizeof(Row);
}

Board::Board(std::byte* memory, int rank, int size) : memory_(memory), rank_(rank), size_(size) {}

Board::Head& Board::head() const {
  return *std::launder(reinterpret_cast<Head*>(memory_));
}

Board::Row& Board::row(int rank) const {
  std::byte* const begin = memory_ + sizeof(Head);
  return *std::launder(
      reinterpret_cast<Row*>(begin + static_cast<std::size_t>(rank) * sizeof(Row)));
}

Board::Cell& Board::cell(int rank) const {
  return row(rank).cells[number_ % kAhead];
}

bool Board::all_have_left(std::uint64_t number) const {
  for (int rank = 0; rank < size_; ++rank) {
    if (rank != rank_ && row(rank).left < number) return false;
  }
  return true;
}

/// The order counts: that this rank waits is written before it looks who has left; who leaves does
/// it the other way round.
bool Board::has_place() {
  if (number_ <= place_until_) return true;
  if (!is_waiting_) {
    // Half of the places at once, if they are free: then the others are asked less often.
    if (all_have_left(number_ - kAhead / 2)) {
      place_until_ = number_ + kAhead / 2;
      return true;
    }
    ++head().waiting;
    is_waiting_ = true;
  }
  if (!all_have_left(number_ - kAhead)) return false;
  --head().waiting;
  is_waiting_ = false;
  place_until_ = number_;
  return true;
}

std::span<std::byte, Board::kBytesMost> Board::place() {
  return cell(rank_).bytes;
}

void Board::show(std::uint32_t operation, std::size_t bytes) {
  Cell& own = cell(rank_);
  own.operation = operation;
  own.size = static_cast<std::uint32_t>(bytes);
  own.number = number_;
}

std::optional<Board::Shown> Board::shown_by(int rank) const {
  const Cell& theirs = cell(rank);
  if (theirs.number.load(std::memory_order_acquire) != number_) return std::nullopt;
  const std::size_t size = theirs.size < kBytesMost ? theirs.size : kBytesMost;
  return Shown{theirs.operation, std::span(theirs.bytes).first(size)};
}

bool Board::has_left(int rank) const {
  return row(rank).left.load(std::memory_order_acquire) >= number_;
}

bool Board::leave() {
  row(rank_).left = number_;
  return head().waiting != 0;
}

}  // namespace phx::mpi
