#include <doctest/doctest.h>

#include <array>
#include <cstring>

#include "runtime/mpi/base/entry.h"
#include "tests/mpi_types/running.h"

namespace phx::mpi::environment_test {
namespace {

int seen_code = 0;

void note_error(MPI_Comm* comm, int* code, ...) {
  seen_code = *comm == MPI_COMM_WORLD ? *code : -1;
}

struct Aborted {};
void throw_instead(MPI_Comm /*comm*/, int /*code*/, const char* /*text*/) {
  throw Aborted{};
}

}  // namespace

TEST_SUITE_BEGIN("mpi/environment");

TEST_CASE("errors go to the handler of the communicator") {
  const Running running;
  MPI_Errhandler mine = MPI_ERRHANDLER_NULL;
  MPI_Errhandler read = MPI_ERRHANDLER_NULL;
  CHECK(MPI_Comm_create_errhandler(note_error, &mine) == MPI_SUCCESS);
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine) == MPI_SUCCESS);
  CHECK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &read) == MPI_SUCCESS);
  CHECK(read == mine);
  CHECK(MPI_Errhandler_free(&mine) == MPI_SUCCESS);
  CHECK(MPI_Errhandler_free(&read) == MPI_SUCCESS);
  CHECK(mine == MPI_ERRHANDLER_NULL);

  CHECK(MPI_Comm_set_name(MPI_COMM_NULL, "x") == MPI_ERR_COMM);
  CHECK(seen_code == MPI_ERR_COMM);
  CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG) == MPI_SUCCESS);
  CHECK(seen_code == MPI_ERR_TAG);
  CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_SUCCESS) == MPI_SUCCESS);
  CHECK(seen_code == MPI_SUCCESS);
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL) == MPI_ERR_ARG);
}

TEST_CASE("programs add classes, codes and texts") {
  const Running running;
  int added_class = 0;
  int code = 0;
  int read = 0;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  CHECK(MPI_Add_error_class(&added_class) == MPI_SUCCESS);
  CHECK(MPI_Add_error_code(added_class, &code) == MPI_SUCCESS);
  CHECK(MPI_Add_error_string(code, "my own error") == MPI_SUCCESS);

  CHECK(added_class > MPI_ERR_LASTCODE);
  CHECK(MPI_Error_class(code, &read) == MPI_SUCCESS);
  CHECK(read == added_class);
  CHECK(MPI_Error_string(code, text.data(), &read) == MPI_SUCCESS);
  CHECK(std::string(text.data()) == "my own error");
  CHECK(read == 12);
  CHECK(*last_used_code() == code);
  CHECK(MPI_Add_error_string(MPI_ERR_TYPE, "no") == MPI_ERR_ARG);
  CHECK(MPI_Error_class(code + 1, &read) == MPI_ERR_ARG);
  CHECK(MPI_Error_string(MPI_ERR_TYPE, text.data(), &read) == MPI_SUCCESS);
  CHECK(std::strstr(text.data(), "datatype") != nullptr);
}

TEST_CASE("outside of Init and Finalize only a few calls are allowed") {
  { const Running running; }
  set_abort(throw_instead);
  int version = 0;
  int subversion = 0;
  CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS);
  CHECK(version == 3);
  CHECK(subversion == 1);
  CHECK(MPI_Wtime() > 0.0);
}

TEST_CASE("info objects keep the order of their keys") {
  const Running running;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info copy = MPI_INFO_NULL;
  CHECK(MPI_Info_create(&info) == MPI_SUCCESS);
  CHECK(MPI_Info_set(info, "b", "1") == MPI_SUCCESS);
  CHECK(MPI_Info_set(info, "a", "22") == MPI_SUCCESS);
  CHECK(MPI_Info_set(info, "b", "333") == MPI_SUCCESS);
  CHECK(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
  CHECK(MPI_Info_delete(info, "a") == MPI_SUCCESS);
  CHECK(MPI_Info_delete(info, "a") == MPI_ERR_INFO_NOKEY);

  int number = 0;
  int flag = 0;
  std::array<char, MPI_MAX_INFO_KEY + 1> text{};
  CHECK(MPI_Info_get_nkeys(copy, &number) == MPI_SUCCESS);
  CHECK(number == 2);
  CHECK(MPI_Info_get_nthkey(copy, 0, text.data()) == MPI_SUCCESS);
  CHECK(std::string(text.data()) == "b");
  CHECK(MPI_Info_get_nthkey(copy, 2, text.data()) == MPI_ERR_ARG);
  CHECK(MPI_Info_get(copy, "b", 2, text.data(), &flag) == MPI_SUCCESS);
  CHECK(std::string(text.data()) == "33");
  CHECK(MPI_Info_get_valuelen(copy, "b", &number, &flag) == MPI_SUCCESS);
  CHECK(number == 3);
  CHECK(MPI_Info_get(copy, "c", 2, text.data(), &flag) == MPI_SUCCESS);
  CHECK(flag == 0);
  CHECK(MPI_Info_set(copy, "", "x") == MPI_ERR_INFO_KEY);
  CHECK(MPI_Info_free(&info) == MPI_SUCCESS);
  CHECK(info == MPI_INFO_NULL);
  CHECK(MPI_Info_free(&info) == MPI_ERR_INFO);
  CHECK(MPI_Info_free(&copy) == MPI_SUCCESS);
}

TEST_CASE("memory is given and taken back") {
  const Running running;
  char* memory = nullptr;
  CHECK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory) == MPI_SUCCESS);
  std::memset(memory, 1, 1000);
  CHECK(MPI_Free_mem(memory) == MPI_SUCCESS);
  CHECK(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory) == MPI_ERR_ARG);
  CHECK(MPI_Alloc_mem(static_cast<MPI_Aint>(1) << 60, MPI_INFO_NULL, &memory) == MPI_ERR_NO_MEM);
}

TEST_SUITE_END();

}  // namespace phx::mpi::environment_test
