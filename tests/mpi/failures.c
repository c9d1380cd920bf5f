/* Errors: classes, codes and texts of programs; which handler hears of what; handlers that are inherited and
 * freed; places for results that are not there; what is sent and what comes in one memory. */
#include "check.h"

static int heard, heard_code;
static MPI_Comm heard_of;
static void handler(MPI_Comm* comm, int* code, ...) {
  ++heard;
  heard_code = *code;
  heard_of = *comm;
}
static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static void codes(void) {
  int first, second, code, other, n, flag, *last;
  char text[MPI_MAX_ERROR_STRING];
  MPI_Add_error_class(&first);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last >= first && first > MPI_ERR_LASTCODE);
  MPI_Add_error_class(&second);
  MPI_Add_error_code(first, &code);
  MPI_Add_error_code(MPI_ERR_TAG, &other);
  CHECK(first != second && code != first && code != second && other != code);
  CHECK(class_of(code) == first && class_of(first) == first && class_of(other) == MPI_ERR_TAG);
  MPI_Error_string(code, text, &n);
  CHECK(n == 0 && text[0] == 0); /* it has none yet */
  MPI_Add_error_string(first, "a class of mine");
  MPI_Add_error_string(code, "a code of mine");
  MPI_Error_string(first, text, &n);
  CHECK(n == 15 && !strcmp(text, "a class of mine"));
  MPI_Error_string(code, text, &n);
  CHECK(!strcmp(text, "a code of mine"));
  MPI_Error_string(MPI_ERR_RANK, text, &n);
  CHECK(n > 0 && n == (int)strlen(text) && n < MPI_MAX_ERROR_STRING);
  for (int i = 0; i <= MPI_ERR_RMA_SHARED; ++i) {
    if (i != 54) CHECK(class_of(i) == i);
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
  CHECK(flag && *last >= other);

  /* A code that the program raises reaches its handler. */
  MPI_Errhandler mine;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Errhandler_free(&mine);
  CHECK(mine == MPI_ERRHANDLER_NULL);
  heard = 0;
  CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, code) == MPI_SUCCESS);
  CHECK(heard == 1 && heard_code == code && heard_of == MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/* What stands for another buffer, where there is none. */
static void out_of_place(void) {
#ifndef OPEN_MPI
  int one = 1;
  const MPI_Comm self = MPI_COMM_SELF;
  int code = MPI_Allreduce(&one, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self);
  CHECK(class_of(code) == MPI_ERR_BUFFER);
  code = MPI_Allgather(&one, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, self);
  CHECK(class_of(code) == MPI_ERR_BUFFER);
#endif
}

/* A request of a communicator that was freed meanwhile: its handler, and no other communicator's. */
static void freed_before(void) {
  MPI_Errhandler mine;
  MPI_Comm comm, next;
  MPI_Request request;
  int four[4] = {0}, one;
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, mine);
  MPI_Errhandler_free(&mine);
  const MPI_Comm freed = comm;
  MPI_Irecv(&one, 1, MPI_INT, 0, 3, comm, &request);
  MPI_Send(four, 4, MPI_INT, 0, 3, comm);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_SELF, &next);
  heard = 0;
  CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
#ifndef MPICH_VERSION /* 4.0 asks the handler of MPI_COMM_WORLD */
  CHECK(heard == 1 && heard_of == freed && next != freed);
#else
  (void)freed;
#endif
  MPI_Comm_free(&next);
}

static void handlers(void) {
  MPI_Errhandler mine, got;
  MPI_Comm comm, copy, half;
  int one = 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(comm, mine);
  MPI_Comm_get_errhandler(comm, &got);
  CHECK(got == mine);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&mine);
  MPI_Comm_dup(comm, &copy); /* inherits it */
  MPI_Comm_split(comm, 0, rank, &half);
  heard = 0;
  CHECK(class_of(MPI_Send(&one, 1, MPI_INT, size + 1, 1, copy)) == MPI_ERR_RANK);
  CHECK(heard == 1 && class_of(heard_code) == MPI_ERR_RANK && heard_of == copy);
  CHECK(class_of(MPI_Send(&one, 1, MPI_INT, 0, -7, half)) == MPI_ERR_TAG);
  CHECK(heard == 2 && heard_of == half);
  CHECK(class_of(MPI_Bcast(&one, 1, MPI_INT, size, comm)) == MPI_ERR_ROOT && heard == 3);
  /* A request of a communicator: its handler. */
  MPI_Request request;
  int four[4] = {0};
  MPI_Irecv(four, 1, MPI_INT, rank, 3, comm, &request);
  MPI_Send(four, 4, MPI_INT, rank, 3, comm);
  CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE);
#ifndef MPICH_VERSION /* 4.0 asks the handler of MPI_COMM_WORLD */
  CHECK(heard == 4 && heard_of == comm);
#endif
  out_of_place();
  freed_before();
  /* Too little room for what one has oneself. */
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int eight[8] = {0};
  int *room = malloc(sizeof(int) * 2 * (size_t)size);
  CHECK(class_of(MPI_Allgather(eight, 4, MPI_INT, room, 2, MPI_INT, comm)) == MPI_ERR_TRUNCATE);
  free(room);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &got); /* a predefined one */
  MPI_Comm_set_errhandler(copy, got);
  MPI_Errhandler_free(&got);
  MPI_Comm_free(&half);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
}

/* Ranks that call a collective operation with different counts are told who it is. */
static void different_counts(void) {
  int two[2] = {rank, rank}, length;
  int* room = calloc((size_t)size * 2, sizeof(int));
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm == MPI_COMM_NULL) return free(room);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int error = MPI_Gather(two, rank + 1, MPI_INT, room, 1, MPI_INT, 0, comm);
  CHECK(rank == 0 ? class_of(error) == MPI_ERR_TRUNCATE : error == MPI_SUCCESS);
#ifndef MPICH_VERSION
  const char* const words = "MPI_Gather: rank 1 sends 8 bytes where this one expects 4: the ranks are in "
                            "different collective operations";
  if (rank == 0) MPI_Error_string(error, text, &length);
  CHECK(rank == 1 || strstr(text, words) != NULL);
  MPI_Igather(two, rank + 1, MPI_INT, room, 1, MPI_INT, 0, comm, &request);
  const int later = MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(rank == 0 ? class_of(later) == MPI_ERR_TRUNCATE : later == MPI_SUCCESS);
  if (rank == 0) MPI_Error_string(later, text, &length);
  CHECK(rank == 1 || strstr(text, "MPI_Wait: rank 1 sends 8 bytes") != NULL);
#else
  (void)request, (void)length, (void)text;
#endif
  MPI_Comm_free(&comm);
  free(room);
}

static void names(void) {
#ifndef MPICH_VERSION
  int length;
  char text[MPI_MAX_ERROR_STRING] = "";
  MPI_Comm none = MPI_COMM_NULL;
  const int error = MPI_Comm_disconnect(&none);
  MPI_Error_string(error, text, &length);
  CHECK(class_of(error) == MPI_ERR_COMM && strstr(text, "MPI_Comm_disconnect: ") != NULL);
#endif
}

static void no_places(void) {
  MPI_Group all, none;
  MPI_Aint lb;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  none = MPI_GROUP_EMPTY;
#define NO_PLACE(call) CHECK(class_of(call) == MPI_ERR_ARG)
  NO_PLACE(MPI_Group_size(all, NULL));
  NO_PLACE(MPI_Group_rank(all, NULL));
  NO_PLACE(MPI_Group_union(all, none, NULL));
  NO_PLACE(MPI_Comm_rank(MPI_COMM_WORLD, NULL));
  NO_PLACE(MPI_Comm_create(MPI_COMM_WORLD, all, NULL));
  NO_PLACE(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, NULL));
  NO_PLACE(MPI_Type_contiguous(2, MPI_INT, NULL));
  NO_PLACE(MPI_Type_vector(2, 1, 1, MPI_INT, NULL));
  NO_PLACE(MPI_Type_get_extent(MPI_INT, &lb, NULL));
  NO_PLACE(MPI_Type_size(MPI_INT, NULL));
#undef NO_PLACE
  MPI_Group_free(&all);
}

static void one_memory(void) {
  int* both = calloc((size_t)size * 2, sizeof(int));
#define ONE_MEMORY(call) CHECK(class_of(call) == MPI_ERR_BUFFER)
  ONE_MEMORY(MPI_Allreduce(both, both, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  ONE_MEMORY(MPI_Scan(both, both, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  ONE_MEMORY(MPI_Allgather(both + rank, 1, MPI_INT, both, 1, MPI_INT, MPI_COMM_WORLD));
  ONE_MEMORY(MPI_Alltoall(both, 1, MPI_INT, both, 1, MPI_INT, MPI_COMM_WORLD));
#undef ONE_MEMORY
  /* A call that was refused at one process took no part: it may be repeated there. */
  int sum = -1;
  if (rank == 0) CHECK(MPI_Reduce(both, both, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  both[0] = rank;
  CHECK(MPI_Reduce(both, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD) == MPI_SUCCESS);
  if (rank == 0) CHECK(sum == size * (size - 1) / 2);
  CHECK(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(MPI_Alltoall(both, 0, MPI_INT, both, 0, MPI_INT, MPI_COMM_WORLD) == MPI_SUCCESS);
  free(both);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  codes();
  handlers();
  different_counts();
  names();
  no_places();
  one_memory();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  return end();
}
