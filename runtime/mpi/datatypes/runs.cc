#include "runtime/mpi/datatypes/runs.h"

namespace phx::mpi {

Piece repeated(const Piece& piece, MPI_Count count, MPI_Aint stride) {
  if (count == 1 || piece.bytes() == 0) return piece;
  if (count == 0) return {};
  Piece result = piece;
  if (piece.is_one_run() && stride == piece.unit) {
    result.unit *= count;
    return result;
  }
  if (piece.count == 1) {
    result.count = count;
    result.stride = stride;
    return result;
  }
  if (stride == piece.count * piece.stride) {
    result.count *= count;
    return result;
  }
  auto inner = std::make_shared<Runs>();
  result.offset = 0;
  inner->add(result);
  return {.offset = piece.offset,
          .count = count,
          .stride = stride,
          .unit = piece.bytes(),
          .inner = std::move(inner)};
}

void Runs::add(Piece piece) {
  if (piece.bytes() == 0) return;
  const MPI_Count end = starts_.back() + piece.bytes();
  if (!pieces_.empty() && merge(piece)) {
    starts_.back() = end;
    return;
  }
  pieces_.push_back(std::move(piece));
  starts_.push_back(end);
}

/// Whether the last piece could take this one in.
bool Runs::merge(const Piece& piece) {
  Piece& last = pieces_.back();
  if (last.is_one_run() && piece.is_one_run() && last.offset + last.unit == piece.offset) {
    last.unit += piece.unit;
    return true;
  }
  if (last.unit != piece.unit || last.inner != piece.inner) return false;
  if (last.count == 1 && piece.count == 1) {
    last.stride = piece.offset - last.offset;
    last.count = 2;
    return true;
  }
  const bool follows = last.count > 1 && piece.offset == last.offset + last.count * last.stride;
  if (!follows || (piece.count > 1 && piece.stride != last.stride)) return false;
  last.count += piece.count;
  return true;
}

Piece Runs::as_piece(Runs runs) {
  if (runs.pieces_.empty()) return {};
  if (runs.pieces_.size() == 1) return runs.pieces_.front();
  const MPI_Count bytes = runs.starts_.back();
  return {.offset = 0,
          .count = 1,
          .stride = bytes,
          .unit = bytes,
          .inner = std::make_shared<const Runs>(std::move(runs))};
}

}  // namespace phx::mpi
