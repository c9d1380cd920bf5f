#pragma once

#include "runtime/mpi/datatypes/pack.h"
#include "runtime/mpi/engine/schedule.h"
#include "runtime/mpi/ops/op.h"

namespace phx::mpi {

/// Typed memory, of a program or of a schedule: `count` elements of a datatype.
struct Area {
  void* address = nullptr;
  MPI_Count count = 0;
  Ref<Datatype> datatype;

  /// Fails as Buffer does, and of MPI_IN_PLACE, which callers have to understand themselves.
  static Area of(const void* address, MPI_Count count, MPI_Datatype handle);
  /// Bytes.
  static Area of_bytes(std::byte* address, MPI_Count count);
  [[nodiscard]] Buffer buffer() const { return {address, count, *datatype}; }
  [[nodiscard]] MPI_Count bytes() const { return count * datatype->layout().size(); }
  /// `many` elements from element `first` on.
  [[nodiscard]] Area part(MPI_Count first, MPI_Count many) const;
  /// Fresh memory of the schedule for as much.
  [[nodiscard]] Area like(Schedule& schedule) const;
};

/// The elements one after the other, as many bytes as there are room for in the other one.
void copy(const Area& from, const Area& to);
/// The same as a step. MPI_ERR_TRUNCATE if there is too little room.
void add_copy(Schedule& schedule, const Area& from, const Area& to);
/// to = from op to.
void combine(const Op& op, const Area& from, const Area& to);

}  // namespace phx::mpi
