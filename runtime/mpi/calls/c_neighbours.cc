#include <numeric>

#include "runtime/mpi/calls/collective.h"
#include "runtime/mpi/calls/topology.h"

namespace phx::mpi {
namespace {

/// Both ways along each dimension: back, then forth. What goes forth comes from behind, so where
/// both neighbours are one process, that is received first which is sent back.
Directions along(const Cartesian& grid, int rank) {
  Directions result;
  for (int i = 0; i < static_cast<int>(grid.dims.size()); ++i) {
    for (const int steps : {-1, 1}) result.sources.push_back(grid.neighbour(rank, i, steps));
    const auto first = static_cast<std::size_t>(2 * i);
    result.order.insert(result.order.end(), {first + 1, first});
  }
  result.targets = result.sources;
  return result;
}

}  // namespace

Directions directions_of(const Communicator& comm) {
  if (const auto* grid = std::get_if<Cartesian>(&comm.topology)) return along(*grid, comm.rank());
  Directions result;
  if (const auto* graph = std::get_if<Graph>(&comm.topology)) {
    const auto found = graph->neighbours(comm.rank());
    result.sources.assign(found.begin(), found.end());
    result.targets = result.sources;
  } else {
    const auto& both = topology_of<Neighbours>(comm);
    result.sources = both.sources;
    result.targets = both.targets;
  }
  result.order.resize(result.sources.size());
  std::iota(result.order.begin(), result.order.end(), std::size_t{0});
  return result;
}

namespace {

/// `from` and `to` give the areas of all neighbours. Who has none may say nothing of them.
template <class From, class To>
void exchange_with_neighbours(Communicator& comm, Schedule& schedule, const From& from,
                              const To& to) {
  const Directions directions = directions_of(comm);
  const Areas sources = directions.sources.empty() ? Areas() : to();
  for (const std::size_t i : directions.order) {
    if (directions.sources[i] == MPI_PROC_NULL) continue;
    schedule.receive(directions.sources[i], sources(static_cast<int>(i)).buffer());
  }
  const Areas targets = directions.targets.empty() ? Areas() : from();
  for (std::size_t i = 0; i < directions.targets.size(); ++i) {
    if (directions.targets[i] == MPI_PROC_NULL) continue;
    schedule.send(directions.targets[i], targets(static_cast<int>(i)).buffer());
  }
}

Areas always(const Area& area) {
  return [area](int) { return area; };
}

/// With a datatype for each neighbour; displacements are bytes.
Areas typed(const void* buffer, const int* counts, const MPI_Aint* places,
            const MPI_Datatype* datatypes) {
  return [=](int i) { return typed_part(buffer, places[i], counts[i], datatypes[i]); };
}

}  // namespace
}  // namespace phx::mpi

using namespace phx::mpi;

PHX_MPI_BOTH(Neighbor_allgather, Ineighbor_allgather,
             (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
              MPI_Datatype in_type, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               exchange_with_neighbours(
                   all, schedule, [&] { return always(Area::of(out, out_count, out_type)); },
                   [&] { return equal_parts(Area::of(in, in_count, in_type)); });
             })

PHX_MPI_BOTH(Neighbor_allgatherv, Ineighbor_allgatherv,
             (const void* out, int out_count, MPI_Datatype out_type, void* in,
              const int in_counts[], const int places[], MPI_Datatype in_type, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               exchange_with_neighbours(
                   all, schedule, [&] { return always(Area::of(out, out_count, out_type)); },
                   [&] {
                     return Parts{in, in_counts, places, in_type}.areas();
                   });
             })

PHX_MPI_BOTH(Neighbor_alltoall, Ineighbor_alltoall,
             (const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
              MPI_Datatype in_type, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               exchange_with_neighbours(
                   all, schedule, [&] { return equal_parts(Area::of(out, out_count, out_type)); },
                   [&] { return equal_parts(Area::of(in, in_count, in_type)); });
             })

PHX_MPI_BOTH(Neighbor_alltoallv, Ineighbor_alltoallv,
             (const void* out, const int out_counts[], const int out_places[],
              MPI_Datatype out_type, void* in, const int in_counts[], const int in_places[],
              MPI_Datatype in_type, MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               exchange_with_neighbours(
                   all, schedule,
                   [&] {
                     return Parts{out, out_counts, out_places, out_type}.areas();
                   },
                   [&] {
                     return Parts{in, in_counts, in_places, in_type}.areas();
                   });
             })

PHX_MPI_BOTH(Neighbor_alltoallw, Ineighbor_alltoallw,
             (const void* out, const int out_counts[], const MPI_Aint out_places[],
              const MPI_Datatype out_types[], void* in, const int in_counts[],
              const MPI_Aint in_places[], const MPI_Datatype in_types[], MPI_Comm comm),
             [&](Communicator& all, Schedule& schedule) {
               exchange_with_neighbours(
                   all, schedule, [&] { return typed(out, out_counts, out_places, out_types); },
                   [&] { return typed(in, in_counts, in_places, in_types); });
             })
