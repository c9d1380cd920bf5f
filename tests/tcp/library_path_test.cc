#include "runtime/tcp/library_path.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace phx::tcp::library_path_test {

TEST_SUITE_BEGIN("tcp/library_path");

TEST_CASE("the folder of the MPI library is found beside the program, if it was installed") {
  namespace fs = std::filesystem;
  std::string name = fs::temp_directory_path() / "phoenix-libraries-XXXXXX";
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  const fs::path prefix = name;
  const std::string self = prefix / "bin/phoenixd";

  CHECK(mpi_folder(self).empty());
  fs::create_directories(prefix / "lib/phoenix-mpi");
  CHECK(mpi_folder(self).empty());
  std::ofstream(prefix / "lib/phoenix-mpi/libmpi.so.12") << "";
  CHECK(mpi_folder(self) == prefix / "lib/phoenix-mpi");
  // What cannot be told is not taken for the current folder.
  const fs::path before = fs::current_path();
  fs::current_path(prefix);
  CHECK(mpi_folder("").empty());
  fs::current_path(before);
  fs::remove_all(prefix);
}

TEST_CASE("that folder comes before what a program is given, and that instead of what we have") {
  ::setenv("LD_LIBRARY_PATH", "/ours", 1);
  using Environment = std::vector<std::string>;
  CHECK(library_path("/mpi", {}) == "LD_LIBRARY_PATH=/mpi:/ours");
  CHECK(library_path("/mpi", Environment{"A=1", "LD_LIBRARY_PATH=/a", "LD_LIBRARY_PATH=/b:/c"}) ==
        "LD_LIBRARY_PATH=/mpi:/b:/c");
  CHECK(library_path("/mpi", Environment{"LD_LIBRARY_PATH="}) == "LD_LIBRARY_PATH=/mpi");
  ::unsetenv("LD_LIBRARY_PATH");
  CHECK(library_path("/mpi", Environment{"XLD_LIBRARY_PATH=/a"}) == "LD_LIBRARY_PATH=/mpi");
}

TEST_SUITE_END();

}  // namespace phx::tcp::library_path_test
