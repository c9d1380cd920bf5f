#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <string>

#include "runtime/mpi/include/mpi.h"

std::map<std::string, long long> constants_of_mpich();

TEST_SUITE_BEGIN("mpi/constants");

TEST_CASE("every constant of our header has the value that MPICH's header gives it") {
#pragma GCC diagnostic ignored "-Wold-style-cast"
  const std::map<std::string, long long> ours = {
#define X(name) {#name, (long long)(name)},
#include PHX_MPI_CONSTANT_NAMES
  };
  CHECK(ours.size() > 200);
  CHECK(ours.at("MPI_COMM_WORLD") == 0x44000000);

  for (const auto& constant : constants_of_mpich()) {
    CAPTURE(constant.first);
    CHECK(ours.at(constant.first) == constant.second);
  }
}

TEST_CASE("a status has the twenty bytes of the binary interface") {
  CHECK(sizeof(MPI_Status) == 20);
  CHECK(offsetof(MPI_Status, MPI_SOURCE) == 8);
  CHECK(sizeof(MPI_Aint) == 8);
}

TEST_SUITE_END();
