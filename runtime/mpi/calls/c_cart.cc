#include <numeric>

#include "runtime/mpi/calls/agreement.h"
#include "runtime/mpi/calls/topology.h"

using namespace phx::mpi;

namespace {

Cartesian grid_of(int count, const int* dims, const int* wraps) {
  require(count >= 0, MPI_ERR_DIMS, "the number of dimensions is negative");
  require(count == 0 || (dims != nullptr && wraps != nullptr), MPI_ERR_ARG, "an array is null");
  Cartesian grid;
  for (int i = 0; i < count; ++i) {
    require(dims[i] > 0, MPI_ERR_DIMS, "a dimension is not positive");
    grid.dims.push_back(dims[i]);
    grid.wraps.push_back(wraps[i] != 0);
  }
  return grid;
}

}  // namespace

PHX_MPI_ENTRY(int, Cart_create,
              (MPI_Comm comm, int count, const int dims[], const int wraps[], int /*reorder*/,
               MPI_Comm* out)) {
  return enter("MPI_Cart_create", comm, [&] {
    need({out});
    Communicator& all = intra_of(comm);
    *out = MPI_COMM_NULL;
    const Cartesian grid = grid_of(count, dims, wraps);
    require(grid.size() <= all.size(), MPI_ERR_DIMS, "the grid has more places than processes");
    split(all, all.rank() < grid.size() ? 0 : MPI_UNDEFINED, all.rank(), out);
    if (*out != MPI_COMM_NULL) comm_of(*out).topology = grid;
  });
}

PHX_MPI_ENTRY(int, Cart_sub, (MPI_Comm comm, const int kept[], MPI_Comm* out)) {
  return enter("MPI_Cart_sub", comm, [&] {
    need({out});
    Communicator& all = comm_of(comm);
    const Cartesian grid = topology_of<Cartesian>(all);
    std::vector<bool> which;
    for (std::size_t i = 0; i < grid.dims.size(); ++i) which.push_back(kept[i] != 0);
    const auto [color, key] = grid.place_in(all.rank(), which);
    split(all, color, key, out);
    comm_of(*out).topology = grid.sub_grid(which);
  });
}

PHX_MPI_ENTRY(int, Cartdim_get, (MPI_Comm comm, int* count)) {
  return enter("MPI_Cartdim_get", comm, [&] {
    need({count});
    *count = static_cast<int>(topology_of<Cartesian>(comm_of(comm)).dims.size());
  });
}

PHX_MPI_ENTRY(int, Cart_get,
              (MPI_Comm comm, int count, int dims[], int wraps[], int coordinates[])) {
  return enter("MPI_Cart_get", comm, [&] {
    const Communicator& all = comm_of(comm);
    const Cartesian& grid = topology_of<Cartesian>(all);
    const std::vector<int> own = grid.coordinates(all.rank());
    for (std::size_t i = 0; i < own.size() && static_cast<int>(i) < count; ++i) {
      dims[i] = grid.dims[i];
      wraps[i] = grid.wraps[i] ? 1 : 0;
      coordinates[i] = own[i];
    }
  });
}

PHX_MPI_ENTRY(int, Cart_rank, (MPI_Comm comm, const int coordinates[], int* rank)) {
  return enter("MPI_Cart_rank", comm, [&] {
    need({rank});
    const Cartesian& grid = topology_of<Cartesian>(comm_of(comm));
    const int found = grid.rank_at({coordinates, grid.dims.size()});
    require(found != MPI_PROC_NULL, MPI_ERR_ARG, "the coordinates are outside of the grid");
    *rank = found;
  });
}

PHX_MPI_ENTRY(int, Cart_coords, (MPI_Comm comm, int rank, int count, int coordinates[])) {
  return enter("MPI_Cart_coords", comm, [&] {
    const Communicator& all = comm_of(comm);
    const Cartesian& grid = topology_of<Cartesian>(all);
    require(rank >= 0 && rank < all.size(), MPI_ERR_RANK, "there is no such rank");
    const std::vector<int> found = grid.coordinates(rank);
    for (std::size_t i = 0; i < found.size() && static_cast<int>(i) < count; ++i) {
      coordinates[i] = found[i];
    }
  });
}

PHX_MPI_ENTRY(int, Cart_shift,
              (MPI_Comm comm, int dimension, int steps, int* source, int* target)) {
  return enter("MPI_Cart_shift", comm, [&] {
    need({source, target});
    const Communicator& all = comm_of(comm);
    const Cartesian& grid = topology_of<Cartesian>(all);
    require(dimension >= 0 && dimension < static_cast<int>(grid.dims.size()), MPI_ERR_DIMS,
            "there is no such dimension");
    *source = grid.neighbour(all.rank(), dimension, -steps);
    *target = grid.neighbour(all.rank(), dimension, steps);
  });
}

PHX_MPI_ENTRY(int, Cart_map,
              (MPI_Comm comm, int count, const int dims[], const int wraps[], int* rank)) {
  return enter("MPI_Cart_map", comm, [&] {
    need({rank});
    const Communicator& all = comm_of(comm);
    const int size = grid_of(count, dims, wraps).size();
    require(size <= all.size(), MPI_ERR_DIMS, "the grid has more places than processes");
    *rank = all.rank() < size ? all.rank() : MPI_UNDEFINED;
  });
}

PHX_MPI_ENTRY(int, Topo_test, (MPI_Comm comm, int* kind)) {
  return enter("MPI_Topo_test", comm, [&] {
    need({kind});
    constexpr std::array kKinds = {MPI_UNDEFINED, MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH};
    *kind = kKinds[comm_of(comm).topology.index()];
  });
}
