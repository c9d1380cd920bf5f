/* Waiting for any, some and all; tests; generalized requests; many collective operations at once. */
#include "check.h"

enum { kMany = 24 };

static void any_and_some(void) {
  int in[kMany], out[kMany], seen[kMany] = {0}, place, done, places[kMany], flag;
  MPI_Request sends[kMany], receives[kMany];
  MPI_Status status, statuses[kMany];
  for (int i = 0; i < kMany; ++i) {
    MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &receives[i]);
  }
  MPI_Testany(kMany, receives, &place, &flag, &status);
  CHECK(!flag && place == MPI_UNDEFINED);
  MPI_Testsome(kMany, receives, &done, places, statuses);
  CHECK(done == 0);
  for (int i = kMany - 1; i >= 0; --i) {
    out[i] = i * i;
    MPI_Isend(&out[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &sends[i]);
  }
  for (int i = 0; i < kMany / 2; ++i) {
    MPI_Waitany(kMany, receives, &place, &status);
    CHECK(place >= 0 && place < kMany && !seen[place]++);
    CHECK(status.MPI_TAG == place && in[place] == place * place);
    CHECK(receives[place] == MPI_REQUEST_NULL);
  }
  for (int left = kMany - kMany / 2; left > 0; left -= done) {
    for (int i = 0; i < kMany; ++i) statuses[i].MPI_ERROR = 4711;
    MPI_Waitsome(kMany, receives, &done, places, statuses);
    CHECK(done > 0);
    for (int i = 0; i < done; ++i) {
      CHECK(!seen[places[i]]++ && statuses[i].MPI_TAG == places[i]);
#ifndef OPEN_MPI
      CHECK(statuses[i].MPI_ERROR == 4711); /* It is set with MPI_ERR_IN_STATUS alone. */
#endif
    }
  }
  MPI_Waitany(kMany, receives, &place, &status);
  CHECK(place == MPI_UNDEFINED);
  MPI_Waitsome(kMany, receives, &done, places, statuses);
  CHECK(done == MPI_UNDEFINED);
  MPI_Testany(kMany, receives, &place, &flag, &status);
  CHECK(flag && place == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE);
  do MPI_Testall(kMany, sends, &flag, MPI_STATUSES_IGNORE);
  while (!flag);
  MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
  CHECK(flag);
  MPI_Request none = MPI_REQUEST_NULL;
  MPI_Wait(&none, &status);
  int n;
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(status.MPI_TAG == MPI_ANY_TAG && n == 0);
}

static void one_fails(void) {
  int many[4] = {0}, few[2][2], class_of;
  MPI_Request requests[4];
  MPI_Status statuses[4];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Irecv(few[0], 2, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(few[1], 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(many, 2, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(many, 4, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Error_class(MPI_Waitall(4, requests, statuses), &class_of);
  CHECK(class_of == MPI_ERR_IN_STATUS);
  MPI_Error_class(statuses[1].MPI_ERROR, &class_of);
  CHECK(class_of == MPI_ERR_TRUNCATE && statuses[0].MPI_ERROR == MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static int queries, frees, cancels;
static int query(void* extra, MPI_Status* status) {
  ++queries;
  MPI_Status_set_elements(status, MPI_INT, *(int*)extra);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = 3;
  status->MPI_TAG = 4;
  return MPI_SUCCESS;
}
static int freed(void* extra) {
  (void)extra;
  ++frees;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra;
  cancels += complete ? 100 : 1;
  return MPI_SUCCESS;
}

static void generalized(void) {
  int elements = 5, flag, n;
  MPI_Request request, other;
  MPI_Status status;
  MPI_Grequest_start(query, freed, cancel, &elements, &request);
  other = request;
  MPI_Test(&request, &flag, &status);
  CHECK(!flag && queries == 0);
  MPI_Cancel(&request);
  CHECK(cancels == 1);
  MPI_Grequest_complete(other);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(n == 5 && status.MPI_SOURCE == 3 && status.MPI_TAG == 4 && queries == 1 && frees == 1);
  /* Freed by whatever is last: the program frees it, or completes it. */
  MPI_Grequest_start(query, freed, cancel, &elements, &request);
  other = request;
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL && frees == 1);
  MPI_Grequest_complete(other);
  CHECK(frees == 2 && queries == 1);
  MPI_Grequest_start(query, freed, cancel, &elements, &request);
  MPI_Grequest_complete(request);
  CHECK(frees == 2);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL && frees == 3);
}

/* Collective operations that are begun together, and ended in another order. */
static void outstanding(void) {
  int sums[kMany], mine[kMany], values[kMany];
  MPI_Request requests[3 * kMany];
  int* all = malloc(sizeof(int) * (size_t)(kMany * size));
  for (int i = 0; i < kMany; ++i) {
    mine[i] = rank * (i + 1);
    values[i] = rank == i % size ? 1000 + i : -1;
    MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[i]);
    MPI_Ibcast(&values[i], 1, MPI_INT, i % size, MPI_COMM_WORLD, &requests[2 * kMany - 1 - i]);
    MPI_Iallgather(&mine[i], 1, MPI_INT, all + i * size, 1, MPI_INT, MPI_COMM_WORLD,
                   &requests[2 * kMany + i]);
  }
  for (int i = 3 * kMany - 1; i >= 0; i -= 2) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  MPI_Waitall(3 * kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMany; ++i) {
    CHECK(sums[i] == size * (size - 1) / 2 * (i + 1) && values[i] == 1000 + i);
    for (int r = 0; r < size; ++r) CHECK(all[i * size + r] == r * (i + 1));
  }
  free(all);
}

/* Persistent requests go on when the program has freed their communicator, also when another one
 * has got its handle. */
static void persistent_of_freed(void) {
  MPI_Comm freed, other;
  MPI_Request both[2];
  int mine = rank, came = -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  MPI_Send_init(&mine, 1, MPI_INT, (rank + 1) % size, 3, freed, &both[0]);
  MPI_Recv_init(&came, 1, MPI_INT, (rank + size - 1) % size, 3, freed, &both[1]);
  MPI_Comm_free(&freed);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
  for (int i = 0; i < 2; ++i) {
    mine = rank + 100 * i;
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK(came == (rank + size - 1) % size + 100 * i);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  MPI_Comm_free(&other);
}

/* To cancel twice is to cancel once, also of a send that has been received. */
static void cancelled_twice(void) {
  int mine = rank, came = -1;
  MPI_Request request;
  MPI_Status status;
  MPI_Isend(&mine, 1, MPI_INT, (rank + 1) % size, 8, MPI_COMM_WORLD, &request);
  MPI_Recv(&came, 1, MPI_INT, (rank + size - 1) % size, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Cancel(&request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  int is_cancelled = -1;
  MPI_Test_cancelled(&status, &is_cancelled);
  CHECK(is_cancelled == 0 && came == (rank + size - 1) % size);
}

/* Whose communicator returns errors gets those of a start, too. */
static void start_fails(void) {
  MPI_Comm comm;
  MPI_Request request;
  int mine = rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Bsend_init(&mine, 1, MPI_INT, rank, 9, comm, &request);
  CHECK(MPI_Start(&request) == MPI_ERR_BUFFER); /* there is none */
  CHECK(MPI_Startall(1, &request) == MPI_ERR_BUFFER);
  MPI_Request_free(&request);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  any_and_some();
  one_fails();
  generalized();
  outstanding();
  persistent_of_freed();
  cancelled_twice();
  start_fails();
  return end();
}
