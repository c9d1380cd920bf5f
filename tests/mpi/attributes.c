/* Attributes of communicators and datatypes: copied and deleted by the program's functions, which may
 * refuse; in which order; keys that are freed while they are in use; predefined ones. */
#include "check.h"

static char said[64];
static int length;

static void say(char what, int value) {
  said[length++] = what;
  said[length++] = (char)('0' + value);
  said[length] = 0;
}
static void expect(int line, const char* what) {
  if (strcmp(said, what)) fprintf(stderr, "said %s, not %s\n", said, what);
  check_at(line, !strcmp(said, what), what);
  length = 0;
  said[0] = 0;
}
#define EXPECT(what) expect(__LINE__, what)

static int code_of_8 = MPI_ERR_OTHER;

static int copies(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag) {
  (void)key;
  check_at(__LINE__, comm != MPI_COMM_NULL && extra == &length, "comm and extra state");
  say('c', *(int*)value);
  *(void**)copy = value;
  *flag = *(int*)value != 3;
  return *(int*)value == 7 ? MPI_ERR_OTHER : MPI_SUCCESS;
}
static int deletes(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key;
  check_at(__LINE__, extra == &length, "extra state");
  say('d', *(int*)value);
  return *(int*)value == 8 ? code_of_8 : MPI_SUCCESS;
}

static int numbers[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

static void of_communicators(void) {
  int keys[4], flag;
  int* value;
  MPI_Comm comm, copy;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  for (int i = 0; i < 4; ++i) MPI_Comm_create_keyval(copies, deletes, &keys[i], &length);
  for (int i = 0; i < 3; ++i) MPI_Comm_set_attr(comm, keys[i], &numbers[i + 1]);
  EXPECT("");
  MPI_Comm_get_attr(comm, keys[1], &value, &flag);
  CHECK(flag && *value == 2);
  MPI_Comm_get_attr(comm, keys[3], &value, &flag);
  CHECK(!flag);
  MPI_Comm_set_attr(comm, keys[1], &numbers[4]); /* the old value is deleted */
  EXPECT("d2");

  MPI_Comm_dup(comm, &copy);
  CHECK(length == 6 && strstr(said, "c1") && strstr(said, "c4") && strstr(said, "c3"));
  length = 0;
  MPI_Comm_get_attr(copy, keys[1], &value, &flag);
  CHECK(flag && value == &numbers[4]);
  MPI_Comm_get_attr(copy, keys[2], &value, &flag); /* its function has set no flag */
  CHECK(!flag);
  MPI_Comm_free(&copy);
  EXPECT("d4d1"); /* the newest first */

  /* A function that refuses to copy: no communicator. One that refuses to delete: it stays. */
  MPI_Comm_set_attr(comm, keys[3], &numbers[7]);
  CHECK(MPI_Comm_dup(comm, &copy) != MPI_SUCCESS);
#ifndef OPEN_MPI
  CHECK(copy == MPI_COMM_NULL);
#endif
  length = 0;
  MPI_Comm_set_attr(comm, keys[3], &numbers[8]);
  EXPECT("d7");
  CHECK(MPI_Comm_delete_attr(comm, keys[3]) != MPI_SUCCESS);
  EXPECT("d8");
  MPI_Comm_get_attr(comm, keys[3], &value, &flag);
  CHECK(flag && *value == 8);
  /* A code of the program's own is no more than an error. */
  code_of_8 = 77;
  CHECK(MPI_Comm_delete_attr(comm, keys[3]) != MPI_SUCCESS);
  EXPECT("d8");
  numbers[8] = 6;
  MPI_Comm_delete_attr(comm, keys[3]);
  EXPECT("d6");
  numbers[8] = 8;

  /* A split, or a new group, has none. */
  MPI_Comm_split(comm, 0, 0, &copy);
  MPI_Comm_get_attr(copy, keys[0], &value, &flag);
  CHECK(!flag);
  MPI_Comm_free(&copy);
  EXPECT("");
  MPI_Comm_free(&comm);
  CHECK(length == 6 && strstr(said, "d1") && strstr(said, "d3") && strstr(said, "d4"));
  length = 0;
  for (int i = 0; i < 4; ++i) {
    MPI_Comm_free_keyval(&keys[i]);
    CHECK(keys[i] == MPI_KEYVAL_INVALID);
  }
}

/* A key that was freed names its attributes as long as there are any, and no other key has it. */
static void freed_keys(void) {
  int key, saved, flag, others[8];
  int* value;
  MPI_Comm comm, copy;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_keyval(copies, deletes, &key, &length);
  saved = key;
  MPI_Comm_set_attr(comm, key, &numbers[1]);
  MPI_Comm_free_keyval(&key);
  for (int i = 0; i < 8; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &others[i], NULL);
    CHECK(others[i] != saved);
  }
  MPI_Comm_dup(comm, &copy);
  EXPECT("c1");
  MPI_Comm_get_attr(copy, saved, &value, &flag);
  CHECK(flag && *value == 1);
  key = saved;
  MPI_Comm_free_keyval(&key); /* another variable with the same key */
  CHECK(key == MPI_KEYVAL_INVALID);
  MPI_Comm_delete_attr(comm, saved);
  EXPECT("d1");
  MPI_Comm_free(&copy);
  EXPECT("d1");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  CHECK(MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &value, &flag) != MPI_SUCCESS);
  CHECK(MPI_Comm_set_attr(comm, MPI_TAG_UB, &value) != MPI_SUCCESS);
  key = MPI_TAG_UB;
  CHECK(MPI_Comm_free_keyval(&key) != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
  for (int i = 0; i < 8; ++i) MPI_Comm_free_keyval(&others[i]);
}

static int copies_of_type(MPI_Datatype type, int key, void* extra, void* value, void* copy, int* flag) {
  (void)type, (void)key, (void)extra;
  say('c', *(int*)value);
  *(void**)copy = value;
  *flag = 1;
  return MPI_SUCCESS;
}
static int deletes_of_type(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)extra;
  say('d', *(int*)value);
  return MPI_SUCCESS;
}

static void of_datatypes(void) {
  int keys[3], flag;
  int* value;
  MPI_Datatype type, copy, outer;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_create_keyval(copies_of_type, deletes_of_type, &keys[0], NULL);
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &keys[1], NULL);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, deletes_of_type, &keys[2], NULL);
  for (int i = 0; i < 3; ++i) MPI_Type_set_attr(type, keys[i], &numbers[i + 1]);
  MPI_Type_dup(type, &copy);
  EXPECT("c1");
  MPI_Type_get_attr(copy, keys[0], &value, &flag);
  CHECK(flag && *value == 1);
  MPI_Type_get_attr(copy, keys[1], &value, &flag);
  CHECK(flag && *value == 2);
  MPI_Type_get_attr(copy, keys[2], &value, &flag);
  CHECK(!flag);
  MPI_Type_contiguous(2, type, &outer); /* has no attributes */
  MPI_Type_get_attr(outer, keys[0], &value, &flag);
  CHECK(!flag);
  MPI_Type_free(&outer);
  EXPECT("");
  MPI_Type_delete_attr(copy, keys[0]);
  EXPECT("d1");
  MPI_Type_free(&copy);
  EXPECT("");
  MPI_Type_free(&type);
  CHECK(length == 4 && strstr(said, "d1") && strstr(said, "d3"));
  length = 0;
  /* Predefined datatypes may have attributes, too. */
  MPI_Type_set_attr(MPI_INT, keys[0], &numbers[5]);
  MPI_Type_get_attr(MPI_INT, keys[0], &value, &flag);
  CHECK(flag && *value == 5);
  MPI_Type_delete_attr(MPI_INT, keys[0]);
  EXPECT("d5");
  for (int i = 0; i < 3; ++i) MPI_Type_free_keyval(&keys[i]);
}

static void predefined(void) {
  int flag;
  int* value;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  CHECK(flag && *value >= 32767);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
  CHECK(!flag || *value == 0 || *value == 1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
  CHECK(!flag || *value >= 0);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
  CHECK(!flag || *value >= 1);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  of_communicators();
  freed_keys();
  of_datatypes();
  predefined();
  return end();
}
