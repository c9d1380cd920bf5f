/* Short and long collective operations of MPI_COMM_WORLD one after the other, in any order: ranks of one machine show each
 * other the short ones. What does not fit is found by these alone: up to 32, and not with --tcp. */
#include <unistd.h>

#include "check.h"

enum { ROUNDS = 3000, MOST = 600 };

static unsigned state = 1; /* the same at all ranks */
static unsigned any(unsigned below) {
  state = state * 1103515245u + 12345u;
  return (state >> 16) % below;
}
static int word(int of, int round, int i) { return of * 100003 + round * 101 + i; }
static int is_from(const int* words, int count, int of, int round) {
  for (int i = 0; i < count; ++i)
    if (words[i] != word(of, round, i)) return 0;
  return 1;
}

static int out[MOST], in[MOST];
static void fill(int round) {
  for (int i = 0; i < MOST; ++i) {
    out[i] = word(rank, round, i);
    in[i] = -1;
  }
}
static int is_sum(int count, int round) {
  for (int i = 0; i < count; ++i) {
    int sum = 0;
    for (int r = 0; r < size; ++r) sum += word(r, round, i);
    if (in[i] != sum) return 0;
  }
  return 1;
}

/* Each gives each `count` words, or all the same; in place in some rounds. Both shown and, of many words, not. */
static void exchanged(int round, int count, int is_all, int in_place) {
  int* give = calloc((size_t)(size * count), sizeof(int));
  int* get = calloc((size_t)(size * count), sizeof(int));
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < count; ++i) give[r * count + i] = word(rank, round, is_all ? i : r * count + i);
  if (in_place) memcpy(get, give, sizeof(int) * (size_t)(size * count));
  if (is_all) {
    MPI_Allgather(in_place ? MPI_IN_PLACE : give, count, MPI_INT, get, count, MPI_INT, MPI_COMM_WORLD);
  } else {
    MPI_Alltoall(in_place ? MPI_IN_PLACE : give, count, MPI_INT, get, count, MPI_INT, MPI_COMM_WORLD);
  }
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < count; ++i) CHECK(get[r * count + i] == word(r, round, is_all ? i : rank * count + i));
  free(give);
  free(get);
}

static void mixed(void) {
  for (int round = 0; round < ROUNDS; ++round) {
    const int count = (int)any(MOST), root = (int)any((unsigned)size);
    const unsigned what = any(10), few = any(80);
    MPI_Request request;
    fill(round);
    if (what == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (what == 1) {
      MPI_Ibcast(out, count, MPI_INT, root, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(is_from(out, count, root, round));
    } else if (what < 4) {
      MPI_Bcast(out, count, MPI_INT, root, MPI_COMM_WORLD);
      CHECK(is_from(out, count, root, round));
    } else if (what < 6) {
      MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
      if (rank == root) CHECK(is_sum(count, round));
    } else if (what > 7) {
      exchanged(round, (int)few, what == 8, root % 2);
    } else if (what == 6) {
      MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      CHECK(is_sum(count, round));
    } else {
      memcpy(in, out, sizeof in);
      MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      CHECK(is_sum(count, round));
    }
  }
}

/* One rank is as far ahead as it may be. */
static void streams(void) {
  for (int i = 0; i < 2000; ++i) {
    int one = i;
    MPI_Bcast(&one, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
    CHECK(one == i);
  }
  for (int i = 0; i < 2000; ++i) {
    int one = i + rank, all = -1;
    MPI_Reduce(&one, &all, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) CHECK(all == i + size - 1);
  }
}

static void kinds(void) {
  struct {
    double value;
    int index;
  } gap = {rank % 2, rank}, most = {-1, -1};
  int pair[2] = {rank % 2, rank}, least[2] = {-1, -1};
  MPI_Allreduce(&gap, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  CHECK(most.index == (size > 1 ? 1 : 0));
  MPI_Allreduce(pair, least, 1, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  CHECK(least[0] == 0 && least[1] == 0);
  /* Each second word, shown as it is sent: one after the other. */
  MPI_Datatype odd;
  MPI_Type_vector(10, 1, 2, MPI_INT, &odd);
  MPI_Type_commit(&odd);
  fill(0);
  if (rank == 0) MPI_Bcast(out, 1, odd, 0, MPI_COMM_WORLD);
  if (rank != 0) MPI_Bcast(in, 10, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < 10; ++i) CHECK(rank == 0 || in[i] == word(0, 0, 2 * i));
  MPI_Type_free(&odd);
  long double wide = 0.5L + rank, all = 0;
  MPI_Reduce(&wide, &all, 1, MPI_LONG_DOUBLE, MPI_SUM, size - 1, MPI_COMM_WORLD);
  if (rank == size - 1) CHECK(all == 0.5L * size + size * (size - 1) / 2);
}

/* A rank that never has to wait takes what comes all the same: another one waits for that. */
static void last(void) {
  enum { LONG = 1 << 13 }; /* is asked for, and read by its receiver */
  static int words[LONG];
  MPI_Request request = MPI_REQUEST_NULL;
  int done = 0, rounds = 0;
  for (int i = 0; i < LONG; ++i) words[i] = rank == 1 ? i : -1;
  if (rank == 0) MPI_Irecv(words, LONG, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
  while (!done && ++rounds < 20) {
    int own = rank != 1;
    if (rank == 0) usleep(2000);
    if (rank == 1 && rounds == 5) MPI_Isend(words, LONG, MPI_INT, 0, 7, MPI_COMM_WORLD, &request);
    if (rank == 1 && rounds >= 5) MPI_Test(&request, &own, MPI_STATUS_IGNORE);
    MPI_Allreduce(&own, &done, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  }
  CHECK(done && rounds < 15);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(rank != 0 || (words[0] == 0 && words[LONG - 1] == LONG - 1));
}

static int class_of(int error) {
  int class = MPI_SUCCESS;
  MPI_Error_class(error, &class);
  return class;
}

/* What does not fit is an error, and what follows goes well. */
static void misfits(void) {
#ifndef MPICH_VERSION
  char text[MPI_MAX_ERROR_STRING] = "";
  int length, error;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  error = MPI_Bcast(out, rank == 0 ? 8 : 4, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(class_of(error) == (rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
  error = MPI_Bcast(out, rank == 0 ? 4 : 8, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(class_of(error) == (rank == 0 ? MPI_SUCCESS : MPI_ERR_NOT_SAME));
  MPI_Error_string(error, text, &length);
  CHECK(rank == 0 || strstr(text, "MPI_Bcast: rank 0 sends 16 bytes where this one expects 32") != NULL);
  error = rank == 0 ? MPI_Barrier(MPI_COMM_WORLD) : MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(class_of(error) == MPI_ERR_NOT_SAME);
  MPI_Error_string(error, text, &length);
  CHECK(strstr(text, rank == 0 ? "MPI_Barrier: rank 1 is in MPI_Allreduce: " : "rank 0 is in MPI_Barrier: ") != NULL);
  fill(0);
  error = MPI_Allgather(out, rank == 1 ? 2 : 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
  CHECK(class_of(error) == (rank == 1 ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME));
  error = MPI_Allreduce(out, in, rank == size - 1 ? 2 : 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK(error != MPI_SUCCESS);
  CHECK(class_of(MPI_Allreduce(out, NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Reduce(NULL, in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD)) == MPI_ERR_BUFFER);
  CHECK(class_of(MPI_Bcast(out, 1, MPI_INT, size, MPI_COMM_WORLD)) == MPI_ERR_ROOT);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
#endif
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  mixed();
  streams();
  kinds();
  if (size > 1) last();
  if (size > 1 && size <= 32) misfits();
  mixed();
  return end();
}
