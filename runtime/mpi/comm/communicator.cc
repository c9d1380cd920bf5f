#include "runtime/mpi/comm/communicator.h"

#include <utility>

#include "runtime/mpi/engine/process.h"

namespace phx::mpi {

Communicator::Communicator(std::uint64_t context, Ref<Group> group, Ref<Group> remote)
    : context_(context),
      group_(std::move(group)),
      remote_(std::move(remote)),
      rank_(group_->rank_of(own_process())) {}

Scope Communicator::collective() const {
  const Process& process = Process::current();
  Scope scope{context_ + 1, rank_, peers()};
  scope.is_whole = !is_inter() && process.may_cast_to(*group_);
  scope.may_combine = scope.is_whole && context_ == kWorldContext;
  scope.is_near = process.near() != nullptr;
  scope.is_crowded = process.is_crowded();
  // Before all processes are located there are none: nobody asks then but for the world's first.
  const JobNetwork& network = JobNetwork::of_process();
  if (!is_inter() && network.is_located()) {
    std::call_once(trees_made_, [&] { trees_ = network.trees_of(*group_); });
    scope.trees = trees_;
  }
  return scope;
}

Communicator& comm_of(MPI_Comm handle) {
  return static_cast<Communicator&>(communicator_of(handle));
}

Communicator& intra_of(MPI_Comm handle) {
  Communicator& comm = comm_of(handle);
  require(!comm.is_inter(), MPI_ERR_COMM, "an inter-communicator cannot be used here");
  return comm;
}

std::uint64_t fresh_context() {
  constexpr unsigned kCounterBits = 40;               // Jobs have 2^24 processes at most.
  static std::atomic<std::uint64_t> made{kContexts};  // 0: the world
  return (static_cast<std::uint64_t>(own_process()) << kCounterBits) | made.fetch_add(kContexts);
}

}  // namespace phx::mpi
