#include "runtime/mpi/base/calling.h"

#include "runtime/mpi/base/communicator_core.h"

namespace phx::mpi {

std::string spell(const Entered& call) {
  const std::string name = call.name == nullptr ? "no function" : call.name;
  if (call.comm == MPI_COMM_WORLD) return name;
  const CommunicatorCore* const core = communicators().find(call.comm);
  const std::string called = core == nullptr ? "" : core->name();
  return name + (called.empty() ? " on a communicator without a name" : " on '" + called + "'");
}

}  // namespace phx::mpi
