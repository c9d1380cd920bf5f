#pragma once

#include "runtime/mpi/include/mpi.h"

namespace phx::mpi {

/// What the predefined attributes of communicators say. The engine sets it before MPI_Init returns;
/// it does not change after that. MPI_UNDEFINED: the attribute is not set.
struct JobFacts {
  int tag_ub = 0x7FFFFFFF;
  int host = MPI_PROC_NULL;
  int io = MPI_ANY_SOURCE;
  int wtime_is_global = 0;
  int universe_size = MPI_UNDEFINED;
  int appnum = MPI_UNDEFINED;
};
JobFacts& job_facts();

}  // namespace phx::mpi
