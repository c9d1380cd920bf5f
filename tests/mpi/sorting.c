/* Sorting by samples: what is whose is known only at run time. */
#include "check.h"

enum { EACH = 5000 };

static int by_value(const void* a, const void* b) {
  const unsigned x = *(const unsigned*)a, y = *(const unsigned*)b;
  return x < y ? -1 : x > y;
}
static unsigned value(int i) { return (unsigned)i * 2654435761U ^ ((unsigned)i * 40503U << 7); }

int main(int argc, char** argv) {
  begin(&argc, &argv);
  unsigned* own = malloc(sizeof(unsigned) * EACH);
  for (int i = 0; i < EACH; ++i) own[i] = value(rank * EACH + i);
  qsort(own, EACH, sizeof(unsigned), by_value);
  unsigned* samples = malloc(sizeof(unsigned) * (size_t)(size * size));
  unsigned* mine = malloc(sizeof(unsigned) * (size_t)size);
  for (int i = 0; i < size; ++i) mine[i] = own[i * EACH / size];
  MPI_Allgather(mine, size, MPI_UNSIGNED, samples, size, MPI_UNSIGNED, MPI_COMM_WORLD);
  qsort(samples, (size_t)(size * size), sizeof(unsigned), by_value);
  int *out = calloc(4 * (size_t)size, sizeof(int)), *out_at = out + size, *in = out_at + size, *in_at = in + size;
  for (int i = 0, to = 0; i < EACH; ++i) {
    while (to + 1 < size && own[i] >= samples[(to + 1) * size]) ++to;
    ++out[to];
  }
  MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  int total = in[0];
  for (int i = 1; i < size; ++i) {
    out_at[i] = out_at[i - 1] + out[i - 1];
    in_at[i] = in_at[i - 1] + in[i - 1];
    total += in[i];
  }
  unsigned* sorted = malloc(sizeof(unsigned) * (size_t)(total + 1));
  MPI_Alltoallv(own, out, out_at, MPI_UNSIGNED, sorted, in, in_at, MPI_UNSIGNED, MPI_COMM_WORLD);
  qsort(sorted, (size_t)total, sizeof(unsigned), by_value);
  int before = 0;
  MPI_Exscan(&total, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) before = 0;
  unsigned* all = malloc(sizeof(unsigned) * (size_t)(size * EACH));
  for (int i = 0; i < size * EACH; ++i) all[i] = value(i);
  qsort(all, (size_t)(size * EACH), sizeof(unsigned), by_value);
  CHECK(memcmp(all + before, sorted, sizeof(unsigned) * (size_t)total) == 0);
  free(own), free(samples), free(mine), free(out), free(sorted), free(all);
  return end();
}
