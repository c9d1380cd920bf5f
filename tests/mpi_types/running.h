#pragma once

#include "runtime/mpi/base/communicator_core.h"
#include "runtime/mpi/base/errors.h"

namespace phx::mpi {

/// A library between MPI_Init and MPI_Finalize with one communicator, the world, which returns
/// errors.
struct Running {
  Running() {
    static auto* world = [] {
      auto* made = new CommunicatorCore;
      communicators().predefine(MPI_COMM_WORLD, made);
      return made;
    }();
    world->set_errhandler(Ref<Errhandler>(&errhandler_of(MPI_ERRORS_RETURN)));
    life() = Life::kRunning;
  }
  ~Running() { life() = Life::kFinalized; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

}  // namespace phx::mpi
