#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <variant>
#include <vector>

#include "runtime/mpi/base/communicator_core.h"
#include "runtime/mpi/engine/scope.h"
#include "runtime/mpi/groups/cartesian.h"

namespace phx::mpi {

/// The neighbours of MPI_Dist_graph_create, as ranks.
struct Neighbours {
  std::vector<int> sources, source_weights, targets, target_weights;
  bool is_weighted = false;
};
using Topology = std::variant<std::monostate, Cartesian, Graph, Neighbours>;

/// What a communicator is for communication. Its group does not change. Thread rule: any thread;
/// collective operations are called in the same order everywhere.
class Communicator : public CommunicatorCore {
 public:
  /// `context`: agreed upon by all processes, as fresh_context() makes them. `remote`: of an
  /// inter-communicator.
  Communicator(std::uint64_t context, Ref<Group> group, Ref<Group> remote = {});

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return group_->size(); }
  [[nodiscard]] const Ref<Group>& group() const { return group_; }
  [[nodiscard]] const Ref<Group>& remote() const { return remote_; }
  [[nodiscard]] bool is_inter() const { return static_cast<bool>(remote_); }
  /// Whom ranks of sends and receives name.
  [[nodiscard]] const Ref<Group>& peers() const { return is_inter() ? remote_ : group_; }
  /// The scope of messages from rank to rank, and what of it receives need.
  [[nodiscard]] std::uint64_t context() const { return context_; }
  [[nodiscard]] Scope messages() const { return {context_, rank_, peers()}; }
  /// Of collective operations; of an inter-communicator to the remote group.
  [[nodiscard]] Scope collective() const;
  /// Agreed upon later than this was made, by whoever copies communicators.
  void set_context(std::uint64_t context) { context_ = context; }
  /// The tag of the next collective operation.
  [[nodiscard]] int next_tag() { return static_cast<int>(started_++ & 0x7FFFFFFFU); }

  Topology topology;
  /// Of an inter-communicator: this side alone.
  Ref<Communicator> local;

 private:
  std::uint64_t context_;
  Ref<Group> group_;
  Ref<Group> remote_;
  int rank_;
  std::atomic<std::uint32_t> started_ = 0;
  mutable std::once_flag trees_made_;
  mutable Ref<GroupTrees> trees_;
};

/// The communicator behind a handle; fails with MPI_ERR_COMM.
[[nodiscard]] Communicator& comm_of(MPI_Comm handle);
/// The same of one that is no inter-communicator.
[[nodiscard]] Communicator& intra_of(MPI_Comm handle);

/// A context that no other communicator has, if this process is to say which: its number in the
/// upper half, a counter in the lower one.
[[nodiscard]] std::uint64_t fresh_context();
inline constexpr std::uint64_t kWorldContext = 0;
/// Beside the context: for messages of MPI_Comm_create_group, and of MPI_Intercomm_create.
inline constexpr std::uint64_t kMakingGroups = 2;
inline constexpr std::uint64_t kMakingPairs = 3;

}  // namespace phx::mpi
