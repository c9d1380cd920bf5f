#pragma once

#include <array>

#include "runtime/mpi/calls/requests.h"

namespace phx::mpi {

/// The topology of a communicator; fails with MPI_ERR_TOPOLOGY if it has another one.
template <class T>
const T& topology_of(const Communicator& comm) {
  const T* const found = std::get_if<T>(&comm.topology);
  require(found != nullptr, MPI_ERR_TOPOLOGY, "the communicator has no such topology");
  return *found;
}

/// From whom and to whom a neighbourhood collective goes, in the order of its buffers. Some may be
/// MPI_PROC_NULL.
struct Directions {
  std::vector<int> sources;
  std::vector<int> targets;
  /// In which order sources are received from, so that messages between the same two processes meet
  /// the right places.
  std::vector<std::size_t> order;
};
/// Fails with MPI_ERR_TOPOLOGY.
[[nodiscard]] Directions directions_of(const Communicator& comm);

}  // namespace phx::mpi
