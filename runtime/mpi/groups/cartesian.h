#pragma once

#include <span>
#include <vector>

/// The arithmetic of topologies, without communicators.
namespace phx::mpi {

/// Sets the dimensions that are 0 so that the product is `processes`: as equal as possible, the
/// greatest first. Fails with MPI_ERR_DIMS if the others do not divide `processes` or are negative.
void fill_dimensions(int processes, std::span<int> dims);

/// A grid of processes. Ranks are counted along the last dimension first.
struct Cartesian {
  std::vector<int> dims;
  std::vector<bool> wraps;  ///< whether a dimension is a ring

  [[nodiscard]] int size() const;
  [[nodiscard]] std::vector<int> coordinates(int rank) const;
  /// The rank at coordinates; rings wrap around. Outside of the grid: MPI_PROC_NULL.
  [[nodiscard]] int rank_at(std::span<const int> coordinates) const;
  /// The rank `steps` further along a dimension; MPI_PROC_NULL if the grid ends before.
  [[nodiscard]] int neighbour(int rank, int dimension, int steps) const;
  /// The grid of the dimensions that are kept.
  [[nodiscard]] Cartesian sub_grid(const std::vector<bool>& kept) const;
  /// Which of the equal grids of kept dimensions a rank is in, and which rank it has there.
  struct Place {
    int grid, rank;
  };
  [[nodiscard]] Place place_in(int rank, const std::vector<bool>& kept) const;
};

/// A graph as MPI_Graph_create gets it: `ends[i]` is where the list of neighbours of `i` ends.
struct Graph {
  std::vector<int> ends, edges;

  [[nodiscard]] std::span<const int> neighbours(int rank) const;
};

}  // namespace phx::mpi
