#include "runtime/mpi/datatypes/arrays.h"

#include <numeric>
#include <vector>

namespace phx::mpi {
namespace {

/// The dimensions, the one whose elements lie side by side first.
std::vector<std::size_t> dense_first(std::size_t count, bool is_c_order) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (is_c_order) std::reverse(order.begin(), order.end());
  return order;
}

/// Moves the part to its place in the whole array, and gives it the extent of the whole.
LayoutRef placed(const Layout& part, MPI_Aint place, MPI_Aint extent) {
  const Block block{.layout = &part, .count = 1, .place = place};
  return resized_layout(*blocks_layout({&block, 1}), 0, extent);
}

/// What one process has of one dimension: elements from `first` on, in blocks.
struct Share {
  MPI_Count first = 0;
  MPI_Count block = 0;   ///< elements in a full block
  MPI_Count full = 0;    ///< full blocks
  MPI_Count rest = 0;    ///< elements in the last, shorter block
  MPI_Count period = 0;  ///< elements from one block to the next
};

Share share_of(MPI_Count size, MPI_Count block, MPI_Count processes, MPI_Count coordinate) {
  Share share{.first = coordinate * block, .block = block, .period = processes * block};
  if (share.first >= size) return {};
  const MPI_Count left = size - share.first;
  share.full = left / share.period;
  const MPI_Count last = std::min(left % share.period, block);
  if (last == block) {
    ++share.full;
  } else {
    share.rest = last;
  }
  return share;
}

MPI_Count block_size(const SharedArray& array, std::size_t dimension) {
  const MPI_Count size = array.sizes[dimension];
  const MPI_Count processes = array.grid[dimension];
  const int argument = array.arguments[dimension];
  switch (array.distributions[dimension]) {
    case MPI_DISTRIBUTE_BLOCK:
      return argument != MPI_DISTRIBUTE_DFLT_DARG ? argument : (size + processes - 1) / processes;
    case MPI_DISTRIBUTE_CYCLIC:
      return argument != MPI_DISTRIBUTE_DFLT_DARG ? argument : 1;
    default:
      return size;
  }
}

LayoutRef dealt(const Layout& inner, const Share& share, MPI_Aint stride) {
  const LayoutRef block = repeated_layout(inner, share.block, stride);
  const LayoutRef all = repeated_layout(*block, share.full, share.period * stride);
  if (share.rest == 0) return all;
  const LayoutRef rest = repeated_layout(inner, share.rest, stride);
  const Block parts[] = {
      {.layout = all.get(), .count = 1, .place = 0},
      {.layout = rest.get(), .count = 1, .place = share.full * share.period * stride}};
  return blocks_layout(parts);
}

/// Where a process stands in the grid, whose last dimension varies fastest.
std::vector<int> coordinates_of(const SharedArray& array) {
  std::vector<int> coordinates(array.grid.size());
  int rest = array.rank;
  for (std::size_t i = array.grid.size(); i-- > 0;) {
    coordinates[i] = rest % array.grid[i];
    rest /= array.grid[i];
  }
  return coordinates;
}

}  // namespace

LayoutRef subarray_layout(const Subarray& array, const Layout& element) {
  auto part = std::make_shared<const Layout>(element);
  MPI_Aint stride = element.extent();
  MPI_Aint place = 0;
  for (const std::size_t i : dense_first(array.sizes.size(), array.is_c_order)) {
    part = repeated_layout(*part, array.subsizes[i], stride);
    place += array.starts[i] * stride;
    stride *= array.sizes[i];
  }
  return placed(*part, place, stride);
}

LayoutRef shared_array_layout(const SharedArray& array, const Layout& element) {
  const std::vector<int> coordinates = coordinates_of(array);
  auto part = std::make_shared<const Layout>(element);
  MPI_Aint stride = element.extent();
  MPI_Aint place = 0;
  for (const std::size_t i : dense_first(array.sizes.size(), array.is_c_order)) {
    const Share share =
        share_of(array.sizes[i], block_size(array, i), array.grid[i], coordinates[i]);
    part = dealt(*part, share, stride);
    place += share.first * stride;
    stride *= array.sizes[i];
  }
  return placed(*part, place, stride);
}

}  // namespace phx::mpi
