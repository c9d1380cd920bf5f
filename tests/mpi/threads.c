/* Threads of each process talk with their likes elsewhere, all at once, by messages and by collectives of their own. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 60 };
static MPI_Comm comms[THREADS];
static int wrong[THREADS];

static void* talk(void* argument) {
  const int t = (int)(size_t)argument;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  static int big[THREADS][2][30000];
  for (int i = 0; i < ROUNDS; ++i) {
    const int count = i % 10 == 9 ? 30000 : 1 + i;
    big[t][0][0] = rank * 1000 + i;
    MPI_Status status;
    MPI_Sendrecv(big[t][0], count, MPI_INT, to, t, big[t][1], 30000, MPI_INT, from, t, MPI_COMM_WORLD, &status);
    wrong[t] += big[t][1][0] != from * 1000 + i;
    int sum = 0, mine = rank + t;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
    wrong[t] += sum != size * (size - 1) / 2 + size * t;
  }
  return NULL;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  for (size_t t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, talk, (void*)t);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  for (int t = 0; t < THREADS; ++t) {
    CHECK(wrong[t] == 0);
    MPI_Comm_free(&comms[t]);
  }
  return end();
}
