#pragma once

#include <optional>

#include "runtime/mpi/collectives/collectives.h"
#include "runtime/mpi/comm/communicator.h"

/// Short collective operations of MPI_COMM_WORLD between near ranks, done at once by what these
/// show each other [engine/board.h]. Each function returns whether it has done that: the same at
/// all ranks. They wait, and fail as messages that do not fit.
namespace phx::mpi {

/// Whether operations of this communicator may be done so.
[[nodiscard]] bool has_board(const Communicator& comm);
/// A barrier.
[[nodiscard]] bool meet(const Communicator& comm);
[[nodiscard]] bool show_broadcast(const Communicator& comm, int root, const Area& area);
/// `result`: at the root.
[[nodiscard]] bool show_reduce(const Communicator& comm, int root, const Combining& what,
                               const Area& result);
[[nodiscard]] bool show_allreduce(const Communicator& comm, const Combining& what,
                                  const Area& result);
/// `own`: what this rank gives; nothing: it stands in its place. `first`: the first of equal parts.
[[nodiscard]] bool show_allgather(const Communicator& comm, const std::optional<Area>& own,
                                  const Area& first);
/// `from`, `to`: the first of equal parts; no `from`: what is sent stands where others come.
[[nodiscard]] bool show_alltoall(const Communicator& comm, const std::optional<Area>& from,
                                 const Area& to);
/// An operation of the communicator that goes by messages begins here.
void pass_board(const Communicator& comm);

}  // namespace phx::mpi
