#pragma once

#include "runtime/mpi/include/mpi.h"

namespace phx::mpi {

/// Combines `count` elements: inout[i] = in[i] op inout[i]. The two do not overlap.
using Combine = void (*)(const void* in, void* inout, MPI_Count count);

/// The function of a predefined operation for a predefined datatype; null where the standard does
/// not define it.
Combine find_combine(MPI_Op op, MPI_Datatype datatype);

}  // namespace phx::mpi
