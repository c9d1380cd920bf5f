#include <doctest/doctest.h>

#include "runtime/mpi/base/entry.h"
#include "tests/mpi_types/running.h"

namespace phx::mpi::attributes_test {
namespace {

std::vector<int> deleted;

int note_deletion(MPI_Comm /*comm*/, int key, void* value, void* extra) {
  deleted.push_back(*static_cast<int*>(value));
  return extra != nullptr && key != MPI_KEYVAL_INVALID ? MPI_ERR_OTHER : MPI_SUCCESS;
}

int make_key(MPI_Comm_copy_attr_function* copy, void* extra = nullptr) {
  int key = 0;
  CHECK(MPI_Comm_create_keyval(copy, note_deletion, &key, extra) == MPI_SUCCESS);
  return key;
}

}  // namespace

TEST_SUITE_BEGIN("mpi/attributes");

TEST_CASE("an attribute is set, read, replaced and deleted, and each old value is told") {
  const Running running;
  deleted.clear();
  int first = 1;
  int second = 2;
  int key = make_key(MPI_COMM_NULL_COPY_FN);
  int* read = nullptr;
  int flag = 7;

  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &read, &flag) == MPI_SUCCESS);
  CHECK(flag == 0);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &first) == MPI_SUCCESS);
  CHECK(MPI_Attr_put(MPI_COMM_WORLD, key, &second) == MPI_SUCCESS);
  CHECK(deleted == std::vector<int>{1});
  CHECK(MPI_Attr_get(MPI_COMM_WORLD, key, &read, &flag) == MPI_SUCCESS);
  CHECK(flag == 1);
  CHECK(read == &second);
  const int copy = key;
  CHECK(MPI_Keyval_free(&key) == MPI_SUCCESS);
  CHECK(key == MPI_KEYVAL_INVALID);
  communicator_of(MPI_COMM_WORLD).attributes.clear(MPI_COMM_WORLD);
  CHECK(deleted == std::vector<int>{1, 2});
  CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, copy) == MPI_ERR_KEYVAL);
  key = make_key(MPI_COMM_NULL_COPY_FN);
  CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key) == MPI_SUCCESS);
}

TEST_CASE("a deletion that fails keeps the attribute") {
  const Running running;
  int value = 3;
  int reason = 0;
  int key = make_key(MPI_COMM_DUP_FN, &reason);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value) == MPI_SUCCESS);

  CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key) == MPI_ERR_OTHER);

  int flag = 0;
  int* read = nullptr;
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &read, &flag) == MPI_SUCCESS);
  CHECK(flag == 1);
  CHECK_THROWS_AS(communicator_of(MPI_COMM_WORLD).attributes.clear(MPI_COMM_WORLD), Failure);
}

TEST_CASE("copies follow the functions of their keys, and go away newest first") {
  const Running running;
  deleted.clear();
  int one = 1;
  int two = 2;
  int three = 3;
  Attributes from;
  Attributes to;
  from.set(MPI_COMM_WORLD, keyval_of(make_key(MPI_COMM_DUP_FN), Owner::kComm), &one);
  from.set(MPI_COMM_WORLD, keyval_of(make_key(MPI_COMM_NULL_COPY_FN), Owner::kComm), &two);
  from.set(MPI_COMM_WORLD, keyval_of(make_key(MPI_COMM_DUP_FN), Owner::kComm), &three);

  to.copy_from(from, MPI_COMM_WORLD);
  to.clear(MPI_COMM_WORLD);

  CHECK(deleted == std::vector<int>{3, 1});
}

int refuse_copy(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* /*value*/, void* /*copy*/,
                int* /*flag*/) {
  return MPI_ERR_OTHER;
}

TEST_CASE("when a copy is refused, those made before are deleted") {
  const Running running;
  deleted.clear();
  int one = 1;
  int two = 2;
  Attributes from;
  Attributes to;
  Keyval& first = keyval_of(make_key(MPI_COMM_DUP_FN), Owner::kComm);
  from.set(MPI_COMM_WORLD, first, &one);
  from.set(MPI_COMM_WORLD, keyval_of(make_key(refuse_copy), Owner::kComm), &two);

  CHECK_THROWS_AS(to.copy_from(from, MPI_COMM_WORLD), Failure);

  CHECK(deleted == std::vector<int>{1});
  void* value = nullptr;
  CHECK(!to.get(first, &value));
}

TEST_CASE("predefined attributes are read and nothing else") {
  const Running running;
  int* value = nullptr;
  int flag = 0;
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag) == MPI_SUCCESS);
  CHECK(flag == 1);
  CHECK(*value >= 32767);
  int key = MPI_TAG_UB;
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, value) == MPI_ERR_KEYVAL);
  CHECK(MPI_Comm_free_keyval(&key) == MPI_ERR_KEYVAL);
  CHECK(MPI_Comm_get_attr(MPI_COMM_NULL, key, &value, &flag) == MPI_ERR_COMM);
}

TEST_SUITE_END();

}  // namespace phx::mpi::attributes_test
