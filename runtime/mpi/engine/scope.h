#pragma once

#include <cstdint>

#include "runtime/mpi/engine/group_trees.h"
#include "runtime/mpi/groups/group.h"

namespace phx::mpi {

/// A communicator has so many contexts, one after the other: for messages, for collective
/// operations, and two for making other communicators.
inline constexpr std::uint64_t kContexts = 4;

/// Where messages go that belong together: one half of a communicator (point to point, or
/// collective), as one of its processes sees it.
struct Scope {
  std::uint64_t context = 0;
  int rank = 0;      ///< own one, which messages carry
  Ref<Group> peers;  ///< whom ranks name: the group, or the remote one of an inter-communicator
  /// These are all processes of a job whose runtime has trees for them: a cast reaches just them.
  bool is_whole = false;
  /// The scope of MPI_COMM_WORLD, besides: the runtime combines for one scope alone, because its
  /// reductions have to be begun in the same order everywhere.
  bool may_combine = false;
  /// They are on one machine: many messages at once cost little.
  bool is_near = false;
  /// They share the cores of one machine. The same at all of them, as `is_whole`.
  bool is_crowded = false;
  /// What is known of the network between them; may be null, at all of them.
  Ref<GroupTrees> trees{};

  [[nodiscard]] int size() const { return peers->size(); }
  [[nodiscard]] bool is_wide() const { return trees && trees->is_wide(); }
};

}  // namespace phx::mpi
