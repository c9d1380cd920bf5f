#include "runtime/mpi/base/calling.h"

#include "runtime/mpi/base/communicator_core.h"

namespace phx::mpi {

std::string spell(const Entered& call) {
  const std::string name = call.name == nullptr ? "no function" : call.name;
  if (call.comm == MPI_COMM_WORLD) return name;
  const Ref<CommunicatorCore> core = communicators().hold(call.comm);  // another thread may free it
  const std::string called = core ? core->name() : "";
  return name + (called.empty() ? " on a communicator without a name" : " on '" + called + "'");
}

}  // namespace phx::mpi
