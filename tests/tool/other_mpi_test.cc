#include "apps/phoenix/mpi/other_mpi.h"

#include <doctest/doctest.h>

#include <string>

namespace phx::app::other_mpi_test {

TEST_SUITE_BEGIN("tool/other_mpi");

TEST_CASE("a program that is linked with another MPI is known by the name of its library") {
  struct Case {
    std::string name, found;
  };
  for (const Case& c :
       {Case{"libmpi.so.40", "libmpi.so.40"}, Case{"libmpi_mpifh.so.40", "libmpi_mpifh.so.40"},
        Case{"libmpi.so.12", ""}, Case{"libmpi.so.12.1.12", ""}, Case{"libmpich.so.12", ""},
        Case{"libmpi.so", ""}, Case{"libmpi.so.40 not found", ""}, Case{"libphoenix-mpi.so.3", ""},
        Case{"xlibmpi.so.40", ""}, Case{"libmpi.so.", ""}}) {
    CAPTURE(c.name);
    const std::string zero(1, '\0');
    CHECK(other_mpi(zero + "libc.so.6" + zero + c.name + zero + "libm.so.6" + zero) == c.found);
    CHECK(other_mpi(zero + c.name) == c.found);
  }
  CHECK(other_mpi("").empty());
}

TEST_SUITE_END();

}  // namespace phx::app::other_mpi_test
