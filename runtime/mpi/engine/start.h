#pragma once

#include <memory>
#include <string>

#include "runtime/api/session_core.h"

/// How a process finds the others of its job.
namespace phx::mpi {

/// What `phoenix mpirun` tells a process in its environment. Without size it was not started so.
struct Launched {
  int rank = 0;
  int size = 0;      ///< 0: not by mpirun
  int control = -1;  ///< a socket to the launcher
  int near = -1;     ///< memory for all ranks [nearby.h]
  int program = 0;   ///< which of several, counted from 0
};
[[nodiscard]] const Launched& launched();

/// A process of a job that holds the vnode of its rank, and nothing else.
struct Started {
  std::unique_ptr<SessionCore> core;
  int rank = 0;
  int size = 0;
  bool is_spread = false;  ///< over the processors of a mesh, which need not be near each other
};
/// Throws phx::Failure.
[[nodiscard]] Started start();

/// Tells the launcher, if there is one. Whether there is.
bool tell_launcher(const std::string& line);
/// The same for what is not worth waiting for. False: there is none, or it does not read.
bool note_to_launcher(const std::string& line);
/// The next line of the launcher; empty if it is gone.
[[nodiscard]] std::string hear_launcher();

}  // namespace phx::mpi
