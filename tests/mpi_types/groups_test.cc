#include "runtime/mpi/groups/group.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "runtime/mpi/groups/cartesian.h"
#include "tests/mpi_types/running.h"

namespace phx::mpi::groups_test {
namespace {

MPI_Group made_of(std::vector<int> processes) {
  return groups().open(new Group(std::move(processes)));
}

std::vector<int> processes_of(MPI_Group group) {
  return group_of(group).processes();
}

std::vector<int> filled(int processes, std::vector<int> dims) {
  CHECK(MPI_Dims_create(processes, static_cast<int>(dims.size()), dims.data()) == MPI_SUCCESS);
  return dims;
}

}  // namespace

TEST_SUITE_BEGIN("mpi/groups");

TEST_CASE("sets keep the order of the first group") {
  const Running running;
  MPI_Group a = made_of({5, 1, 3});
  MPI_Group b = made_of({3, 4, 5});
  MPI_Group made = MPI_GROUP_NULL;

  CHECK(MPI_Group_union(a, b, &made) == MPI_SUCCESS);
  CHECK(processes_of(made) == std::vector<int>{5, 1, 3, 4});
  CHECK(MPI_Group_intersection(b, a, &made) == MPI_SUCCESS);
  CHECK(processes_of(made) == std::vector<int>{3, 5});
  CHECK(MPI_Group_difference(a, b, &made) == MPI_SUCCESS);
  CHECK(processes_of(made) == std::vector<int>{1});
  CHECK(MPI_Group_difference(a, a, &made) == MPI_SUCCESS);
  CHECK(made == MPI_GROUP_EMPTY);
  CHECK(MPI_Group_free(&made) == MPI_SUCCESS);
  CHECK(MPI_Group_free(&a) == MPI_SUCCESS);
  CHECK(a == MPI_GROUP_NULL);
  int size = 0;
  CHECK(MPI_Group_size(a, &size) == MPI_ERR_GROUP);
}

TEST_CASE("ranks are chosen, left out, given as ranges and translated") {
  const Running running;
  std::vector<int> ten(10);
  std::iota(ten.begin(), ten.end(), 20);
  const MPI_Group group = made_of(ten);
  MPI_Group made = MPI_GROUP_NULL;
  const int ranks[] = {7, 0, 2};
  int ranges[][3] = {{1, 6, 2}, {9, 7, -2}};

  CHECK(MPI_Group_incl(group, 3, ranks, &made) == MPI_SUCCESS);
  CHECK(processes_of(made) == std::vector<int>{27, 20, 22});
  const int asked[] = {7, MPI_PROC_NULL, 1};
  int translated[3] = {};
  CHECK(MPI_Group_translate_ranks(group, 3, asked, made, translated) == MPI_SUCCESS);
  CHECK(translated[0] == 0);
  CHECK(translated[1] == MPI_PROC_NULL);
  CHECK(translated[2] == MPI_UNDEFINED);
  CHECK(MPI_Group_excl(group, 3, ranks, &made) == MPI_SUCCESS);
  CHECK(processes_of(made) == std::vector<int>{21, 23, 24, 25, 26, 28, 29});
  CHECK(MPI_Group_range_incl(group, 2, ranges, &made) == MPI_SUCCESS);
  CHECK(processes_of(made) == std::vector<int>{21, 23, 25, 29, 27});
  CHECK(MPI_Group_range_excl(group, 2, ranges, &made) == MPI_SUCCESS);
  CHECK(processes_of(made) == std::vector<int>{20, 22, 24, 26, 28});
  CHECK(MPI_Group_incl(group, 0, nullptr, &made) == MPI_SUCCESS);
  CHECK(made == MPI_GROUP_EMPTY);

  const int twice[] = {1, 1};
  CHECK(MPI_Group_incl(group, 2, twice, &made) == MPI_ERR_RANK);
  const int beyond[] = {10};
  CHECK(MPI_Group_excl(group, 1, beyond, &made) == MPI_ERR_RANK);
  int far[][3] = {{0, 2000000000, 1}};
  CHECK(MPI_Group_range_incl(group, 1, far, &made) == MPI_ERR_RANK);
  int beside[][3] = {{1, 10, 4}};  // 1, 5, 9: the last one is not met
  CHECK(MPI_Group_range_incl(group, 1, beside, &made) == MPI_SUCCESS);
  CHECK(groups().find(made)->size() == 3);
  int below[][3] = {{1, -1, -1}};
  CHECK(MPI_Group_range_excl(group, 1, below, &made) == MPI_ERR_RANK);
  ranges[0][2] = 0;
  CHECK(MPI_Group_range_incl(group, 2, ranges, &made) == MPI_ERR_ARG);
  CHECK(MPI_Group_incl(group, -1, ranks, &made) == MPI_ERR_ARG);
}

TEST_CASE("groups are identical, similar or unequal") {
  const Running running;
  const MPI_Group a = made_of({1, 2, 3});
  const MPI_Group b = made_of({3, 2, 1});
  const MPI_Group c = made_of({1, 2, 4});
  int result = -1;
  MPI_Group_compare(a, made_of({1, 2, 3}), &result);
  CHECK(result == MPI_IDENT);
  MPI_Group_compare(a, b, &result);
  CHECK(result == MPI_SIMILAR);
  MPI_Group_compare(a, c, &result);
  CHECK(result == MPI_UNEQUAL);
  own_process() = 2;
  MPI_Group_rank(b, &result);
  CHECK(result == 1);
  own_process() = 9;
  MPI_Group_rank(b, &result);
  CHECK(result == MPI_UNDEFINED);
}

/// All ways to write a number as so many factors, none greater than the one before.
std::vector<std::vector<int>> factored(int number, std::size_t count, int limit) {
  std::vector<std::vector<int>> all;
  if (count == 0 && number == 1) all.emplace_back();
  if (count == 0) return all;
  for (int first = 1; first <= std::min(number, limit); ++first) {
    if (number % first != 0) continue;
    for (std::vector<int> rest : factored(number / first, count - 1, first)) {
      rest.insert(rest.begin(), first);
      all.push_back(std::move(rest));
    }
  }
  return all;
}

TEST_CASE("no other dimensions are closer to each other") {
  const Running running;
  const auto spread = [](const std::vector<int>& dims) { return dims.front() - dims.back(); };
  for (int processes = 1; processes <= 400; ++processes) {
    for (const std::size_t count : {2U, 3U, 4U}) {
      CAPTURE(processes);
      const std::vector<int> made = filled(processes, std::vector<int>(count));
      for (const std::vector<int>& other : factored(processes, count, processes)) {
        CHECK(spread(made) <= spread(other));
        if (spread(made) == spread(other)) CHECK(made.back() >= other.back());
      }
    }
  }
}

TEST_CASE("dimensions are balanced, do not increase and keep what was given") {
  const Running running;
  CHECK(filled(6, {0, 0}) == std::vector<int>{3, 2});
  CHECK(filled(7, {0, 0}) == std::vector<int>{7, 1});
  CHECK(filled(6, {0, 3, 0}) == std::vector<int>{2, 3, 1});
  CHECK(filled(16, {0, 0, 0}) == std::vector<int>{4, 2, 2});
  CHECK(filled(36, {0, 0, 0}) == std::vector<int>{4, 3, 3});
  CHECK(filled(24, {0, 0, 0}) == std::vector<int>{4, 3, 2});
  CHECK(filled(1, {0, 0}) == std::vector<int>{1, 1});
  // 20 x 18 x 14 differ as much, but the smallest is smaller.
  CHECK(filled(5040, {0, 0, 0}) == std::vector<int>{21, 16, 15});
  // 24 x 24 x 13 differ more.
  CHECK(filled(7488, {0, 0, 0}) == std::vector<int>{26, 18, 16});
  CHECK(filled(1000000, {0, 0, 0}) == std::vector<int>{100, 100, 100});
  CHECK(filled(2147483647, {0, 0}) == std::vector<int>{2147483647, 1});
  int seven[] = {0, 3, 0};
  CHECK(MPI_Dims_create(7, 3, seven) == MPI_ERR_DIMS);
  int given[] = {2, 1};
  CHECK(MPI_Dims_create(4, 2, given) == MPI_SUCCESS);
  int negative[] = {-2, 0};
  CHECK(MPI_Dims_create(4, 2, negative) == MPI_ERR_DIMS);
  CHECK(MPI_Dims_create(0, 2, seven) == MPI_ERR_ARG);
}

TEST_CASE("ranks and coordinates of a grid belong together, and rings wrap around") {
  const Cartesian grid{{2, 3, 4}, {false, true, false}};
  CHECK(grid.size() == 24);
  for (int rank = 0; rank < grid.size(); ++rank) {
    CHECK(grid.rank_at(grid.coordinates(rank)) == rank);
    CHECK(grid.neighbour(grid.neighbour(rank, 1, 2), 1, -5) == rank);
  }
  CHECK(grid.coordinates(23) == std::vector<int>{1, 2, 3});
  CHECK(grid.neighbour(0, 0, -1) == MPI_PROC_NULL);
  CHECK(grid.neighbour(0, 1, -1) == 8);
  CHECK(grid.rank_at(std::vector<int>{0, 0, 4}) == MPI_PROC_NULL);

  const std::vector<bool> kept = {true, false, true};
  const Cartesian sub = grid.sub_grid(kept);
  CHECK(sub.dims == std::vector<int>{2, 4});
  CHECK(grid.place_in(23, kept).grid == 2);
  CHECK(grid.place_in(23, kept).rank == 7);
  const Graph graph{{2, 3, 3}, {1, 2, 0}};
  CHECK(graph.neighbours(0).size() == 2);
  CHECK(graph.neighbours(1)[0] == 0);
  CHECK(graph.neighbours(2).empty());
}

TEST_SUITE_END();

}  // namespace phx::mpi::groups_test
