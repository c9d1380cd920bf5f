#pragma once

#include "runtime/mpi/collectives/collectives.h"
#include "runtime/mpi/comm/communicator.h"

/// Short collective operations of MPI_COMM_WORLD between near ranks, done at once by what these
/// show each other [engine/board.h]. Each function returns whether it has done that: the same at
/// all ranks. They wait, and fail as messages that do not fit.
namespace phx::mpi {

/// A barrier.
[[nodiscard]] bool meet(const Communicator& comm);
[[nodiscard]] bool show_broadcast(const Communicator& comm, int root, const Area& area);
/// `result`: at the root.
[[nodiscard]] bool show_reduce(const Communicator& comm, int root, const Combining& what,
                               const Area& result);
[[nodiscard]] bool show_allreduce(const Communicator& comm, const Combining& what,
                                  const Area& result);
/// An operation of the communicator that goes by messages begins here.
void pass_board(const Communicator& comm);

}  // namespace phx::mpi
