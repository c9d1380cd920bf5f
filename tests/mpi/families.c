/* Communicators of communicators: halves of halves, pairs between them, and back to all. */
#include "check.h"

static void sum_in(MPI_Comm comm) {
  int one = 1, all = 0, n;
  MPI_Comm_size(comm, &n);
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
  CHECK(all == n);
}

static void halve(MPI_Comm comm) {
  int n, r;
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &r);
  sum_in(comm);
  if (n < 2) return;
  MPI_Comm half, both, merged;
  const int high = r >= n / 2;
  MPI_Comm_split(comm, high, -r, &half);
  int hr, hn;
  MPI_Comm_rank(half, &hr);
  MPI_Comm_size(half, &hn);
  CHECK(hn == (high ? n - n / 2 : n / 2));
  CHECK(hr == (high ? n - 1 - r : n / 2 - 1 - r));
  MPI_Intercomm_create(half, 0, comm, high ? n / 2 - 1 : n - 1, 7, &both);
  int remote, flag;
  MPI_Comm_remote_size(both, &remote);
  MPI_Comm_test_inter(both, &flag);
  CHECK(flag && remote == n - hn);
  /* What is agreed upon meanwhile has nothing to do with an operation that goes on. */
  MPI_Request open;
  MPI_Ibarrier(both, &open);
  MPI_Intercomm_merge(both, high, &merged);
  MPI_Wait(&open, MPI_STATUS_IGNORE);
  sum_in(merged);
  MPI_Comm_free(&merged);
  int mine = r, sum = 0, expected = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, both);
  for (int i = 0; i < n; ++i) expected += (i >= n / 2) != high ? i : 0;
  CHECK(sum == expected);
  int value = high ? -1 : 42;
  MPI_Bcast(&value, 1, MPI_INT, high ? 0 : hr == 0 ? MPI_ROOT : MPI_PROC_NULL, both);
  CHECK(value == 42);
  int* parts = calloc((size_t)n, sizeof(int));
  MPI_Allgather(&mine, 1, MPI_INT, parts, 1, MPI_INT, both);
  for (int i = 0; i < remote; ++i) CHECK(parts[i] == (high ? n / 2 - 1 - i : n - 1 - i));
  free(parts);
  MPI_Barrier(both);
  MPI_Intercomm_merge(both, high, &merged);
  int mr;
  MPI_Comm_rank(merged, &mr);
  CHECK(mr == (high ? n / 2 + hr : hr));
  sum_in(merged);
  MPI_Comm twin;
  MPI_Comm_dup(both, &twin);
  int relation;
  MPI_Comm_compare(both, twin, &relation);
  CHECK(relation == MPI_CONGRUENT);
  MPI_Comm_free(&twin);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
  halve(half);
  MPI_Comm_free(&half);
}

/* Groups that overlap, one after the other, with one tag: who is first in one is not in the other. */
static void overlapping(void) {
  MPI_Group all, some;
  MPI_Comm comm;
  int* ranks = malloc((size_t)size * sizeof(int));
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  unsigned state = 12345;
  for (int round = 0; round < 200; ++round) {
    int count = 0, is_in = 0, first = -1;
    for (int i = 0; i < size; ++i) {
      state = state * 1103515245u + 12345u;
      if (!(state >> 16 & 1)) continue;
      if (count == 0) first = i;
      is_in = is_in || i == rank;
      ranks[count++] = i;
    }
    MPI_Group_incl(all, count, ranks, &some);
    if (is_in) {
      MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &comm);
      int value = rank == first ? round : -1;
      MPI_Bcast(&value, 1, MPI_INT, 0, comm);
      CHECK(value == round);
      MPI_Comm_free(&comm);
    }
    MPI_Group_free(&some);
  }
  MPI_Group_free(&all);
  free(ranks);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  halve(MPI_COMM_WORLD);
  overlapping();
  MPI_Group all, odd;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int range[1][3] = {{1, size - 1, 2}};
  MPI_Group_range_incl(all, size > 1 ? 1 : 0, range, &odd);
  MPI_Comm some, later;
  MPI_Comm_create(MPI_COMM_WORLD, odd, &some);
  CHECK((some != MPI_COMM_NULL) == (rank % 2 == 1));
  if (some != MPI_COMM_NULL) {
    sum_in(some);
    MPI_Comm_create_group(MPI_COMM_WORLD, odd, 3, &later);
    sum_in(later);
    MPI_Comm_free(&later);
    MPI_Comm_free(&some);
  }
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sum_in(later);
  MPI_Comm_free(&later);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &later);
  sum_in(later);
  MPI_Comm_free(&later);
  MPI_Group_free(&odd);
  MPI_Group_free(&all);
  return end();
}
