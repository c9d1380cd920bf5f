#pragma once

#include <string>
#include <utility>

#include "runtime/mpi/include/mpi.h"

namespace phx::mpi {

/// A function of the interface that a thread is in.
struct Entered {
  const char* name = nullptr;  ///< null: none
  MPI_Comm comm = MPI_COMM_WORLD;
};
inline thread_local Entered last_entered;

/// While it lives, the thread is in this function.
class Entering {
 public:
  explicit Entering(const Entered& call) : outer_(std::exchange(last_entered, call)) {}
  Entering(const Entering&) = delete;
  Entering& operator=(const Entering&) = delete;
  ~Entering() { last_entered = outer_; }

 private:
  const Entered outer_;
};

/// For a person: "MPI_Recv", or "MPI_Recv on 'rows'" if it is another one than MPI_COMM_WORLD.
[[nodiscard]] std::string spell(const Entered& call);

}  // namespace phx::mpi
