#pragma once

#include <initializer_list>

#include "runtime/mpi/base/calling.h"
#include "runtime/mpi/base/errors.h"

/// Begins the definition of a function of the interface: PMPI_<name>, with MPI_<name> as its weak
/// second name, so that a tool can replace it.
#define PHX_MPI_ENTRY(result, name, parameters)                                        \
  extern "C" __attribute__((weak, alias("PMPI_" #name))) result MPI_##name parameters; \
  extern "C" result PMPI_##name parameters

namespace phx::mpi {

/// Runs the body of a function of the interface. What it throws goes to the error handler of
/// `comm`, and the code of the error is returned; otherwise MPI_SUCCESS. `name` is the function's.
template <class Body>
int enter(const char* name, MPI_Comm comm, Body&& body) {
  const Entering entering({name, comm});
  try {
    if (life().load(std::memory_order_acquire) != Life::kRunning) [[unlikely]] {
      throw Failure(MPI_ERR_OTHER, life().load() == Life::kBefore ? "called before MPI_Init"
                                                                  : "called after MPI_Finalize");
    }
    body();
    return MPI_SUCCESS;
  } catch (...) {
    return raise_current(comm, name);
  }
}

/// Without a communicator errors are those of MPI_COMM_WORLD.
template <class Body>
int enter(const char* name, Body&& body) {
  return enter(name, MPI_COMM_WORLD, std::forward<Body>(body));
}

/// Fails with MPI_ERR_ARG if there is no place for a result.
inline void need(std::initializer_list<const void*> places) {
  for (const void* place : places) require(place != nullptr, MPI_ERR_ARG, "a result has no place");
}

/// Copies a text and its end to the program, and says its length if asked. At most `limit` bytes
/// with the end.
void give_text(const std::string& text, std::size_t limit, char* out, int* length);

}  // namespace phx::mpi
