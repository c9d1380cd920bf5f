/* Counts at their edges: none of anything, as many as an int has, more bytes than that, and fewer than none,
 * for each function that counts. Little memory: datatypes of many elements lie on each other. */
#include "check.h"
#include <limits.h>

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

/* Nothing from nowhere: null pointers, empty arrays of counts. */
static void none(void) {
  int* zeros = calloc((size_t)size, sizeof(int));
  MPI_Datatype* types = malloc((size_t)size * sizeof(MPI_Datatype));
  MPI_Request request[8];
  MPI_Status status;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int n = -1;
  char text[MPI_MAX_ERROR_STRING];
  for (int i = 0; i < size; ++i) types[i] = MPI_INT;
#define GOOD(call) CHECK((call) == MPI_SUCCESS)
  GOOD(MPI_Sendrecv(NULL, 0, MPI_INT, next, 1, NULL, 0, MPI_INT, before, 1, MPI_COMM_WORLD, &status));
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(n == 0 && status.MPI_SOURCE == before);
  GOOD(MPI_Irecv(NULL, 0, MPI_BYTE, before, 2, MPI_COMM_WORLD, &request[0]));
  GOOD(MPI_Issend(NULL, 0, MPI_BYTE, next, 2, MPI_COMM_WORLD, &request[1]));
  GOOD(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
  GOOD(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
  GOOD(MPI_Testall(0, NULL, &n, MPI_STATUSES_IGNORE));
  CHECK(n == 1);
  GOOD(MPI_Waitany(0, NULL, &n, MPI_STATUS_IGNORE));
  CHECK(n == MPI_UNDEFINED);
  GOOD(MPI_Waitsome(0, NULL, &n, NULL, MPI_STATUSES_IGNORE));
  CHECK(n == MPI_UNDEFINED);
  GOOD(MPI_Startall(0, NULL));
  GOOD(MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  GOOD(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  GOOD(MPI_Gatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, 0, MPI_COMM_WORLD));
  GOOD(MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  GOOD(MPI_Scatterv(NULL, zeros, zeros, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  GOOD(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Allgatherv(NULL, 0, MPI_INT, NULL, zeros, zeros, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
#ifndef MPICH_VERSION /* 4.0 takes two null pointers for one memory */
  GOOD(MPI_Alltoallv(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Alltoallw(NULL, zeros, zeros, types, NULL, zeros, zeros, types, MPI_COMM_WORLD));
#endif
  GOOD(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  GOOD(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Reduce_scatter(NULL, NULL, zeros, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Reduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Exscan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Reduce_local(NULL, NULL, 0, MPI_INT, MPI_SUM));
  n = 0;
  GOOD(MPI_Pack(NULL, 0, MPI_INT, text, 0, &n, MPI_COMM_WORLD));
  GOOD(MPI_Unpack(text, 0, &n, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  CHECK(n == 0);
  free(types);
  free(zeros);
}

/* Datatypes without elements, and without bytes. */
static void empty_types(void) {
  MPI_Datatype made[6], nothing;
  MPI_Status status;
  int one = 1, bytes = -1, n = -1;
  MPI_Aint place = 0, lb = 7, extent = 7;
  GOOD(MPI_Type_contiguous(0, MPI_INT, &made[0]));
  GOOD(MPI_Type_vector(0, 1, 1, MPI_INT, &made[1]));
  GOOD(MPI_Type_vector(INT_MAX, 0, 5, MPI_INT, &made[2]));
  GOOD(MPI_Type_create_hindexed(0, NULL, NULL, MPI_INT, &made[3]));
  GOOD(MPI_Type_create_struct(0, NULL, NULL, NULL, &made[4]));
  GOOD(MPI_Type_create_hindexed_block(0, 3, &place, MPI_INT, &made[5]));
  for (int i = 0; i < 6; ++i) {
    GOOD(MPI_Type_commit(&made[i]));
    MPI_Type_size(made[i], &bytes);
    CHECK(bytes == 0);
    GOOD(MPI_Sendrecv(&one, 1, made[i], rank, 3, &one, 1, made[i], rank, 3, MPI_COMM_WORLD, &status));
    MPI_Get_elements(&status, made[i], &n);
    CHECK(n == 0);
  }
  MPI_Type_get_extent(made[0], &lb, &extent);
  CHECK(lb == 0 && extent == 0);
  /* As many as an int has, of nothing. */
  MPI_Type_contiguous(INT_MAX, made[0], &nothing);
  MPI_Type_commit(&nothing);
  GOOD(MPI_Sendrecv(NULL, INT_MAX, nothing, rank, 4, NULL, INT_MAX, nothing, rank, 4, MPI_COMM_WORLD, &status));
  MPI_Get_count(&status, MPI_INT, &n);
  CHECK(n == 0);
  GOOD(MPI_Bcast(NULL, INT_MAX, nothing, 0, MPI_COMM_WORLD));
  MPI_Type_free(&nothing);
  for (int i = 0; i < 6; ++i) MPI_Type_free(&made[i]);
}

/* Sizes and extents beyond an int. */
static void large_types(void) {
  MPI_Datatype most, twice, wide, sparse, block;
  MPI_Count size_x, lb, extent, n;
  int bytes = 0, count = 0;
  const MPI_Count max = INT_MAX;
  MPI_Type_contiguous(INT_MAX, MPI_CHAR, &most);
  MPI_Type_size(most, &bytes);
  CHECK(bytes == INT_MAX);
  MPI_Type_contiguous(2, most, &twice);
  MPI_Type_size(twice, &bytes);
  MPI_Type_size_x(twice, &size_x);
  MPI_Type_get_extent_x(twice, &lb, &extent);
  CHECK(bytes == MPI_UNDEFINED && size_x == 2 * max && lb == 0 && extent == 2 * max);
  MPI_Type_vector(INT_MAX, 1, INT_MAX, MPI_CHAR, &wide);
  MPI_Type_size_x(wide, &size_x);
  MPI_Type_get_true_extent_x(wide, &lb, &extent);
  CHECK(size_x == max && lb == 0 && extent == (max - 1) * max + 1);
  int lengths[2] = {INT_MAX, 1}, places[2] = {0, INT_MAX};
  MPI_Type_indexed(2, lengths, places, MPI_DOUBLE, &sparse);
  MPI_Type_size_x(sparse, &size_x);
  MPI_Type_get_extent_x(sparse, &lb, &extent);
  CHECK(size_x == 8 * (max + 1) && lb == 0 && extent == 8 * (max + 1));
  int all[2] = {1 << 20, 1 << 14}, part[2] = {1 << 19, 1 << 14}, from[2] = {1 << 19, 0};
  MPI_Type_create_subarray(2, all, part, from, MPI_ORDER_C, MPI_BYTE, &block);
  MPI_Type_size_x(block, &size_x);
  MPI_Type_get_true_extent_x(block, &lb, &extent);
  CHECK(size_x == (MPI_Count)1 << 33 && lb == (MPI_Count)1 << 33 && extent == (MPI_Count)1 << 33);

  /* What a status says that somebody else has filled. */
  MPI_Status status;
  memset(&status, 0, sizeof(status));
  MPI_Status_set_elements_x(&status, MPI_BYTE, 3 * max);
  MPI_Get_elements_x(&status, MPI_BYTE, &n);
  MPI_Get_elements(&status, MPI_BYTE, &bytes);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(n == 3 * max && bytes == MPI_UNDEFINED && count == MPI_UNDEFINED);
  MPI_Get_count(&status, most, &count);
  CHECK(count == 3);
  MPI_Get_count(&status, twice, &count);
  CHECK(count == MPI_UNDEFINED);
  MPI_Datatype* made[] = {&most, &twice, &wide, &sparse, &block};
  for (int i = 0; i < 5; ++i) MPI_Type_free(made[i]);
}

/* More bytes than an int counts, of a megabyte that is sent again and again. */
static void large_messages(void) {
  enum { kBlock = 1 << 20, kMany = 2050 };
  MPI_Datatype block, again;
  MPI_Status status;
  MPI_Count n = 0;
  int count = 0;
  char* memory = malloc(kBlock);
  for (int i = 0; i < kBlock; ++i) memory[i] = (char)(rank == 0 ? i * 7 % 251 : 0);
  MPI_Type_contiguous(kBlock, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, 0, &again);
  MPI_Type_commit(&again);
  if (rank == 0 && size > 1) GOOD(MPI_Send(memory, kMany, again, 1, 5, MPI_COMM_WORLD));
  if (rank == 1) {
    GOOD(MPI_Recv(memory, kMany, again, 0, 5, MPI_COMM_WORLD, &status));
    MPI_Get_count(&status, again, &count);
    CHECK(count == kMany);
    MPI_Get_elements_x(&status, again, &n);
    CHECK(n == (MPI_Count)kMany * kBlock);
    MPI_Get_elements(&status, again, &count);
    CHECK(count == MPI_UNDEFINED);
    int wrong = 0;
    for (int i = 0; i < kBlock; ++i) wrong += memory[i] != (char)(i * 7 % 251);
    CHECK(wrong == 0);
  }
  MPI_Type_free(&again);
  MPI_Type_free(&block);
  free(memory);
}

/* Fewer than none. */
static void negative(void) {
  int one = 1, lengths[1] = {-1}, places[1] = {0}, n = 0;
  MPI_Aint far[1] = {0};
  MPI_Datatype type = MPI_INT;
  MPI_Request request;
  int* counts = malloc((size_t)size * sizeof(int));
  int* zeros = calloc((size_t)size, sizeof(int));
  for (int i = 0; i < size; ++i) counts[i] = -1;
#define BAD(call) CHECK(class_of(call) == MPI_ERR_COUNT)
#define WRONG(call) CHECK((call) != MPI_SUCCESS)
  BAD(MPI_Send(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
  BAD(MPI_Bsend(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
  BAD(MPI_Ssend(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
  BAD(MPI_Rsend(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
  BAD(MPI_Isend(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
  BAD(MPI_Ibsend(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
  BAD(MPI_Issend(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
  BAD(MPI_Irsend(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
  BAD(MPI_Send_init(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
  BAD(MPI_Recv(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  BAD(MPI_Irecv(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
  BAD(MPI_Recv_init(&one, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
  BAD(MPI_Sendrecv_replace(&one, -1, MPI_INT, 0, 0, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  BAD(MPI_Bcast(&one, -1, MPI_INT, 0, MPI_COMM_WORLD));
  BAD(MPI_Allgather(&one, -1, MPI_INT, &n, 1, MPI_INT, MPI_COMM_WORLD));
  BAD(MPI_Alltoall(&one, -1, MPI_INT, &n, 1, MPI_INT, MPI_COMM_WORLD));
  BAD(MPI_Alltoallv(&one, counts, zeros, MPI_INT, &n, zeros, zeros, MPI_INT, MPI_COMM_WORLD));
#ifndef MPICH_VERSION /* 4.0 looks at none of these, and copies as many */
  BAD(MPI_Allgatherv(&one, 1, MPI_INT, &n, counts, zeros, MPI_INT, MPI_COMM_WORLD));
  BAD(MPI_Reduce(&one, &n, -1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  BAD(MPI_Allreduce(&one, &n, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  BAD(MPI_Reduce_scatter_block(&one, &n, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  BAD(MPI_Scan(&one, &n, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  BAD(MPI_Exscan(&one, &n, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  BAD(MPI_Iallreduce(&one, &n, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
  BAD(MPI_Reduce_local(&one, &n, -1, MPI_INT, MPI_SUM));
#endif
  /* Of datatypes: a count, or an argument. */
  WRONG(MPI_Type_contiguous(-1, MPI_INT, &type));
  WRONG(MPI_Type_vector(-1, 1, 1, MPI_INT, &type));
  WRONG(MPI_Type_vector(1, -1, 1, MPI_INT, &type));
  WRONG(MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &type));
  WRONG(MPI_Type_indexed(-1, lengths, places, MPI_INT, &type));
  WRONG(MPI_Type_indexed(1, lengths, places, MPI_INT, &type));
  WRONG(MPI_Type_create_hindexed(1, lengths, far, MPI_INT, &type));
  WRONG(MPI_Type_create_indexed_block(1, -1, places, MPI_INT, &type));
  WRONG(MPI_Type_create_struct(1, lengths, far, &type, &type));
  WRONG(MPI_Pack(&one, -1, MPI_INT, &n, 4, &one, MPI_COMM_WORLD));
  WRONG(MPI_Pack_size(-1, MPI_INT, MPI_COMM_WORLD, &n));
  WRONG(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE));
  free(zeros);
  free(counts);
}

/* Rank 0 comes through all of them while rank 1 waits for its word. The standard leaves that open. */
static void nobody_waits(void) {
#ifndef MPICH_VERSION
  MPI_Request request;
  int* zeros = calloc((size_t)size, sizeof(int));
  if (rank == 1) GOOD(MPI_Recv(NULL, 0, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  for (int root = 0; root < 2; ++root) {
    GOOD(MPI_Bcast(NULL, 0, MPI_INT, root, MPI_COMM_WORLD));
    GOOD(MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD));
    GOOD(MPI_Scatter(NULL, 0, MPI_INT, NULL, 0, MPI_INT, root, MPI_COMM_WORLD));
    GOOD(MPI_Reduce(NULL, NULL, 0, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
  }
  GOOD(MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
  GOOD(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Reduce_scatter(NULL, NULL, zeros, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Reduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Exscan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  GOOD(MPI_Iallreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
  GOOD(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(MPI_Bcast(NULL, 0, MPI_INT, size, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Bcast(NULL, 0, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK(MPI_Allreduce(NULL, NULL, 0, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD) != MPI_SUCCESS);
  if (rank == 0) GOOD(MPI_Send(NULL, 0, MPI_INT, 1, 3, MPI_COMM_WORLD));
  free(zeros);
#endif
}

static void do_nothing(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in, (void)inout, (void)count, (void)type;
}

/* All parts together are more than an int says; of a datatype without elements they are nothing. */
static void large_parts(void) {
  MPI_Datatype nothing;
  MPI_Op op;
  int* counts = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; ++i) counts[i] = i < 2 ? 1200000000 : 0;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  MPI_Op_create(do_nothing, 1, &op);
  GOOD(MPI_Reduce_scatter(NULL, NULL, counts, nothing, op, MPI_COMM_WORLD));
  MPI_Op_free(&op);
  MPI_Type_free(&nothing);
  free(counts);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  none();
  nobody_waits();
  empty_types();
  large_types();
  large_messages();
  negative();
  large_parts();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  return end();
}
