/* Sends and receives of every kind between neighbours: modes, wildcards, order, probes, matched
 * messages, cancelling, persistent requests, empty and truncated messages, MPI_PROC_NULL. */
#include "check.h"

#include <unistd.h>

static int left, right;

static void modes(void) {
  int mine = rank, got, n = 0;
  MPI_Status status;
  MPI_Request request;
  char* room = malloc(1 << 16);
  MPI_Buffer_attach(room, 1 << 16);
  MPI_Bsend(&mine, 1, MPI_INT, right, 1, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
  CHECK(got == left && status.MPI_SOURCE == left && status.MPI_TAG == 1);
  MPI_Ibsend(&mine, 1, MPI_INT, right, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(&got, 1, MPI_INT, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(got == left && request == MPI_REQUEST_NULL);
  void* back;
  int size_back;
  MPI_Buffer_detach(&back, &size_back);
  CHECK(back == room && size_back == 1 << 16);
  free(room);

  /* A synchronous send ends only when it is received. */
  MPI_Issend(&mine, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &request);
  int flag = 1;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  /* Ready sends, of which the receive is there. */
  MPI_Irecv(&got, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Rsend(&mine, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(n == 1 && got == left);

  /* Nothing, with an address that is none; and too little for the count of a type. */
  MPI_Sendrecv(NULL, 0, MPI_DOUBLE, right, 5, NULL, 0, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &n);
  CHECK(n == 0);
  char odd[6] = "hello", place[6];
  MPI_Sendrecv(odd, 6, MPI_BYTE, right, 5, place, 6, MPI_BYTE, left, 5, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(n == MPI_UNDEFINED && !strcmp(place, "hello"));
  int pair[2] = {rank, -rank};
  MPI_Sendrecv_replace(pair, 2, MPI_INT, right, 6, left, 6, MPI_COMM_WORLD, &status);
  CHECK(pair[0] == left && pair[1] == -left);

  MPI_Send(&mine, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Recv(&got, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && n == 0);
}

static void order(void) {
  enum { kMany = 200, kLong = 40000 };
  static int out[kMany][4], in[kMany][4], large[kLong], landed[kLong];
  MPI_Request requests[kMany + 1];
  for (int i = 0; i < kMany; ++i) {
    out[i][0] = i;
    MPI_Isend(out[i], 1 + i % 4, MPI_INT, right, i % 3, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < kLong; ++i) large[i] = i ^ rank;
  MPI_Isend(large, kLong, MPI_INT, right, 0, MPI_COMM_WORLD, &requests[kMany]);
  for (int tag = 2; tag >= 0; --tag) {
    for (int i = tag; i < kMany; i += 3) {
      MPI_Status status;
      int n;
      MPI_Recv(in[i], 4, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &n);
      CHECK(in[i][0] == i && n == 1 + i % 4 && status.MPI_SOURCE == left);
    }
  }
  MPI_Recv(landed, kLong, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  int wrong = 0;
  for (int i = 0; i < kLong; ++i) wrong += landed[i] != (i ^ left);
  CHECK(wrong == 0);
  MPI_Waitall(kMany + 1, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i <= kMany; ++i) CHECK(requests[i] == MPI_REQUEST_NULL);
}

static void probes(void) {
  MPI_Status status;
  MPI_Message message;
  int flag, n, got[3], mine[3] = {rank, rank + 1, rank + 2};
  MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &status);
  CHECK(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(mine, 3, MPI_INT, right, 7, MPI_COMM_WORLD);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(n == 3 && status.MPI_TAG == 7 && status.MPI_SOURCE == left);
  MPI_Recv(got, n, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(got[2] == left + 2);

  /* A matched message can be received by nobody else. */
  MPI_Send(mine, 3, MPI_INT, right, 8, MPI_COMM_WORLD);
  MPI_Mprobe(left, 8, MPI_COMM_WORLD, &message, &status);
  MPI_Iprobe(left, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag && message != MPI_MESSAGE_NULL);
  MPI_Mrecv(got, 3, MPI_INT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL && got[0] == left);
  MPI_Send(mine, 3, MPI_INT, right, 13, MPI_COMM_WORLD);
  do MPI_Improbe(left, 13, MPI_COMM_WORLD, &flag, &message, &status);
  while (!flag);
  MPI_Request request;
  MPI_Imrecv(got, 3, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);
  CHECK(got[1] == left + 1 && status.MPI_TAG == 13);
  MPI_Mprobe(MPI_PROC_NULL, 8, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(got, 3, MPI_INT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL && status.MPI_SOURCE == MPI_PROC_NULL);
}

static void cancelled(void) {
  int got, flag;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&got, 1, MPI_INT, left, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(flag);
  MPI_Irecv(&got, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, right, 9, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  CHECK(!flag && got == left);

  /* Sends that are done without their receive: each is cancelled, or received; not both. */
  enum { kLong = 100000 };
  static int out[kLong], in[kLong];
  char* room = malloc(8 * kLong);
  MPI_Buffer_attach(room, 8 * kLong);
  for (int kind = 0; kind < 3; ++kind) {
    const int count = kind == 2 ? kLong : 3;
    for (int i = 0; i < count; ++i) out[i] = rank + kind + i;
    if (kind == 0) MPI_Isend(out, count, MPI_INT, right, 14, MPI_COMM_WORLD, &request);
    if (kind > 0) MPI_Ibsend(out, count, MPI_INT, right, 14, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    int theirs;
    MPI_Sendrecv(&flag, 1, MPI_INT, right, 15, &theirs, 1, MPI_INT, left, 15, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (!theirs) {
      MPI_Recv(in, kLong, MPI_INT, left, 14, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(in[count - 1] == left + kind + count - 1);
    }
    MPI_Iprobe(MPI_ANY_SOURCE, 14, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Buffer_detach(&room, &flag);
  free(room);

  MPI_Isend(&rank, 1, MPI_INT, right, 10, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Recv(&got, 1, MPI_INT, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void persistent(void) {
  int out = 0, in = -1, flag;
  MPI_Request requests[2];
  MPI_Status statuses[2];
  MPI_Send_init(&out, 1, MPI_INT, right, 11, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(&in, 1, MPI_INT, left, 11, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[1], &statuses[1]); /* not active: done, and empty */
  CHECK(statuses[1].MPI_SOURCE == MPI_ANY_SOURCE && statuses[1].MPI_TAG == MPI_ANY_TAG);
  for (int round = 0; round < 20; ++round) {
    out = rank + 100 * round;
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, statuses);
    CHECK(in == left + 100 * round && statuses[1].MPI_SOURCE == left);
    CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
  }
  MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
  CHECK(flag);
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
}

#ifndef MPICH_VERSION /* 4.0 does not wait for those whose requests were freed */
/* Who disconnects waits for what was begun there, also without a request: the memory is free then. */
static void disconnected(void) {
  enum { kCount = 1 << 20 };
  int *sent = malloc(kCount * sizeof(int)), *got = calloc(kCount, sizeof(int)), wrong = 0;
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < kCount; ++i) sent[i] = i;
  if (rank == 0) {
    MPI_Isend(sent, kCount, MPI_INT, size - 1, 1, comm, &request);
    MPI_Request_free(&request);
  }
  if (rank == size - 1) {
    usleep(100000);
    MPI_Irecv(got, kCount, MPI_INT, 0, 1, comm, &request);
    MPI_Request_free(&request);
  }
  MPI_Comm_disconnect(&comm);
  CHECK(comm == MPI_COMM_NULL);
  for (int i = 0; i < kCount; ++i) wrong += rank == size - 1 && got[i] != i;
  memset(sent, 0, kCount * sizeof(int));
  CHECK(wrong == 0);
  free(got);
  free(sent);
}
#endif

static void refused(void) {
  int one = 1, class_of;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#define FAILS(call, code)                 \
  do {                                    \
    MPI_Error_class((call), &class_of);   \
    CHECK(class_of == (code));            \
  } while (0)
  FAILS(MPI_Send(&one, -1, MPI_INT, right, 1, MPI_COMM_WORLD), MPI_ERR_COUNT);
  FAILS(MPI_Send(&one, 1, MPI_DATATYPE_NULL, right, 1, MPI_COMM_WORLD), MPI_ERR_TYPE);
  FAILS(MPI_Send(&one, 1, MPI_INT, size, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
  FAILS(MPI_Send(&one, 1, MPI_INT, right, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
  FAILS(MPI_Send(&one, 1, MPI_INT, right, 1, MPI_COMM_NULL), MPI_ERR_COMM);
  FAILS(MPI_Recv(&one, 1, MPI_INT, size + 3, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_RANK);
  FAILS(MPI_Send(NULL, 1, MPI_INT, right, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  int many[4] = {1, 2, 3, 4}, few[2] = {0, 0};
  MPI_Request request;
  MPI_Isend(many, 4, MPI_INT, right, 12, MPI_COMM_WORLD, &request);
  FAILS(MPI_Recv(few, 2, MPI_INT, left, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  modes();
  order();
  MPI_Barrier(MPI_COMM_WORLD);
  probes();
  cancelled();
  persistent();
#ifndef MPICH_VERSION
  if (size > 1) disconnected();
#endif
  refused();
  return end();
}
