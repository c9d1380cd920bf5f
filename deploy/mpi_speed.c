/* Times of MPI calls, for any MPI: deploy/mpi_speed.sh compiles and runs it.
 *   mpi_speed plain SECONDS BYTES...         half round trips over TCP, without MPI
 *   mpi_speed pair SECONDS BYTES...          the same of ranks 0 and 1
 *   mpi_speed strided SECONDS BYTES...       the same with doubles of which each second one travels
 *   mpi_speed poll SECONDS LOOKS...          so many times 1 us of work and an MPI_Test in vain
 *   mpi_speed OPERATION SECONDS BYTES...     bcast, reduce, allreduce, alltoall, barrier; all: each
 * A collective operation is called in a loop. One that does not bring all ranks together is followed
 * by a barrier, whose time counts, since only with it everybody has finished. Medians of 9 loops at
 * rank 0; each takes about a tenth of the seconds. */
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { kLoops = 9 };
static int rank, size;
static char *from, *into;
static MPI_Datatype columns; /* of the bytes that are measured */

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* As programs do that look for messages while they compute. */
static void poll(int looks) {
  MPI_Request request;
  int is_there = 0, nothing;
  MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
  for (int i = 0; i < looks; ++i) {
    volatile double sum = 0;
    for (int k = 0; k < 500; ++k) sum += k;
    MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
  }
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void pair(int count, MPI_Datatype type) {
  if (rank == 0) {
    MPI_Send(from, count, type, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(into, count, type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(into, count, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(from, count, type, 0, 0, MPI_COMM_WORLD);
  }
}

static void once(const char* operation, int bytes) {
  const int count = bytes / 4;
  if (!strcmp(operation, "pair")) return pair(bytes, MPI_BYTE);
  if (!strcmp(operation, "strided")) return pair(1, columns);
  if (!strcmp(operation, "poll")) poll(bytes);
  if (!strcmp(operation, "bcast")) MPI_Bcast(from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (!strcmp(operation, "reduce")) {
    MPI_Reduce(from, into, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  if (!strcmp(operation, "allreduce")) {
    MPI_Allreduce(from, into, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (!strcmp(operation, "alltoall")) {
    MPI_Alltoall(from, bytes, MPI_BYTE, into, bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  if (strcmp(operation, "allreduce") && strcmp(operation, "alltoall")) MPI_Barrier(MPI_COMM_WORLD);
}

/* Seconds for `times` calls. */
static double loop(const char* operation, int bytes, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) once(operation, bytes);
  return MPI_Wtime() - begin;
}

static void measure(const char* operation, int bytes, double seconds) {
  double took[kLoops];
  int times = 2;
  MPI_Type_vector(bytes / (int)sizeof(double), 1, 2, MPI_DOUBLE, &columns);
  MPI_Type_commit(&columns);
  for (double one = loop(operation, bytes, times); times < 1 << 20; times *= 2) {
    int is_enough = one > seconds / 20;
    MPI_Bcast(&is_enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (is_enough) break;
    one = loop(operation, bytes, times * 2);
  }
  for (int i = 0; i < kLoops; ++i) took[i] = loop(operation, bytes, times) / times * 1e6;
  qsort(took, kLoops, sizeof(double), compare);
  MPI_Type_free(&columns);
  if (rank != 0) return;
  const double parts = strcmp(operation, "pair") && strcmp(operation, "strided") ? 1 : 2;
  printf("%s %d %d %.2f\n", operation, size, bytes, took[kLoops / 2] / parts);
  fflush(stdout);
}

/* --- Plain TCP -------------------------------------------------------------------------------- */

static void move(int connection, int is_out, size_t bytes) {
  for (size_t at = 0; at < bytes;) {
    const ssize_t moved = is_out ? write(connection, from + at, bytes - at)
                                 : read(connection, into + at, bytes - at);
    if (moved <= 0) exit(0);
    at += (size_t)moved;
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int connected(int listener, struct sockaddr_in* address) {
  const int is_child = fork() == 0;
  const int one = 1;
  const int connection = is_child ? socket(AF_INET, SOCK_STREAM, 0) : accept(listener, NULL, NULL);
  if (is_child && connect(connection, (struct sockaddr*)address, sizeof *address)) exit(1);
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  rank = is_child;
  return connection;
}

/* The other process answers whatever comes, until this one is gone. */
static void plain(double seconds, size_t bytes) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr*)&address, length) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr*)&address, &length)) {
    exit(1);
  }
  const int connection = connected(listener, &address);
  while (rank == 1) {
    move(connection, 0, bytes);
    move(connection, 1, bytes);
  }
  double took[kLoops];
  for (int i = -1, times = 1; i < kLoops; ++i) {
    const double begin = now();
    int done = 0;
    for (; i < 0 ? now() - begin < seconds / 10 : done < times; ++done) {
      move(connection, 1, bytes);
      move(connection, 0, bytes);
    }
    if (i < 0) {
      times = done;
    } else {
      took[i] = (now() - begin) / done / 2 * 1e6;
    }
  }
  close(connection);
  close(listener);
  qsort(took, kLoops, sizeof(double), compare);
  printf("plain 2 %zu %.2f\n", bytes, took[kLoops / 2]);
  fflush(stdout);
}

int main(int argc, char** argv) {
  static const char* const all[] = {"barrier", "bcast", "reduce", "allreduce", "alltoall"};
  const int is_plain = argc > 1 && !strcmp(argv[1], "plain");
  if (!is_plain) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  size_t most = 64;
  for (int i = 3; i < argc; ++i) most = (size_t)atol(argv[i]) > most ? (size_t)atol(argv[i]) : most;
  const size_t parts = argc > 1 && !is_plain && strcmp(argv[1], "pair") ? (size_t)size : 1;
  from = malloc(most * parts);
  into = malloc(most * parts);
  memset(from, 1, most * parts);
  memset(into, 1, most * parts);
  for (int i = 3; is_plain && i < argc; ++i) plain(atof(argv[2]), (size_t)atol(argv[i]));
  if (is_plain) return 0;
  for (int k = 0; argc > 3 && k < 5; ++k) {
    const int is_all = !strcmp(argv[1], "all");
    const char* const operation = is_all ? all[k] : argv[1];
    const int has_size = strcmp(operation, "barrier") != 0;
    for (int i = 3; i < (has_size ? argc : 4); ++i) {
      measure(operation, has_size ? atoi(argv[i]) : 0, atof(argv[2]));
    }
    if (!is_all) break;
  }
  free(from);
  free(into);
  MPI_Finalize();
  return 0;
}
