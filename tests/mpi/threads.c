/* Threads of each process talk with their likes elsewhere, all at once, by messages and by collectives of their own;
 * make communicators; and share what comes to their process, each message for one of them. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 60, COPIES = 8, EACH = 100 };
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

/* Communicators that come and go, with operations of all kinds in them. */
static void* make(void* argument) {
  const int t = (int)(size_t)argument;
  int* out = malloc(sizeof(int) * (size_t)size);
  int* in = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < COPIES; ++i) {
    MPI_Comm copy, half;
    int word = rank == i % size ? 100 * t + i : -1, all = 0;
    MPI_Comm_dup(comms[t], &copy);
    MPI_Comm_split(copy, rank % 2, -rank, &half);
    MPI_Request requests[2];
    MPI_Ibcast(&word, 1, MPI_INT, i % size, copy, &requests[0]);
    MPI_Ibarrier(half, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wrong[t] += word != 100 * t + i;
    for (int r = 0; r < size; ++r) out[r] = rank * 1000 + r + t;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, copy);
    for (int r = 0; r < size; ++r) wrong[t] += in[r] != r * 1000 + rank + t;
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, half);
    int expected = 0;
    for (int r = rank % 2; r < size; r += 2) expected += r;
    wrong[t] += all != expected;
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
  }
  free(in);
  free(out);
  return NULL;
}

/* Of so many messages each thread takes what it can get. */
static atomic_int taken;
static atomic_long sum;
static void* take(void* argument) {
  const int t = (int)(size_t)argument;
  while (atomic_fetch_add(&taken, 1) < size * EACH) {
    MPI_Message message;
    MPI_Status status;
    int word[2] = {0, 0}, count = 0;
    MPI_Mprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    wrong[t] += count != 2;
    MPI_Mrecv(word, 2, MPI_INT, &message, &status);
    wrong[t] += word[0] != status.MPI_SOURCE;
    atomic_fetch_add(&sum, word[1]);
  }
  return NULL;
}

static void share(void) {
  pthread_t threads[THREADS];
  for (size_t t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, take, (void*)t);
  for (int i = 0; i < EACH; ++i) {
    const int word[2] = {rank, i};
    for (int to = 0; to < size; ++to) MPI_Send(word, 2, MPI_INT, to, 99, MPI_COMM_WORLD);
  }
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  CHECK(sum == (long)size * EACH * (EACH - 1) / 2);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  pthread_t threads[THREADS];
  for (int t = 0; t < THREADS; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  for (size_t t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, talk, (void*)t);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  for (size_t t = 0; t < THREADS; ++t) pthread_create(&threads[t], NULL, make, (void*)t);
  for (int t = 0; t < THREADS; ++t) pthread_join(threads[t], NULL);
  share();
  for (int t = 0; t < THREADS; ++t) {
    CHECK(wrong[t] == 0);
    MPI_Comm_free(&comms[t]);
  }
  return end();
}
