#pragma once

#include <span>

#include "runtime/mpi/datatypes/layout.h"

namespace phx::mpi {

/// A part of an array of `sizes`: `subsizes` elements from `starts` on. `is_c_order`: the last
/// dimension is the one whose elements lie side by side; otherwise the first.
struct Subarray {
  std::span<const int> sizes, subsizes, starts;
  bool is_c_order;
};
LayoutRef subarray_layout(const Subarray& array, const Layout& element);

/// What one of several processes has of an array that is dealt out, dimension by dimension.
struct SharedArray {
  int processes, rank;
  std::span<const int> sizes;
  std::span<const int> distributions;  ///< MPI_DISTRIBUTE_...
  std::span<const int> arguments;      ///< sizes of blocks, or MPI_DISTRIBUTE_DFLT_DARG
  std::span<const int> grid;           ///< how many processes there are along each dimension
  bool is_c_order;
};
LayoutRef shared_array_layout(const SharedArray& array, const Layout& element);

}  // namespace phx::mpi
