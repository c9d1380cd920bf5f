#include "runtime/mpi/ops/op.h"

#include <algorithm>
#include <limits>

#include "runtime/mpi/base/errors.h"
#include "runtime/mpi/ops/combine.h"

namespace phx::mpi {
namespace {

Combine combine_of(const Op& op, const Datatype& datatype) {
  return find_combine(op.predefined, datatype.layout().named);
}

/// A handle of a datatype for a function of a program, while that runs: the program may have freed
/// its own.
class Opened {
 public:
  explicit Opened(Datatype& datatype) : datatype_(datatype), handle_(datatypes().open(&datatype)) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { datatypes().close(&datatype_); }
  [[nodiscard]] MPI_Datatype handle() const { return handle_; }

 private:
  Datatype& datatype_;
  MPI_Datatype handle_;
};

/// The function of a program takes an int as count, so that long buffers are given in parts.
void call_function(const Op& op, Datatype& datatype, MPI_Aint in, MPI_Aint inout, MPI_Count count) {
  const Opened opened(datatype);
  const InFunction in_function;
  while (count > 0) {
    int part = static_cast<int>(std::min<MPI_Count>(count, std::numeric_limits<int>::max()));
    MPI_Datatype handle = opened.handle();
    const MPI_Aint step = part * datatype.layout().extent();
    count -= part;
    try {
      op.function(reinterpret_cast<void*>(in), reinterpret_cast<void*>(inout), &part, &handle);
    } catch (...) {  // What others have sent for it is half-way through: nothing can go on.
      abort_job(MPI_COMM_WORLD, MPI_ERR_OP, "the function of an operation has thrown an exception");
    }
    in += step;
    inout += step;
  }
}

}  // namespace

Handles<Op>& ops() {
  static Handles<Op>& all = *[] {
    auto* table = new Handles<Op>(Kind::kOp);
    for (MPI_Op handle = MPI_MAX; handle <= MPI_NO_OP; ++handle) {
      auto* op = new Op;
      op->predefined = handle;
      op->commutes = handle != MPI_REPLACE && handle != MPI_NO_OP;
      table->predefine(handle, op);
    }
    return table;
  }();
  return all;
}

Op& op_of(MPI_Op handle) {
  Op* found = ops().find(handle);
  require(found != nullptr, MPI_ERR_OP, "the operation is null, freed or never made");
  return *found;
}

void check_op(const Op& op, const Datatype& datatype) {
  require(op.function != nullptr || combine_of(op, datatype) != nullptr, MPI_ERR_OP,
          "the operation is not defined for this datatype");
}

void reduce(const Op& op, Datatype& datatype, const void* in, void* inout, MPI_Count count) {
  if (op.function == nullptr) return combine_of(op, datatype)(in, inout, count);
  call_function(op, datatype, reinterpret_cast<MPI_Aint>(in), reinterpret_cast<MPI_Aint>(inout),
                count);
}

}  // namespace phx::mpi
