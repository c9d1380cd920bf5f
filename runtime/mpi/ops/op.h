#pragma once

#include "runtime/mpi/base/handles.h"
#include "runtime/mpi/datatypes/datatype.h"

namespace phx::mpi {

/// An operation: a predefined one, or a function of the program. It does not change.
struct Op : Object {
  MPI_Op predefined = MPI_OP_NULL;
  MPI_User_function* function = nullptr;
  bool commutes = true;
};
Handles<Op>& ops();
/// The operation behind a handle; fails with MPI_ERR_OP.
Op& op_of(MPI_Op handle);

/// Fails with MPI_ERR_OP unless the operation is defined for the datatype. Functions of programs
/// are for all datatypes.
void check_op(const Op& op, const Datatype& datatype);
/// inout[i] = in[i] op inout[i] for `count` elements. `check_op` went well. `datatype` has an open
/// handle if the operation is a program's. The buffers do not overlap.
void reduce(const Op& op, Datatype& datatype, const void* in, void* inout, MPI_Count count);

}  // namespace phx::mpi
