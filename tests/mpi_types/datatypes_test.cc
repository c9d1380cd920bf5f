#include "runtime/mpi/datatypes/datatype.h"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>

#include "runtime/mpi/datatypes/pack.h"
#include "tests/mpi_types/running.h"

namespace phx::mpi::datatypes_test {
namespace {

struct Bound {
  MPI_Aint lb, extent;
  friend bool operator==(const Bound&, const Bound&) = default;
};

Bound bound_of(MPI_Datatype datatype) {
  Bound bound{-1, -1};
  CHECK(MPI_Type_get_extent(datatype, &bound.lb, &bound.extent) == MPI_SUCCESS);
  return bound;
}

Bound true_bound_of(MPI_Datatype datatype) {
  Bound bound{-1, -1};
  CHECK(MPI_Type_get_true_extent(datatype, &bound.lb, &bound.extent) == MPI_SUCCESS);
  return bound;
}

int size_of(MPI_Datatype datatype) {
  int size = -1;
  CHECK(MPI_Type_size(datatype, &size) == MPI_SUCCESS);
  return size;
}

MPI_Datatype structure(std::vector<MPI_Datatype> types, std::vector<MPI_Aint> places) {
  const std::vector<int> ones(types.size(), 1);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_create_struct(static_cast<int>(types.size()), ones.data(), places.data(),
                               types.data(), &made) == MPI_SUCCESS);
  return made;
}

/// The numbers at which a datatype of ints reads.
std::vector<int> read_by(MPI_Datatype datatype, int ints) {
  CHECK(MPI_Type_commit(&datatype) == MPI_SUCCESS);
  std::vector<int> memory(static_cast<std::size_t>(ints));
  std::iota(memory.begin(), memory.end(), 0);
  std::vector<int> out(static_cast<std::size_t>(size_of(datatype)) / sizeof(int));
  int position = 0;
  CHECK(MPI_Pack(memory.data(), 1, datatype, out.data(), static_cast<int>(out.size() * 4),
                 &position, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(position == size_of(datatype));
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("mpi/datatypes");

TEST_CASE("structures have the extent that a C compiler gives them") {
  const Running running;
  struct Record {
    double value;
    char mark;
  };
  const MPI_Datatype made = structure({MPI_DOUBLE, MPI_CHAR}, {0, offsetof(Record, mark)});

  CHECK(bound_of(made) == Bound{0, sizeof(Record)});
  CHECK(true_bound_of(made) == Bound{0, 9});
  CHECK(size_of(made) == 9);
  CHECK(bound_of(MPI_DOUBLE_INT) == Bound{0, 16});
  CHECK(size_of(MPI_DOUBLE_INT) == 12);
  CHECK(bound_of(MPI_LONG_DOUBLE_INT) == Bound{0, 32});
  CHECK(bound_of(MPI_SHORT_INT) == Bound{0, 8});
}

TEST_CASE("marks decide about extents, data about true extents") {
  const Running running;
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_create_resized(MPI_INT, -4, 20, &wide) == MPI_SUCCESS);
  CHECK(bound_of(wide) == Bound{-4, 20});
  CHECK(true_bound_of(wide) == Bound{0, 4});
  CHECK(MPI_Type_contiguous(2, wide, &pair) == MPI_SUCCESS);
  CHECK(bound_of(pair) == Bound{-4, 40});
  CHECK(true_bound_of(pair) == Bound{0, 24});
  // What is not marked does not count beside what is.
  CHECK(bound_of(structure({wide, MPI_INT}, {0, 100})) == Bound{-4, 20});
  CHECK(bound_of(structure({MPI_LB, MPI_INT, MPI_UB}, {-8, 0, 32})) == Bound{-8, 40});
}

TEST_CASE("empty datatypes are datatypes") {
  const Running running;
  MPI_Datatype none = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_contiguous(0, MPI_INT, &none) == MPI_SUCCESS);
  CHECK(size_of(none) == 0);
  CHECK(bound_of(none) == Bound{0, 0});
  CHECK(MPI_Type_indexed(0, nullptr, nullptr, MPI_INT, &none) == MPI_SUCCESS);
  CHECK(MPI_Type_create_struct(0, nullptr, nullptr, nullptr, &none) == MPI_SUCCESS);
  CHECK(MPI_Type_commit(&none) == MPI_SUCCESS);
  int position = 0;
  CHECK(MPI_Pack(nullptr, 5, none, nullptr, 0, &position, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(position == 0);
}

TEST_CASE("sizes beyond an int are told by the forms for large counts") {
  const Running running;
  MPI_Datatype large = MPI_DATATYPE_NULL;
  MPI_Datatype larger = MPI_DATATYPE_NULL;
  MPI_Count size = 0;
  MPI_Count lb = -1;
  const MPI_Count many = std::numeric_limits<int>::max();
  CHECK(MPI_Type_vector(std::numeric_limits<int>::max(), 1, 2, MPI_INT, &large) == MPI_SUCCESS);
  CHECK(MPI_Type_contiguous(1000, large, &larger) == MPI_SUCCESS);

  CHECK(size_of(larger) == MPI_UNDEFINED);
  CHECK(MPI_Type_size_x(larger, &size) == MPI_SUCCESS);
  CHECK(size == many * 4000);
  CHECK(MPI_Type_get_extent_x(larger, &lb, &size) == MPI_SUCCESS);
  CHECK(size == (2 * many - 1) * 4000);

  MPI_Status status{};
  int count = 0;
  CHECK(MPI_Status_set_elements_x(&status, MPI_INT, 3 * many) == MPI_SUCCESS);
  CHECK(MPI_Get_elements_x(&status, MPI_INT, &size) == MPI_SUCCESS);
  CHECK(size == 3 * many);
  CHECK(MPI_Get_elements(&status, MPI_INT, &count) == MPI_SUCCESS);
  CHECK(count == MPI_UNDEFINED);
  CHECK(MPI_Get_count(&status, MPI_INT, &count) == MPI_SUCCESS);
  CHECK(count == MPI_UNDEFINED);
}

TEST_CASE("elements are counted also where a message ends inside a datatype") {
  const Running running;
  const MPI_Datatype record = structure({MPI_DOUBLE, MPI_CHAR}, {0, 8});
  MPI_Status status{};
  int count = 0;
  CHECK(MPI_Status_set_elements(&status, MPI_BYTE, 9 + 8) == MPI_SUCCESS);
  CHECK(MPI_Get_count(&status, record, &count) == MPI_SUCCESS);
  CHECK(count == MPI_UNDEFINED);
  CHECK(MPI_Get_elements(&status, record, &count) == MPI_SUCCESS);
  CHECK(count == 3);
  CHECK(MPI_Status_set_elements(&status, record, 3) == MPI_SUCCESS);
  CHECK(MPI_Get_elements(&status, MPI_BYTE, &count) == MPI_SUCCESS);
  CHECK(count == 17);
  CHECK(MPI_Get_elements(&status, MPI_DOUBLE, &count) == MPI_SUCCESS);
  CHECK(count == MPI_UNDEFINED);
  int flag = 7;
  CHECK(MPI_Test_cancelled(&status, &flag) == MPI_SUCCESS);
  CHECK(flag == 0);
  CHECK(MPI_Status_set_cancelled(&status, 1) == MPI_SUCCESS);
  CHECK(MPI_Test_cancelled(&status, &flag) == MPI_SUCCESS);
  CHECK(flag == 1);
  CHECK(MPI_Get_elements(&status, MPI_BYTE, &count) == MPI_SUCCESS);
  CHECK(count == 17);

  MPI_Fint fortran[MPI_F_STATUS_SIZE] = {};
  MPI_Status back{};
  CHECK(MPI_Status_c2f(&status, fortran) == MPI_SUCCESS);
  CHECK(MPI_Status_f2c(fortran, &back) == MPI_SUCCESS);
  CHECK(std::memcmp(&status, &back, sizeof back) == 0);
  CHECK(MPI_Status_f2c(MPI_F_STATUS_IGNORE, &back) == MPI_ERR_ARG);
  CHECK(MPI_Get_count(MPI_STATUS_IGNORE, MPI_BYTE, &count) == MPI_ERR_ARG);
}

TEST_CASE("a subarray reads its part of the array in either order") {
  const Running running;
  const int sizes[] = {3, 4};
  const int parts[] = {2, 2};
  const int starts[] = {1, 2};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &made) ==
        MPI_SUCCESS);
  CHECK(read_by(made, 12) == std::vector<int>{6, 7, 10, 11});
  CHECK(bound_of(made) == Bound{0, 48});
  CHECK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &made) ==
        MPI_SUCCESS);
  CHECK(read_by(made, 12) == std::vector<int>{7, 8, 10, 11});
  const int beyond[] = {2, 3};
  CHECK(MPI_Type_create_subarray(2, sizes, parts, beyond, MPI_ORDER_C, MPI_INT, &made) ==
        MPI_ERR_ARG);
}

TEST_CASE("the parts of a distributed array are the array, each element once") {
  const Running running;
  const int sizes[] = {7, 10};
  const int grid[] = {2, 3};
  const int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
  for (const int order : {MPI_ORDER_C, MPI_ORDER_FORTRAN}) {
    for (const int first : kinds) {
      for (const int argument : {MPI_DISTRIBUTE_DFLT_DARG, 4}) {
        std::vector<int> seen(70);
        for (int rank = 0; rank < 6; ++rank) {
          const int distributions[] = {first, MPI_DISTRIBUTE_CYCLIC};
          const int arguments[] = {argument, 2};
          MPI_Datatype made = MPI_DATATYPE_NULL;
          REQUIRE(MPI_Type_create_darray(6, rank, 2, sizes, distributions, arguments, grid, order,
                                         MPI_INT, &made) == MPI_SUCCESS);
          CHECK(bound_of(made) == Bound{0, 280});
          for (const int place : read_by(made, 70)) ++seen[static_cast<std::size_t>(place)];
        }
        CHECK(seen == std::vector<int>(70, 1));
      }
    }
  }
  // Process 1 of two has the blocks 2-3 and 6 of seven elements.
  const int seven = 7;
  const int two = 2;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_create_darray(2, 1, 1, &seven, &kinds[1], &two, &two, MPI_ORDER_C, MPI_INT,
                               &made) == MPI_SUCCESS);
  CHECK(read_by(made, 7) == std::vector<int>{2, 3, 6});
  CHECK(MPI_Type_create_darray(2, 1, 1, &seven, &kinds[0], &two, &two, MPI_ORDER_C, MPI_INT,
                               &made) == MPI_ERR_ARG);
}

TEST_CASE("envelopes and contents tell the call that made a datatype") {
  const Running running;
  const int lengths[] = {2, 1};
  const int places[] = {0, 5};
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_contiguous(3, MPI_INT, &inner) == MPI_SUCCESS);
  CHECK(MPI_Type_indexed(2, lengths, places, inner, &made) == MPI_SUCCESS);
  CHECK(MPI_Type_free(&inner) == MPI_SUCCESS);

  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  CHECK(MPI_Type_get_envelope(made, &integers, &addresses, &types, &combiner) == MPI_SUCCESS);
  CHECK(combiner == MPI_COMBINER_INDEXED);
  CHECK(integers == 5);
  CHECK(addresses == 0);
  CHECK(types == 1);
  std::array<int, 5> list{};
  CHECK(MPI_Type_get_contents(made, 5, 0, 1, list.data(), nullptr, &inner) == MPI_SUCCESS);
  CHECK(list == std::array<int, 5>{2, 2, 1, 0, 5});
  CHECK(size_of(inner) == 12);
  CHECK(MPI_Type_free(&inner) == MPI_SUCCESS);
  CHECK(MPI_Type_get_contents(made, 4, 0, 1, list.data(), nullptr, &inner) == MPI_ERR_ARG);
  CHECK(MPI_Type_get_envelope(MPI_INT, &integers, &addresses, &types, &combiner) == MPI_SUCCESS);
  CHECK(combiner == MPI_COMBINER_NAMED);
  CHECK(MPI_Type_get_contents(MPI_INT, 0, 0, 0, nullptr, nullptr, nullptr) == MPI_ERR_TYPE);
}

TEST_CASE("external32 is big-endian, with sizes of its own") {
  const Running running;
  const int numbers[] = {1, -2};
  std::array<unsigned char, 16> out{};
  MPI_Aint position = 0;
  CHECK(MPI_Pack_external("external32", numbers, 2, MPI_INT, out.data(), 16, &position) ==
        MPI_SUCCESS);
  CHECK(position == 8);
  CHECK(out[3] == 1);
  CHECK(out[4] == 0xFF);
  CHECK(out[7] == 0xFE);

  const long longs[] = {-7, 70000};
  long back[2] = {};
  position = 0;
  CHECK(MPI_Pack_external("external32", longs, 2, MPI_LONG, out.data(), 16, &position) ==
        MPI_SUCCESS);
  CHECK(position == 8);
  position = 0;
  CHECK(MPI_Unpack_external("external32", out.data(), 8, &position, back, 2, MPI_LONG) ==
        MPI_SUCCESS);
  CHECK(back[0] == -7);
  CHECK(back[1] == 70000);

  const long double pi = 3.14159265358979323846L;
  long double read = 0;
  position = 0;
  CHECK(MPI_Pack_external("external32", &pi, 1, MPI_LONG_DOUBLE, out.data(), 16, &position) ==
        MPI_SUCCESS);
  CHECK(out[0] == 0x40);
  CHECK(out[2] == 0x92);
  position = 0;
  CHECK(MPI_Unpack_external("external32", out.data(), 16, &position, &read, 1, MPI_LONG_DOUBLE) ==
        MPI_SUCCESS);
  CHECK(read == pi);
  position = 0;
  CHECK(MPI_Pack_external("native", numbers, 2, MPI_INT, out.data(), 16, &position) == MPI_ERR_ARG);
  CHECK(MPI_Pack_external("external32", numbers, 2, MPI_INT, out.data(), 7, &position) ==
        MPI_ERR_TRUNCATE);
}

TEST_CASE("wrong arguments are told by their classes") {
  const Running running;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  int value = 0;
  int position = 0;
  CHECK(MPI_Type_contiguous(-1, MPI_INT, &made) == MPI_ERR_COUNT);
  CHECK(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &made) == MPI_ERR_TYPE);
  CHECK(MPI_Type_vector(1, -1, 1, MPI_INT, &made) == MPI_ERR_COUNT);
  CHECK(MPI_Type_indexed(1, nullptr, &value, MPI_INT, &made) == MPI_ERR_ARG);
  CHECK(MPI_Type_contiguous(2, MPI_INT, &made) == MPI_SUCCESS);
  CHECK(MPI_Pack(&value, 1, made, &value, 8, &position, MPI_COMM_WORLD) == MPI_ERR_TYPE);
  CHECK(MPI_Pack(&value, 1, MPI_INT, &value, 3, &position, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE);
  CHECK(MPI_Pack(&value, 1, MPI_INT, &value, 4, &position, MPI_COMM_NULL) == MPI_ERR_COMM);
  CHECK(MPI_Pack(nullptr, 1, MPI_INT, &value, 4, &position, MPI_COMM_WORLD) == MPI_ERR_BUFFER);
  CHECK(MPI_Type_free(&made) == MPI_SUCCESS);
  CHECK(made == MPI_DATATYPE_NULL);
  CHECK(MPI_Type_free(&made) == MPI_ERR_TYPE);
  made = MPI_INT;
  CHECK(MPI_Type_free(&made) == MPI_ERR_TYPE);
  CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &made) == MPI_ERR_ARG);
  CHECK(MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, &made) == MPI_SUCCESS);
  CHECK(size_of(made) == 16);
}

TEST_CASE("Fortran's parametrised datatypes are the same for the same numbers") {
  const Running running;
  MPI_Datatype a = MPI_DATATYPE_NULL;
  MPI_Datatype b = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_create_f90_real(10, MPI_UNDEFINED, &a) == MPI_SUCCESS);
  CHECK(MPI_Type_create_f90_real(10, MPI_UNDEFINED, &b) == MPI_SUCCESS);
  CHECK(a == b);
  CHECK(size_of(a) == 8);
  CHECK(MPI_Type_free(&a) == MPI_ERR_TYPE);
  CHECK(MPI_Type_create_f90_integer(9, &a) == MPI_SUCCESS);
  CHECK(size_of(a) == 4);
  CHECK(MPI_Type_create_f90_integer(50, &a) == MPI_ERR_ARG);
}

TEST_CASE("numbers of 18 digits are the extended ones, also in external32") {
  const Running running;
  MPI_Datatype real = MPI_DATATYPE_NULL;
  MPI_Datatype quad = MPI_DATATYPE_NULL;
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_create_f90_real(18, MPI_UNDEFINED, &real) == MPI_SUCCESS);
  CHECK(MPI_Type_create_f90_real(19, MPI_UNDEFINED, &quad) == MPI_SUCCESS);
  CHECK(MPI_Type_create_f90_complex(MPI_UNDEFINED, 4931, &pair) == MPI_SUCCESS);
  CHECK(size_of(real) == 16);
  CHECK(size_of(pair) == 32);
  CHECK(datatype_of(real).layout().named == MPI_LONG_DOUBLE);
  CHECK(datatype_of(quad).layout().named == MPI_REAL16);
  CHECK(datatype_of(pair).layout().named == MPI_C_LONG_DOUBLE_COMPLEX);
  const long double pi = 3.14159265358979323846L;
  long double read = 0;
  std::array<unsigned char, 16> out{};
  MPI_Aint position = 0;
  CHECK(MPI_Pack_external("external32", &pi, 1, real, out.data(), 16, &position) == MPI_SUCCESS);
  CHECK(out[0] == 0x40);
  CHECK(out[2] == 0x92);
  position = 0;
  CHECK(MPI_Unpack_external("external32", out.data(), 16, &position, &read, 1, real) ==
        MPI_SUCCESS);
  CHECK(read == pi);
}

TEST_CASE("names, copies and attributes of datatypes") {
  const Running running;
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = -1;
  int key = 0;
  int flag = 0;
  int value = 4;
  int* read = nullptr;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Datatype copy = MPI_DATATYPE_NULL;
  CHECK(MPI_Type_get_name(MPI_UNSIGNED_LONG_LONG, name.data(), &length) == MPI_SUCCESS);
  CHECK(std::strcmp(name.data(), "MPI_UNSIGNED_LONG_LONG") == 0);
  CHECK(MPI_Type_contiguous(2, MPI_INT, &made) == MPI_SUCCESS);
  CHECK(MPI_Type_get_name(made, name.data(), &length) == MPI_SUCCESS);
  CHECK(length == 0);
  CHECK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &key, nullptr) ==
        MPI_SUCCESS);
  CHECK(MPI_Type_set_attr(made, key, &value) == MPI_SUCCESS);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value) == MPI_ERR_KEYVAL);
  CHECK(MPI_Type_dup(made, &copy) == MPI_SUCCESS);
  CHECK(MPI_Type_get_attr(copy, key, &read, &flag) == MPI_SUCCESS);
  CHECK(flag == 1);
  CHECK(read == &value);
  CHECK(MPI_Type_free(&made) == MPI_SUCCESS);
  CHECK(MPI_Type_free(&copy) == MPI_SUCCESS);
  CHECK(MPI_Type_free_keyval(&key) == MPI_SUCCESS);
}

TEST_SUITE_END();

}  // namespace phx::mpi::datatypes_test
