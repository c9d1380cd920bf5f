/* A communicator of one process: collective operations of both forms, their errors, messages of a
 * process to itself in their order, and polling while another thread of it sends. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static MPI_Comm self;

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static int done(MPI_Request* request) {
  int flag = 0;
  while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
  return *request == MPI_REQUEST_NULL;
}

/* Every second integer is sent, and lands as the first two of three. */
static void spread(void) {
  int from[4] = {1, 2, 3, 4}, to[4], one[1] = {2}, zero[1] = {0};
  MPI_Datatype every;
  MPI_Request request;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every);
  MPI_Type_commit(&every);
#define COPIES(call)                            \
  memset(to, 0, sizeof to);                     \
  CHECK((call) == MPI_SUCCESS);                 \
  CHECK(to[0] == 1 && to[1] == 3 && to[2] == 0)
  COPIES(MPI_Gather(from, 1, every, to, 2, MPI_INT, 0, self));
  COPIES(MPI_Gatherv(from, 1, every, to, one, zero, MPI_INT, 0, self));
  COPIES(MPI_Scatter(from, 1, every, to, 2, MPI_INT, 0, self));
  COPIES(MPI_Allgather(from, 1, every, to, 2, MPI_INT, self));
  COPIES(MPI_Allgatherv(from, 1, every, to, one, zero, MPI_INT, self));
  COPIES(MPI_Alltoall(from, 1, every, to, 2, MPI_INT, self));
  COPIES(MPI_Igather(from, 1, every, to, 2, MPI_INT, 0, self, &request) || !done(&request));
  COPIES(MPI_Iscatter(from, 1, every, to, 2, MPI_INT, 0, self, &request) || !done(&request));
  COPIES(MPI_Iallgather(from, 1, every, to, 2, MPI_INT, self, &request) || !done(&request));
  COPIES(MPI_Ialltoall(from, 1, every, to, 2, MPI_INT, self, &request) || !done(&request));
#undef COPIES
  memcpy(to, from, sizeof to);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_INT, self);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_INT, self);
  MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, 4, MPI_INT, 0, self);
  MPI_Scatter(to, 4, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, self);
  MPI_Bcast(to, 1, every, 0, self);
  CHECK(!memcmp(to, from, sizeof to));
  MPI_Ibarrier(self, &request);
  CHECK(MPI_Barrier(self) == MPI_SUCCESS && done(&request));
  MPI_Type_free(&every);
}

static void refuse(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
  CHECK(!"there is nothing to combine");
}

static void combined(void) {
  double from[2] = {1.5, -2}, to[2];
  int one[1] = {2};
  MPI_Op op;
  MPI_Request request;
  MPI_Op_create(refuse, 0, &op);
#define IS_OWN(call)            \
  to[0] = to[1] = 0;            \
  CHECK((call) == MPI_SUCCESS); \
  CHECK(to[0] == 1.5 && to[1] == -2)
  IS_OWN(MPI_Reduce(from, to, 2, MPI_DOUBLE, op, 0, self));
  IS_OWN(MPI_Allreduce(from, to, 2, MPI_DOUBLE, op, self));
  IS_OWN(MPI_Scan(from, to, 2, MPI_DOUBLE, MPI_SUM, self));
  IS_OWN(MPI_Reduce_scatter(from, to, one, MPI_DOUBLE, op, self));
  IS_OWN(MPI_Reduce_scatter_block(from, to, 2, MPI_DOUBLE, MPI_PROD, self));
  IS_OWN(MPI_Ireduce(from, to, 2, MPI_DOUBLE, op, 0, self, &request) || !done(&request));
  IS_OWN(MPI_Iallreduce(from, to, 2, MPI_DOUBLE, op, self, &request) || !done(&request));
  IS_OWN(MPI_Iscan(from, to, 2, MPI_DOUBLE, op, self, &request) || !done(&request));
#undef IS_OWN
  MPI_Allreduce(MPI_IN_PLACE, to, 2, MPI_DOUBLE, op, self);
  MPI_Reduce(MPI_IN_PLACE, to, 2, MPI_DOUBLE, op, 0, self);
  MPI_Scan(MPI_IN_PLACE, to, 2, MPI_DOUBLE, op, self);
  CHECK(to[0] == 1.5 && to[1] == -2);
  to[0] = 7; /* undefined at rank 0: left alone */
  MPI_Exscan(from, to, 2, MPI_DOUBLE, op, self);
  CHECK(to[0] == 7);
  MPI_Op_free(&op);
}

static void failing(void) {
  int four[4] = {1, 2, 3, 4}, two[4] = {0, 9};
  double number = 1, other;
  MPI_Request request = MPI_REQUEST_NULL;
#define FAILS(class, call) CHECK(class_of(call) == MPI_ERR_##class)
  FAILS(TRUNCATE, MPI_Allgather(four, 4, MPI_INT, two, 1, MPI_INT, self));
  CHECK(two[0] == 1 && two[1] == 9);
  FAILS(TRUNCATE, MPI_Alltoall(four, 4, MPI_INT, two, 1, MPI_INT, self));
  FAILS(TRUNCATE, MPI_Gather(four, 4, MPI_INT, two, 1, MPI_INT, 0, self));
  FAILS(ROOT, MPI_Bcast(four, 1, MPI_INT, 1, self));
  FAILS(ROOT, MPI_Gather(four, 1, MPI_INT, two, 1, MPI_INT, -1, self));
  FAILS(COUNT, MPI_Bcast(four, -1, MPI_INT, 0, self));
  FAILS(TYPE, MPI_Bcast(four, 1, MPI_DATATYPE_NULL, 0, self));
  FAILS(OP, MPI_Allreduce(&number, &other, 1, MPI_DOUBLE, MPI_BAND, self));
  FAILS(BUFFER, MPI_Allreduce(four, four, 2, MPI_INT, MPI_SUM, self));
  FAILS(BUFFER, MPI_Bcast(NULL, 1, MPI_INT, 0, self));
#ifndef MPICH_VERSION /* 4.0 looks at neither */
  char text[MPI_MAX_ERROR_STRING];
  int length;
  FAILS(COUNT, MPI_Allreduce(four, two, -1, MPI_INT, MPI_SUM, self));
  MPI_Ialltoall(four, 4, MPI_INT, two, 1, MPI_INT, self, &request);
  FAILS(TRUNCATE, MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
  CHECK(strstr(text, "what this rank gives itself is longer than its place") != NULL);
#endif
  CHECK(request == MPI_REQUEST_NULL);
#undef FAILS
}

/* What waits for a receive, and what finds one, short and long, meet receives in order. */
static void in_order(void) {
  enum { kMany = 64, kLong = 20000 };
  static int out[kMany][kLong], in[kMany][kLong];
  MPI_Request sends[kMany], receives[kMany];
  int sent = 0, posted = 0;
  srand(7);
  for (int i = 0; i < kMany; ++i) {
    out[i][0] = i;
    out[i][kLong - 1] = -i;
  }
  while (sent < kMany || posted < kMany) {
    if (posted == kMany || (sent < kMany && rand() % 2)) {
      const int length = sent % 3 ? 1 : kLong;
      int (*const send)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) =
          sent % 5 ? MPI_Isend : MPI_Issend;
      send(out[sent], length, MPI_INT, 0, sent % 2, self, &sends[sent]);
      ++sent;
    } else {
      MPI_Irecv(in[posted], kLong, MPI_INT, posted % 7 ? 0 : MPI_ANY_SOURCE, MPI_ANY_TAG, self,
                &receives[posted]);
      ++posted;
    }
  }
  for (int i = 0; i < kMany; ++i) {
    MPI_Status status;
    int n;
    MPI_Wait(&receives[i], &status);
    MPI_Get_count(&status, MPI_INT, &n);
    CHECK(in[i][0] == i && status.MPI_TAG == i % 2 && status.MPI_SOURCE == 0);
    CHECK(n == (i % 3 ? 1 : kLong) && (n == 1 || in[i][kLong - 1] == -i));
  }
  MPI_Waitall(kMany, sends, MPI_STATUSES_IGNORE);
}

static void to_oneself(void) {
  int four[4] = {1, 2, 3, 4}, two[2] = {0, 9}, n;
  MPI_Request request;
  MPI_Status status;
#ifndef MPICH_VERSION /* 4.0 stops in it */
  MPI_Irecv(two, 1, MPI_INT, 0, 3, self, &request);
  MPI_Send(four, 4, MPI_INT, 0, 3, self);
  CHECK(class_of(MPI_Wait(&request, &status)) == MPI_ERR_TRUNCATE && two[0] == 1 && two[1] == 9);
#endif
  MPI_Sendrecv(four + 2, 2, MPI_INT, 0, 1, two, 2, MPI_INT, 0, 1, self, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(two[0] == 3 && two[1] == 4 && n == 2 && status.MPI_TAG == 1);
  MPI_Sendrecv_replace(two, 2, MPI_INT, 0, 1, 0, 1, self, &status);
  CHECK(two[0] == 3 && two[1] == 4);
  if (size == 1) { /* what has room leaves before its receive */
    static char out[60000], in[60000];
    out[59999] = 3;
    MPI_Send(out, 60000, MPI_CHAR, 0, 2, self);
    MPI_Recv(in, 60000, MPI_CHAR, 0, 2, self, MPI_STATUS_IGNORE);
    CHECK(in[59999] == 3);
  }
  /* A receive of another tag, or of another communicator, does not take it. */
  MPI_Irecv(two, 2, MPI_INT, 0, 5, self, &request);
  MPI_Send(four, 1, MPI_INT, 0, 4, self);
  MPI_Send(four + 1, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
  int flag = 1;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Send(four + 2, 1, MPI_INT, 0, 5, self);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(two[0] == 3);
  MPI_Recv(two, 1, MPI_INT, 0, 4, self, MPI_STATUS_IGNORE);
  MPI_Recv(two + 1, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(two[0] == 1 && two[1] == 2);
}

static MPI_Request general;
static int nothing(void* extra, MPI_Status* status) {
  (void)extra;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int freed(void* extra) { return extra != NULL; }
static int cancelled(void* extra, int complete) { return extra != NULL && complete; }

static void* later(void* comm) {
  usleep(20000);
  MPI_Send(&rank, 1, MPI_INT, 0, 6, *(MPI_Comm*)comm);
  usleep(20000);
  MPI_Grequest_complete(general);
  return NULL;
}

/* Who only polls sees what another thread does, and what other processes send. */
static void polling(void) {
  pthread_t thread;
  int flag = 0, got = -1;
  MPI_Grequest_start(nothing, freed, cancelled, NULL, &general);
  MPI_Request request = general;
  pthread_create(&thread, NULL, later, &self);
  while (!flag) MPI_Iprobe(0, 6, self, &flag, MPI_STATUS_IGNORE);
  MPI_Recv(&got, 1, MPI_INT, 0, 6, self, MPI_STATUS_IGNORE);
  CHECK(got == rank && done(&request));
  pthread_join(thread, NULL);
  if (size == 1) return;
  MPI_Message message;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) usleep(20000);
  if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
  for (flag = rank != 1; !flag;) {
    MPI_Improbe(0, 6, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  }
  if (rank == 1) MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  if (rank == 1) CHECK(got == 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  spread();
  combined();
  in_order();
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  failing();
  to_oneself();
  polling();
  MPI_Comm_free(&self);
  return end();
}
