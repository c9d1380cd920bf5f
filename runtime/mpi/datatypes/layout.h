#pragma once

#include <memory>
#include <span>

#include "runtime/mpi/datatypes/bounds.h"
#include "runtime/mpi/datatypes/runs.h"
#include "runtime/mpi/datatypes/signature.h"

/// What a datatype is, without its handle: made once, then never changed, and shared.
namespace phx::mpi {

struct Layout {
  Piece unit;  ///< where the bytes of one are
  Bounds bounds;
  std::shared_ptr<const Signature> signature;
  MPI_Datatype named = MPI_DATATYPE_NULL;  ///< the predefined datatype that this is

  [[nodiscard]] MPI_Count size() const { return unit.bytes(); }
  [[nodiscard]] MPI_Aint extent() const { return bounds.extent(); }
  /// `count` of them as one piece.
  [[nodiscard]] Piece many(MPI_Count count) const { return repeated(unit, count, extent()); }
};
using LayoutRef = std::shared_ptr<const Layout>;

/// A block of a constructor: a datatype, how often, and how far from the beginning.
struct Block {
  const Layout* layout;
  MPI_Count count;
  MPI_Aint place;
};

LayoutRef basic_layout(const Basic& basic);
/// A value and an index behind it, as a C compiler lays them out.
LayoutRef pair_layout(MPI_Datatype handle, const Basic& value, const Basic& index);
/// MPI_LB and MPI_UB, which have no data.
LayoutRef marker_layout(MPI_Datatype handle);
/// The old one `count` times, `stride` bytes apart.
LayoutRef repeated_layout(const Layout& old, MPI_Count count, MPI_Aint stride);
/// All blocks in their order.
LayoutRef blocks_layout(std::span<const Block> blocks);
/// The same bytes with other bounds.
LayoutRef resized_layout(const Layout& old, MPI_Aint lb, MPI_Aint extent);

}  // namespace phx::mpi
