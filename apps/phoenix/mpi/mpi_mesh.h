#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/phoenix/mpi/ranks.h"
#include "overlay/base/result.h"

namespace phx::app {

/// One of the programs of an MPI job, and its processes: as many ranks, one after the other.
struct MpiProgram {
  std::size_t count = 1;
  MpiProcess spec;
};

/// One command for all of them: each process becomes what its rank is to be. It needs a shell
/// where it runs. REQUIRES programs.
[[nodiscard]] std::vector<std::string> one_command(const std::vector<MpiProgram>& programs);

/// Whether each of so many ranks finds a processor of its own there. kUnavailable: it does not, and
/// what to do; or there is no such mesh.
[[nodiscard]] Status has_room(const std::string& mesh, std::size_t ranks);

/// "PHOENIX_NETWORK=...": what the mesh knows of its network, the same for all processes, so that
/// communicators have trees over it. In a mesh that has just begun waits until all members are
/// measured, for two seconds at most. Nothing follows the name if nothing is known, or it is too
/// long for an environment: so processes do not find what an environment around them has.
[[nodiscard]] std::string network_setting(const std::string& mesh);

}  // namespace phx::app
