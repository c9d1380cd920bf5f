#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/datatypes/arrays.h"
#include "runtime/mpi/datatypes/constructed.h"

using namespace phx::mpi;

namespace {

void check_order(int order) {
  require(order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN, MPI_ERR_ARG,
          "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
}

void append(std::vector<int>& list, std::span<const int> more) {
  list.insert(list.end(), more.begin(), more.end());
}

void check(const Subarray& array) {
  for (std::size_t i = 0; i < array.sizes.size(); ++i) {
    require(array.sizes[i] >= 1, MPI_ERR_ARG, "a size of the array is not positive");
    require(array.subsizes[i] >= 1 && array.subsizes[i] <= array.sizes[i], MPI_ERR_ARG,
            "a size of the subarray is not between one and the size of the array");
    require(array.starts[i] >= 0 && array.starts[i] <= array.sizes[i] - array.subsizes[i],
            MPI_ERR_ARG, "the subarray begins or ends outside of the array");
  }
}

void check_dimension(const SharedArray& array, std::size_t i) {
  const int distribution = array.distributions[i];
  const int argument = array.arguments[i];
  require(array.sizes[i] >= 1, MPI_ERR_ARG, "a size of the array is not positive");
  require(array.grid[i] >= 1, MPI_ERR_ARG, "a size of the grid of processes is not positive");
  require(argument == MPI_DISTRIBUTE_DFLT_DARG || argument >= 1, MPI_ERR_ARG,
          "an argument of a distribution is not positive");
  const bool is_block = distribution == MPI_DISTRIBUTE_BLOCK;
  const bool is_none = distribution == MPI_DISTRIBUTE_NONE;
  require(is_block || is_none || distribution == MPI_DISTRIBUTE_CYCLIC, MPI_ERR_ARG,
          "a distribution is none of MPI_DISTRIBUTE_*");
  require(!is_none || array.grid[i] == 1, MPI_ERR_ARG,
          "a dimension that is not distributed has more than one process");
  const bool reaches = !is_block || argument == MPI_DISTRIBUTE_DFLT_DARG ||
                       static_cast<MPI_Count>(argument) * array.grid[i] >= array.sizes[i];
  require(reaches, MPI_ERR_ARG, "the blocks of a distribution do not cover the array");
}

void check(const SharedArray& array) {
  require(array.processes >= 1, MPI_ERR_ARG, "the number of processes is not positive");
  require(array.rank >= 0 && array.rank < array.processes, MPI_ERR_RANK,
          "the rank is not among the processes");
  MPI_Count grid = 1;
  for (std::size_t i = 0; i < array.sizes.size(); ++i) {
    check_dimension(array, i);
    grid *= array.grid[i];
  }
  require(grid == array.processes, MPI_ERR_ARG,
          "the grid has not as many places as there are processes");
}

}  // namespace

PHX_MPI_ENTRY(int, Type_create_subarray,
              (int dims, const int* sizes, const int* subsizes, const int* starts, int order,
               MPI_Datatype old, MPI_Datatype* made)) {
  return enter("MPI_Type_create_subarray", [&] {
    need({made});
    require(dims >= 1, MPI_ERR_ARG, "the array has no dimension");
    require(sizes != nullptr && subsizes != nullptr && starts != nullptr, MPI_ERR_ARG,
            "an array of arguments is null");
    check_order(order);
    const auto n = static_cast<std::size_t>(dims);
    const Subarray array{{sizes, n}, {subsizes, n}, {starts, n}, order == MPI_ORDER_C};
    check(array);
    std::vector<int> integers = {dims};
    for (const auto& list : {array.sizes, array.subsizes, array.starts}) append(integers, list);
    integers.push_back(order);
    *made = constructed(subarray_layout(array, datatype_of(old).layout()),
                        {MPI_COMBINER_SUBARRAY, std::move(integers), {}, refs({old})});
  });
}

PHX_MPI_ENTRY(int, Type_create_darray,
              (int size, int rank, int dims, const int* sizes, const int* distributions,
               const int* arguments, const int* grid, int order, MPI_Datatype old,
               MPI_Datatype* made)) {
  return enter("MPI_Type_create_darray", [&] {
    need({made});
    require(dims >= 1, MPI_ERR_ARG, "the array has no dimension");
    const bool is_complete =
        sizes != nullptr && distributions != nullptr && arguments != nullptr && grid != nullptr;
    require(is_complete, MPI_ERR_ARG, "an array of arguments is null");
    check_order(order);
    const auto n = static_cast<std::size_t>(dims);
    const SharedArray array{size,           rank,      {sizes, n},          {distributions, n},
                            {arguments, n}, {grid, n}, order == MPI_ORDER_C};
    check(array);
    std::vector<int> integers = {size, rank, dims};
    for (const auto& list : {array.sizes, array.distributions, array.arguments, array.grid})
      append(integers, list);
    integers.push_back(order);
    *made = constructed(shared_array_layout(array, datatype_of(old).layout()),
                        {MPI_COMBINER_DARRAY, std::move(integers), {}, refs({old})});
  });
}
