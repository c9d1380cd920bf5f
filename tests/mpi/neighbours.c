/* Topologies, and collective operations among neighbours: rings with oneself as neighbour, edges of
 * a grid, graphs with weights, graphs that not everybody describes. */
#include "check.h"

static void grid(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], from, to, back;
  MPI_Comm comm, row;
  MPI_Dims_create(size, 2, dims);
  CHECK(dims[0] * dims[1] == size && dims[0] >= dims[1]);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  int kind, count;
  MPI_Topo_test(comm, &kind);
  MPI_Cartdim_get(comm, &count);
  CHECK(kind == MPI_CART && count == 2);
  MPI_Cart_coords(comm, rank, 2, coords);
  MPI_Cart_rank(comm, coords, &back);
  CHECK(back == rank);
  coords[0] += dims[0];
  MPI_Cart_rank(comm, coords, &back);
  CHECK(back == rank);
  coords[0] -= dims[0];
  MPI_Cart_shift(comm, 1, 1, &from, &to);
  CHECK((coords[1] == 0) == (from == MPI_PROC_NULL));
  CHECK((coords[1] == dims[1] - 1) == (to == MPI_PROC_NULL));
  int mine = rank, in[4] = {-1, -1, -1, -1}, up, down;
  MPI_Neighbor_allgather(&mine, 1, MPI_INT, in, 1, MPI_INT, comm);
  MPI_Cart_shift(comm, 0, 1, &up, &down);
  CHECK(in[0] == up && in[1] == down);
  CHECK(in[2] == (from == MPI_PROC_NULL ? -1 : from) && in[3] == (to == MPI_PROC_NULL ? -1 : to));
  int out[4], got[4] = {-1, -1, -1, -1};
  for (int i = 0; i < 4; ++i) out[i] = 10 * rank + i;
  MPI_Request request;
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, got, 1, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (dims[0] > 2) CHECK(got[0] == 10 * up + 1 && got[1] == 10 * down);
  if (from != MPI_PROC_NULL) CHECK(got[2] == 10 * from + 3);
  if (to != MPI_PROC_NULL) CHECK(got[3] == 10 * to + 2);
  const int keep[2] = {0, 1};
  MPI_Cart_sub(comm, keep, &row);
  int r, n;
  MPI_Comm_rank(row, &r);
  MPI_Comm_size(row, &n);
  CHECK(n == dims[1] && r == coords[1]);
  MPI_Comm_free(&row);
  MPI_Comm_free(&comm);
}

static void described(void) {
  /* Everybody sends to the next two, and to itself; only rank 0 says so. */
  MPI_Comm comm;
  int* sources = malloc(sizeof(int) * (size_t)size);
  int* degrees = malloc(sizeof(int) * (size_t)size);
  int* targets = malloc(sizeof(int) * 3 * (size_t)size);
  int* weights = malloc(sizeof(int) * 3 * (size_t)size);
  for (int r = 0; r < size; ++r) {
    sources[r] = r;
    degrees[r] = 3;
    for (int i = 0; i < 3; ++i) {
      targets[3 * r + i] = (r + i) % size;
      weights[3 * r + i] = 10 * r + i;
    }
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, sources, degrees, targets, weights,
                        MPI_INFO_NULL, 0, &comm);
  int in, out, weighted;
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  CHECK(in == 3 && out == 3 && weighted);
  int from[3], from_weights[3], to[3], to_weights[3];
  MPI_Dist_graph_neighbors(comm, 3, from, from_weights, 3, to, to_weights);
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += to_weights[i];
    CHECK(from_weights[i] == 10 * from[i] + (rank + size - from[i]) % size || size < 3);
  }
  CHECK(sum == 30 * rank + 3);
  int counts[3] = {1, 1, 1}, places[3] = {2, 1, 0}, got[3] = {-1, -1, -1}, mine = rank;
  MPI_Neighbor_allgatherv(&mine, 1, MPI_INT, got, counts, places, MPI_INT, comm);
  for (int i = 0; i < 3; ++i) CHECK(got[2 - i] == from[i]);
  MPI_Comm_free(&comm);

  const int to_next = (rank + 1) % size, from_last = (rank + size - 1) % size;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from_last, MPI_UNWEIGHTED, 1, &to_next,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  CHECK(in == 1 && out == 1 && !weighted);
  MPI_Datatype type = MPI_INT;
  MPI_Aint none = 0;
  int one = 1, last = -1;
  MPI_Neighbor_alltoallw(&mine, &one, &none, &type, &last, &one, &none, &type, comm);
  CHECK(last == from_last);
  MPI_Comm_free(&comm);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL,
                                 MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
  MPI_Neighbor_allgather(&mine, 1, MPI_INT, &last, 1, MPI_INT, comm);
  /* Who has no neighbours need not say anything of them. */
  MPI_Neighbor_allgather(NULL, 1, MPI_INT, NULL, 1, MPI_INT, comm);
  MPI_Neighbor_allgatherv(NULL, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, comm);
  MPI_Neighbor_alltoall(NULL, 1, MPI_INT, NULL, 1, MPI_INT, comm);
  MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, comm);
  MPI_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, comm);
  MPI_Comm_free(&comm);
  free(sources), free(degrees), free(targets), free(weights);
}

static void star(void) {
  /* Rank 0 with all others. */
  MPI_Comm comm;
  int* index = malloc(sizeof(int) * (size_t)size);
  int* edges = malloc(sizeof(int) * 2 * (size_t)size);
  int n, m, kind;
  for (int r = 0; r < size; ++r) {
    index[r] = size - 1 + r;
    if (r > 0) edges[r - 1] = r, edges[size - 2 + r] = 0;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  MPI_Topo_test(comm, &kind);
  MPI_Graphdims_get(comm, &n, &m);
  CHECK(kind == MPI_GRAPH && n == size && m == 2 * (size - 1));
  MPI_Graph_neighbors_count(comm, rank, &n);
  CHECK(n == (rank == 0 ? size - 1 : 1));
  int* got = malloc(sizeof(int) * (size_t)size);
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, comm);
  for (int i = 0; i < n; ++i) CHECK(got[i] == (rank == 0 ? i + 1 : 0));
  MPI_Comm_free(&comm);
  free(index), free(edges), free(got);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  grid();
  described();
  if (size > 1) star();
  MPI_Comm none;
  int dims[1] = {1}, periods[1] = {0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &none);
  CHECK((none != MPI_COMM_NULL) == (rank == 0));
  if (none != MPI_COMM_NULL) MPI_Comm_free(&none);
  return end();
}
