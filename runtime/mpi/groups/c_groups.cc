#include "runtime/mpi/base/entry.h"
#include "runtime/mpi/groups/cartesian.h"
#include "runtime/mpi/groups/group.h"

using namespace phx::mpi;

namespace {

/// A handle of these processes. No process at all: the predefined empty group.
MPI_Group opened(std::vector<int> processes) {
  if (processes.empty()) return MPI_GROUP_EMPTY;
  return groups().open(new Group(std::move(processes)));
}

void check_list(int count, const void* list) {
  require(count >= 0, MPI_ERR_ARG, "the number of entries is negative");
  require(list != nullptr || count == 0, MPI_ERR_ARG, "the list is null");
}

std::span<const int> listed(int count, const int* list) {
  check_list(count, list);
  return {list, static_cast<std::size_t>(count)};
}

std::vector<int> listed_ranges(const Group& group, int count, const int ranges[][3]) {
  check_list(count, ranges);
  return expanded(group, {ranges, static_cast<std::size_t>(count)});
}

}  // namespace

PHX_MPI_ENTRY(int, Group_size, (MPI_Group group, int* size)) {
  return enter("MPI_Group_size", [&] {
    need({size});
    *size = group_of(group).size();
  });
}

PHX_MPI_ENTRY(int, Group_rank, (MPI_Group group, int* rank)) {
  return enter("MPI_Group_rank", [&] {
    need({rank});
    *rank = group_of(group).rank_of(own_process());
  });
}

PHX_MPI_ENTRY(int, Group_translate_ranks,
              (MPI_Group from, int count, const int* ranks, MPI_Group to, int* translated)) {
  return enter("MPI_Group_translate_ranks", [&] {
    const Group& source = group_of(from);
    const Group& target = group_of(to);
    check_list(count, translated);
    for (const int rank : listed(count, ranks)) {
      const bool is_null = rank == MPI_PROC_NULL;
      require(is_null || (rank >= 0 && rank < source.size()), MPI_ERR_RANK,
              "a rank is not in the first group");
      *translated++ = is_null ? MPI_PROC_NULL : target.rank_of(source.process(rank));
    }
  });
}

PHX_MPI_ENTRY(int, Group_compare, (MPI_Group a, MPI_Group b, int* result)) {
  return enter("MPI_Group_compare", [&] {
    need({result});
    *result = group_of(a).compared(group_of(b));
  });
}

PHX_MPI_ENTRY(int, Group_union, (MPI_Group a, MPI_Group b, MPI_Group* result)) {
  return enter("MPI_Group_union", [&] {
    need({result});
    *result = opened(group_of(a).united(group_of(b)));
  });
}

PHX_MPI_ENTRY(int, Group_intersection, (MPI_Group a, MPI_Group b, MPI_Group* result)) {
  return enter("MPI_Group_intersection", [&] {
    need({result});
    *result = opened(group_of(a).shared(group_of(b), true));
  });
}

PHX_MPI_ENTRY(int, Group_difference, (MPI_Group a, MPI_Group b, MPI_Group* result)) {
  return enter("MPI_Group_difference", [&] {
    need({result});
    *result = opened(group_of(a).shared(group_of(b), false));
  });
}

PHX_MPI_ENTRY(int, Group_incl, (MPI_Group group, int n, const int* ranks, MPI_Group* result)) {
  return enter("MPI_Group_incl", [&] {
    need({result});
    *result = opened(group_of(group).chosen(listed(n, ranks)));
  });
}

PHX_MPI_ENTRY(int, Group_excl, (MPI_Group group, int n, const int* ranks, MPI_Group* result)) {
  return enter("MPI_Group_excl", [&] {
    need({result});
    *result = opened(group_of(group).without(listed(n, ranks)));
  });
}

PHX_MPI_ENTRY(int, Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group* result)) {
  return enter("MPI_Group_range_incl", [&] {
    need({result});
    const Group& all = group_of(group);
    *result = opened(all.chosen(listed_ranges(all, n, ranges)));
  });
}

PHX_MPI_ENTRY(int, Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group* result)) {
  return enter("MPI_Group_range_excl", [&] {
    need({result});
    const Group& all = group_of(group);
    *result = opened(all.without(listed_ranges(all, n, ranges)));
  });
}

PHX_MPI_ENTRY(int, Group_free, (MPI_Group * group)) {
  return enter("MPI_Group_free", [&] {
    require(group != nullptr, MPI_ERR_ARG, "the pointer to the group is null");
    Group& freed = group_of(*group);
    // Calls may return the empty group, and what they return is to be freed.
    if (*group != MPI_GROUP_EMPTY) groups().close(&freed);
    *group = MPI_GROUP_NULL;
  });
}

PHX_MPI_ENTRY(int, Dims_create, (int processes, int count, int* dims)) {
  return enter("MPI_Dims_create", [&] {
    require(processes > 0, MPI_ERR_ARG, "the number of processes is not positive");
    require(count >= 0 && (dims != nullptr || count == 0), MPI_ERR_DIMS,
            "there are no dimensions to fill");
    fill_dimensions(processes, {dims, static_cast<std::size_t>(count)});
  });
}
