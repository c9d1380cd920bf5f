#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "overlay/network/known_network.h"
#include "overlay/planners/network_plans.h"
#include "runtime/mpi/groups/group.h"

namespace phx::mpi {

/// The trees of each rank of a group, as what is known of the network between them has it: the same
/// at all that know the same. Thread rule: any thread.
class GroupTrees : public Object {
 public:
  /// `processors`: of each rank, all different. REQUIRES a network whose check() succeeds.
  GroupTrees(const overlay::KnownNetwork& network, std::vector<ProcessorId> processors);

  /// A message, which may be cut: each piece has a tree of the root.
  struct Message {
    int root = 0;
    std::uint64_t bytes = 0;
  };
  /// What one rank is in a tree.
  struct Place {
    std::optional<int> parent;  ///< None: it is the root.
    std::vector<int> children;  ///< In the order in which they are served.
  };
  [[nodiscard]] Place place(const Message& message, std::uint64_t piece, int rank);
  /// The ranks are at several sites, so how often a message goes from one to another counts most.
  [[nodiscard]] bool is_wide() const { return is_wide_; }

 private:
  std::vector<ProcessorId> processors_;
  std::map<ProcessorId, int> ranks_;
  bool is_wide_;
  std::mutex mutex_;
  planners::NetworkPlans plans_;
};

/// What this process knows of the network between the processes of its job.
class JobNetwork {
 public:
  [[nodiscard]] static JobNetwork& of_process();

  /// `words`: of a network [network_words.h], the same for all processes.
  void learn(std::string_view words);
  /// Where all processes are. From now on there are trees.
  void locate(std::vector<ProcessorId> processors) { processors_ = std::move(processors); }
  [[nodiscard]] bool is_located() const { return !processors_.empty(); }
  /// Null: nothing is known of these processes, or they are too few for trees.
  [[nodiscard]] Ref<GroupTrees> trees_of(const Group& group) const;

 private:
  std::optional<overlay::KnownNetwork> network_;
  std::vector<ProcessorId> processors_;
};

}  // namespace phx::mpi
