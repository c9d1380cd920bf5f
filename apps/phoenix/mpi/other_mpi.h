#pragma once

#include <string>
#include <string_view>

namespace phx::app {

/// The library of another MPI that a program is linked with, such as "libmpi.so.40"; empty: none.
/// `file`: how the program's file begins. Names of MPICH's libraries, ".so.12", are ours as well.
[[nodiscard]] std::string other_mpi(std::string_view file);

}  // namespace phx::app
