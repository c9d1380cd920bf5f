#pragma once

#include "runtime/mpi/base/errors.h"
#include "runtime/mpi/datatypes/datatype.h"

/// Moving typed memory into messages and back: what sends and receives use.
namespace phx::mpi {

/// A buffer of the program: its address (also relative to MPI_BOTTOM), how many, and of what.
class Buffer {
 public:
  /// Fails with MPI_ERR_COUNT, MPI_ERR_TYPE, or MPI_ERR_BUFFER for a null buffer that cannot be
  /// meant.
  Buffer(const void* address, MPI_Count count, MPI_Datatype handle)
      : Buffer(address, count, committed_after(count, handle)) {}
  Buffer(const void* address, MPI_Count count, const Datatype& datatype)
      : base_(reinterpret_cast<MPI_Aint>(address)), piece_(datatype.layout().many(count)) {
    const bool is_meant =
        address != nullptr || bytes() == 0 || datatype.layout().bounds.true_lb() != 0;
    require(is_meant, MPI_ERR_BUFFER, "the buffer is null");
  }

  /// The length of the packed form.
  [[nodiscard]] MPI_Count bytes() const { return piece_.bytes(); }
  /// The memory itself if it is as the packed form is: one run; otherwise null. Also null without
  /// bytes.
  [[nodiscard]] void* as_is() const {
    if (!piece_.is_one_run()) return nullptr;
    return reinterpret_cast<void*>(base_ + piece_.offset);
  }
  /// Writes the bytes `from` to `to` of the packed form to `out`.
  void pack(MPI_Count from, MPI_Count to, void* out) const {
    pack_bytes(piece_, base_, from, to, out);
  }
  /// Reads the bytes `from` to `to` of the packed form from `in`.
  void unpack(MPI_Count from, MPI_Count to, const void* in) const {
    unpack_bytes(piece_, base_, from, to, in);
  }

 private:
  static const Datatype& committed_after(MPI_Count count, MPI_Datatype handle) {
    require(count >= 0, MPI_ERR_COUNT, "the count is negative");
    return committed(handle);
  }

  MPI_Aint base_;
  Piece piece_;
};

/// So many bytes of the packed forms, which are not made if one of the two lies side by side.
void copy(const Buffer& from, const Buffer& to, MPI_Count bytes);

}  // namespace phx::mpi
