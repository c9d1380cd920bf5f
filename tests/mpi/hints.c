/* Info objects: keys in the order of their setting, copies, lengths, what is not there; hints of
 * communicators; what is known of the start. */
#include "check.h"

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static void objects(void) {
  MPI_Info info, copy;
  char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1];
  int flag, n;
  MPI_Info_create(&info);
  MPI_Info_get_nkeys(info, &n);
  CHECK(n == 0);
  MPI_Info_set(info, "one", "first");
  MPI_Info_set(info, "two", "");
  MPI_Info_set(info, "three", "a value with spaces");
  MPI_Info_set(info, "one", "again");
  MPI_Info_get_nkeys(info, &n);
  CHECK(n == 3);
  int seen = 0;
  for (int i = 0; i < n; ++i) {
    MPI_Info_get_nthkey(info, i, key);
    seen += !strcmp(key, "one") + 10 * !strcmp(key, "two") + 100 * !strcmp(key, "three");
  }
  CHECK(seen == 111);
  MPI_Info_get(info, "one", MPI_MAX_INFO_VAL, value, &flag);
  CHECK(flag && !strcmp(value, "again"));
  MPI_Info_get_valuelen(info, "three", &n, &flag);
  CHECK(flag && n == 19);
  strcpy(value, "untouched");
  MPI_Info_get(info, "four", 10, value, &flag);
  CHECK(!flag && !strcmp(value, "untouched"));
  MPI_Info_get_valuelen(info, "One", &n, &flag); /* cases differ */
  CHECK(!flag);
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "one");
  MPI_Info_get_nkeys(copy, &n);
  CHECK(n == 3);
  MPI_Info_get_nkeys(info, &n);
  CHECK(n == 2);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Info_delete(info, "one")) == MPI_ERR_INFO_NOKEY);
  CHECK(MPI_Info_get_nthkey(info, 2, key) != MPI_SUCCESS);
  CHECK(class_of(MPI_Info_set(MPI_INFO_NULL, "a", "b")) != MPI_SUCCESS);
  char* large = malloc(MPI_MAX_INFO_VAL + 2);
  memset(large, 'x', MPI_MAX_INFO_VAL + 1);
  large[MPI_MAX_INFO_VAL + 1] = 0;
  CHECK(class_of(MPI_Info_set(info, large, "b")) == MPI_ERR_INFO_KEY);
  CHECK(class_of(MPI_Info_set(info, "a", large)) == MPI_ERR_INFO_VALUE);
  free(large);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  CHECK(info == MPI_INFO_NULL && copy == MPI_INFO_NULL);
}

/* What a communicator says of a hint is what it was told, or nothing. */
static void told(MPI_Comm comm, const char* key, const char* what, int line) {
  MPI_Info info;
  char value[64];
  int flag;
  MPI_Comm_get_info(comm, &info);
  MPI_Info_get(info, key, 63, value, &flag);
  check_at(line, !flag || (what != NULL && !strcmp(value, what)), key);
  MPI_Info_free(&info);
}

static void communicators(void) {
  MPI_Info info, other;
  MPI_Comm comm, copy;
  MPI_Request request;
  MPI_Info_create(&info);
  MPI_Info_create(&other);
  MPI_Info_set(info, "phx_colour", "red");
  MPI_Info_set(other, "phx_size", "big");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  told(comm, "phx_colour", "red", __LINE__);
  MPI_Comm_set_info(comm, other);
  told(comm, "phx_size", "big", __LINE__);
  MPI_Comm_dup(comm, &copy);
  told(copy, "phx_colour", "red", __LINE__);
  MPI_Comm_free(&copy);
  MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy);
  told(copy, "phx_colour", NULL, __LINE__);
  MPI_Comm_free(&copy);
  MPI_Comm_idup(comm, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  told(copy, "phx_size", "big", __LINE__);
  MPI_Comm_free(&copy);
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, info, &copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Info_free(&info);
  MPI_Info_free(&other);
}

static void the_start(void) {
  char value[MPI_MAX_INFO_VAL + 1];
  int flag;
  MPI_Info_get(MPI_INFO_ENV, "maxprocs", MPI_MAX_INFO_VAL, value, &flag);
  CHECK(!flag || atoi(value) >= size);
  MPI_Info_get(MPI_INFO_ENV, "command", MPI_MAX_INFO_VAL, value, &flag);
  CHECK(!flag || strlen(value) > 0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  objects();
  communicators();
  the_start();
  return end();
}
