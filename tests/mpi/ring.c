/* Messages of many lengths around a ring: short, long, synchronous, with wildcards, from threads of nobody. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, errors;

static void check(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  ++errors;
}

static void pass(int bytes) {
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  char* out = malloc((size_t)bytes + 1);
  char* in = calloc((size_t)bytes + 1, 1);
  for (int i = 0; i < bytes; ++i) out[i] = (char)(i * 7 + rank);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
  MPI_Issend(out, bytes, MPI_BYTE, to, bytes % 1000, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, statuses);
  int count = -1, wrong = 0;
  MPI_Get_count(&statuses[0], MPI_BYTE, &count);
  for (int i = 0; i < bytes; ++i) wrong += in[i] != (char)(i * 7 + from);
  check(count == bytes && wrong == 0, "bytes are wrong");
  check(statuses[0].MPI_SOURCE == from && statuses[0].MPI_TAG == bytes % 1000, "status is wrong");
  free(out);
  free(in);
}

/* Messages of one sender stay in order, whatever their lengths. */
static void keep_order(void) {
  const int lengths[] = {1, 20000, 3, 90000, 5, 600, 25000};
  static int memory[90000];
  if (rank == 0) {
    for (int i = 0; i < 7; ++i) {
      memory[0] = i;
      MPI_Send(memory, lengths[i], MPI_INT, size - 1, 9, MPI_COMM_WORLD);
    }
  }
  if (rank == size - 1) {
    for (int i = 0; i < 7; ++i) {
      MPI_Status status;
      int count = 0;
      MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      check(count == lengths[i], "a message was overtaken");
      MPI_Recv(memory, 90000, MPI_INT, 0, 9, MPI_COMM_WORLD, &status);
      check(memory[0] == i, "a message was overtaken by its bytes");
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int lengths[] = {0, 1, 8, 1000, 65536, 65537, 300000, 3000000};
  for (int i = 0; i < 8; ++i) pass(lengths[i]);
  // Or rank 0 is so fast that its first message matches a receive from anybody, of the ring.
  MPI_Barrier(MPI_COMM_WORLD);
  if (size > 1) keep_order();
  MPI_Finalize();
  return errors != 0;
}
