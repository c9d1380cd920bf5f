#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "runtime/mpi/datatypes/basics.h"
#include "tests/mpi_types/running.h"

namespace phx::mpi::ops_test {
namespace {

template <class T>
T combined(MPI_Op op, MPI_Datatype datatype, T in, T inout) {
  CHECK(MPI_Reduce_local(&in, &inout, 1, datatype, op) == MPI_SUCCESS);
  return inout;
}

int code_of(MPI_Op op, MPI_Datatype datatype) {
  alignas(16) char in[32] = {};
  alignas(16) char inout[32] = {};
  return MPI_Reduce_local(in, inout, 1, datatype, op);
}

void weighted(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  CHECK(*datatype == MPI_INT);
  for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[i] += 10 * static_cast<int*>(in)[i];
}

}  // namespace

TEST_SUITE_BEGIN("mpi/ops");

TEST_CASE("predefined operations compute what their names say") {
  const Running running;
  CHECK(combined(MPI_SUM, MPI_INT, 3, 4) == 7);
  CHECK(combined<unsigned char>(MPI_SUM, MPI_UNSIGNED_CHAR, 200, 100) == 44);
  CHECK(combined(MPI_PROD, MPI_DOUBLE, 3.0, 0.5) == 1.5);
  CHECK(combined(MPI_MAX, MPI_LONG_DOUBLE, 3.0L, 4.0L) == 4.0L);
  CHECK(combined<std::int8_t>(MPI_MIN, MPI_INT8_T, -3, 4) == -3);
  CHECK(combined(MPI_LAND, MPI_INT, 2, 4) == 1);
  CHECK(combined(MPI_LOR, MPI_C_BOOL, false, true));
  CHECK_FALSE(combined(MPI_LXOR, MPI_C_BOOL, true, true));
  CHECK(combined(MPI_BAND, MPI_UNSIGNED, 6U, 12U) == 4U);
  CHECK(combined<unsigned char>(MPI_BXOR, MPI_BYTE, 6, 12) == 10);
  CHECK(combined(MPI_BOR, MPI_AINT, MPI_Aint{1}, MPI_Aint{4}) == 5);
  const std::complex<float> i(0, 1);
  CHECK(combined(MPI_PROD, MPI_C_FLOAT_COMPLEX, i, i) == std::complex<float>(-1, 0));
  CHECK(combined<Quad>(MPI_SUM, MPI_REAL16, 1, 2) == 3);
}

TEST_CASE("of equal values the smaller index counts") {
  const Running running;
  using Place = Pair<double, int>;
  CHECK(combined(MPI_MAXLOC, MPI_DOUBLE_INT, Place{2, 7}, Place{2, 3}).index == 3);
  CHECK(combined(MPI_MAXLOC, MPI_DOUBLE_INT, Place{3, 7}, Place{2, 3}).index == 7);
  CHECK(combined(MPI_MINLOC, MPI_DOUBLE_INT, Place{2, 1}, Place{2, 3}).index == 1);
  CHECK(combined(MPI_MINLOC, MPI_DOUBLE_INT, Place{2, 7}, Place{2, 3}).index == 3);
  CHECK(
      combined(MPI_MINLOC, MPI_SHORT_INT, Pair<short, int>{-1, 9}, Pair<short, int>{0, 3}).value ==
      -1);
  CHECK(combined(MPI_MAXLOC, MPI_2INT, Pair<int, int>{5, 9}, Pair<int, int>{5, 3}).index == 3);
}

TEST_CASE("what lies behind the last index stays as it is") {
  const Running running;
  struct Place {
    double value;
    int index;
    int behind;  // In the gap of the datatype, of which a buffer may have less.
  };
  const Place in{1, 7, 100};
  for (const MPI_Op op : {MPI_MINLOC, MPI_MAXLOC}) {
    Place inout{op == MPI_MINLOC ? 2.0 : 0.0, 3, 200};
    CHECK(MPI_Reduce_local(&in, &inout, 1, MPI_DOUBLE_INT, op) == MPI_SUCCESS);
    CHECK(inout.index == 7);
    CHECK(inout.behind == 200);
  }
}

TEST_CASE("operations are refused where the standard does not define them") {
  const Running running;
  for (const MPI_Op op : {MPI_BAND, MPI_LAND, MPI_MINLOC, MPI_REPLACE, MPI_NO_OP})
    CHECK(code_of(op, MPI_DOUBLE) == MPI_ERR_OP);
  for (const MPI_Op op : {MPI_MAX, MPI_BOR, MPI_LXOR, MPI_MAXLOC})
    CHECK(code_of(op, MPI_C_DOUBLE_COMPLEX) == MPI_ERR_OP);
  CHECK(code_of(MPI_SUM, MPI_BYTE) == MPI_ERR_OP);
  CHECK(code_of(MPI_SUM, MPI_CHARACTER) == MPI_ERR_OP);
  CHECK(code_of(MPI_SUM, MPI_WCHAR) == MPI_ERR_OP);
  CHECK(code_of(MPI_SUM, MPI_C_BOOL) == MPI_ERR_OP);
  CHECK(code_of(MPI_SUM, MPI_DOUBLE_INT) == MPI_ERR_OP);
  CHECK(code_of(MPI_OP_NULL, MPI_INT) == MPI_ERR_OP);
  CHECK(code_of(MPI_SUM, MPI_DATATYPE_NULL) == MPI_ERR_TYPE);
  int one = 1;
  CHECK(MPI_Reduce_local(&one, &one, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
  CHECK(MPI_Reduce_local(nullptr, &one, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
  CHECK(MPI_Reduce_local(&one, nullptr, 1, MPI_INT, MPI_SUM) == MPI_ERR_BUFFER);
  CHECK(MPI_Reduce_local(&one, nullptr, -1, MPI_INT, MPI_SUM) == MPI_ERR_COUNT);
  CHECK(MPI_Reduce_local(nullptr, nullptr, 0, MPI_INT, MPI_SUM) == MPI_SUCCESS);
}

TEST_CASE("every predefined datatype has operations or none, and all operations are tried") {
  const Running running;
  int defined = 0;
#define PHX_MPI_TRY(name, Type, family, external)  \
  for (MPI_Op op = MPI_MAX; op <= MPI_NO_OP; ++op) \
    defined += code_of(op, MPI_##name) == MPI_SUCCESS ? 1 : 0;
  PHX_MPI_BASICS(PHX_MPI_TRY)
  // 10 for each of 27 integers, 4 for 8 reals, 2 for 11 complex, 3 for 3 logicals, 3 for bytes.
  CHECK(defined == 27 * 10 + 8 * 4 + 11 * 2 + 3 * 3 + 3);
}

TEST_CASE("functions of programs are called with their datatype") {
  const Running running;
  MPI_Op op = MPI_OP_NULL;
  int commutes = 7;
  const std::vector<int> in = {1, 2, 3};
  std::vector<int> inout = {4, 5, 6};
  CHECK(MPI_Op_create(weighted, 0, &op) == MPI_SUCCESS);
  CHECK(MPI_Op_commutative(op, &commutes) == MPI_SUCCESS);
  CHECK(commutes == 0);
  CHECK(MPI_Reduce_local(in.data(), inout.data(), 3, MPI_INT, op) == MPI_SUCCESS);
  CHECK(inout == std::vector<int>{14, 25, 36});
  CHECK(MPI_Op_free(&op) == MPI_SUCCESS);
  CHECK(op == MPI_OP_NULL);
  op = MPI_SUM;
  CHECK(MPI_Op_free(&op) == MPI_ERR_OP);
  CHECK(MPI_Op_create(nullptr, 0, &op) == MPI_ERR_ARG);
}

TEST_SUITE_END();

}  // namespace phx::mpi::ops_test
