#pragma once

#include <optional>
#include <span>
#include <vector>

#include "runtime/mpi/base/handles.h"
#include "runtime/mpi/include/mpi.h"

namespace phx::mpi {

/// An ordered set of processes, which are named by their ranks in MPI_COMM_WORLD. It does not
/// change.
class Group : public Object {
 public:
  explicit Group(std::vector<int> processes);

  [[nodiscard]] int size() const { return static_cast<int>(processes_.size()); }
  /// The process at a rank.
  [[nodiscard]] int process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const std::vector<int>& processes() const { return processes_; }
  /// The rank of a process, or MPI_UNDEFINED. O(log size).
  [[nodiscard]] int rank_of(int process) const;

  /// Those of this one, then those only of the other.
  [[nodiscard]] std::vector<int> united(const Group& other) const;
  /// Those of this one that are in the other, or are not.
  [[nodiscard]] std::vector<int> shared(const Group& other, bool in_both) const;
  /// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
  [[nodiscard]] int compared(const Group& other) const;
  /// Those at these ranks, in this order; fails with MPI_ERR_RANK.
  [[nodiscard]] std::vector<int> chosen(std::span<const int> ranks) const;
  /// The others, in the order of this group; fails with MPI_ERR_RANK.
  [[nodiscard]] std::vector<int> without(std::span<const int> ranks) const;

 private:
  void check(std::span<const int> ranks) const;

  std::vector<int> processes_;
  std::vector<std::pair<int, int>> ranks_;  ///< process and rank, sorted; empty if equal all along
};

/// The ranks of a group that triples of first, last and stride mean; fails with MPI_ERR_ARG for a
/// stride that does not lead from the first to the last, and with MPI_ERR_RANK.
std::vector<int> expanded(const Group& group, std::span<const int[3]> ranges);

/// All groups with an open handle.
Handles<Group>& groups();
/// The group behind a handle; fails with MPI_ERR_GROUP.
Group& group_of(MPI_Group handle);
/// This process; the engine sets it before MPI_Init returns.
int& own_process();

}  // namespace phx::mpi
