#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/datatypes/pack.h"
#include "runtime/mpi/ops/op.h"

using namespace phx::mpi;

PHX_MPI_ENTRY(int, Op_create, (MPI_User_function * function, int commutes, MPI_Op* op)) {
  return enter("MPI_Op_create", [&] {
    need({op});
    require(function != nullptr, MPI_ERR_ARG, "the function is null");
    auto* made = new Op;
    made->function = function;
    made->commutes = commutes != 0;
    *op = ops().open(made);
  });
}

PHX_MPI_ENTRY(int, Op_free, (MPI_Op * op)) {
  return enter("MPI_Op_free", [&] {
    require(op != nullptr, MPI_ERR_ARG, "the pointer to the operation is null");
    Op& freed = op_of(*op);
    require(freed.function != nullptr, MPI_ERR_OP, "a predefined operation cannot be freed");
    ops().close(&freed);
    *op = MPI_OP_NULL;
  });
}

PHX_MPI_ENTRY(int, Op_commutative, (MPI_Op op, int* commutes)) {
  return enter("MPI_Op_commutative", [&] {
    need({commutes});
    *commutes = op_of(op).commutes ? 1 : 0;
  });
}

PHX_MPI_ENTRY(int, Reduce_local,
              (const void* in, void* inout, int count, MPI_Datatype handle, MPI_Op op)) {
  return enter("MPI_Reduce_local", [&] {
    require(count >= 0, MPI_ERR_COUNT, "the count is negative");
    Datatype& datatype = committed(handle);
    const Op& operation = op_of(op);
    check_op(operation, datatype);
    if (count == 0) return;
    require(in != MPI_IN_PLACE && inout != MPI_IN_PLACE, MPI_ERR_BUFFER,
            "MPI_IN_PLACE has no meaning here");
    require(in != inout, MPI_ERR_BUFFER, "the two buffers are the same");
    static_cast<void>(Buffer(in, count, datatype));  // neither is null
    static_cast<void>(Buffer(inout, count, datatype));
    reduce(operation, datatype, in, inout, count);
  });
}
