#pragma once

#include <memory>
#include <vector>

#include "runtime/mpi/include/mpi.h"

/// Where the bytes of a datatype lie, without their types: runs of bytes and loops over them.
namespace phx::mpi {

class Runs;

/// A loop: `count` times, `stride` bytes apart, either one run of bytes or a whole list of pieces,
/// whose offsets count from the beginning of the turn.
struct Piece {
  MPI_Aint offset = 0;
  MPI_Count count = 0;
  MPI_Aint stride = 0;
  MPI_Count unit = 0;                 ///< packed bytes of one turn
  std::shared_ptr<const Runs> inner;  ///< null: a turn is one run of `unit` bytes

  [[nodiscard]] MPI_Count bytes() const { return count * unit; }
  /// Whether all bytes lie side by side, from `offset` on. Not without a turn.
  [[nodiscard]] bool is_one_run() const { return inner == nullptr && count == 1; }
};

/// The piece `count` times, `stride` bytes apart, as one piece: a longer run or loop where it can
/// be, else a loop of loops.
Piece repeated(const Piece& piece, MPI_Count count, MPI_Aint stride);

/// Pieces in the order of the datatype, with what is regular in them made one piece. Built by
/// add(), then only read.
class Runs {
 public:
  void add(Piece piece);
  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  /// Packed bytes before each piece, and at the end those of all.
  [[nodiscard]] const std::vector<MPI_Count>& starts() const { return starts_; }
  /// All of them as one piece.
  static Piece as_piece(Runs runs);

 private:
  bool merge(const Piece& piece);

  std::vector<Piece> pieces_;
  std::vector<MPI_Count> starts_{0};
};

/// Packs the bytes `from` to `to` of the packed form to `out`. `base` is the address that offsets
/// count from. Bytes of memory that the range does not cover are not read.
void pack_bytes(const Piece& piece, MPI_Aint base, MPI_Count from, MPI_Count to, void* out);
/// The reverse: bytes of memory outside of the range are not written.
void unpack_bytes(const Piece& piece, MPI_Aint base, MPI_Count from, MPI_Count to, const void* in);

}  // namespace phx::mpi
