#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/tree_view.h"
#include "overlay/network/known_network.h"
#include "overlay/planners/network_plans.h"

namespace phx::planners {

/// Trees over a learned network, of every processor as a root, as one processor has to know them.
/// Each is a pure function of the network, of who lives, and of the root. So all processors that
/// have the same values see the same tree, without a message about it.
///
/// Whoever is in no site yet is a leaf, so a newcomer changes nothing for the others. Number 0 of a
/// root is for short messages (the greedy plan). Each class of longer ones has some (striped,
/// planned for messages of this size). Thread rule: one owner.
class LearnedTrees {
 public:
  /// `store`: of all daemons of this thread, or its own.
  explicit LearnedTrees(ProcessorId self, std::shared_ptr<PlanStore> store = nullptr)
      : self_(self),
        live_{self},
        store_(store != nullptr ? std::move(store) : std::make_shared<PlanStore>()) {}

  // Inputs. Each makes all views anew.
  /// REQUIRES a network whose check() succeeds.
  void on_network(const overlay::KnownNetwork& network);
  void on_members(const ProcessorSet& live);

  // Queries.
  /// Empty: it is not for such trees to know: another kind or number, or the root or this processor
  /// does not live.
  [[nodiscard]] std::optional<TreeView> view(TreeId id);
  /// As far as it is known; else as with the farthest of those that are. REQUIRES that both live.
  [[nodiscard]] Duration round_trip(ProcessorId other);
  /// Whether a minimum spanning tree of the round trips may have the edge to it [NetworkPlans].
  [[nodiscard]] bool may_span(ProcessorId other);

 private:
  [[nodiscard]] NetworkPlans& plans();

  ProcessorId self_;
  overlay::KnownNetwork network_;
  ProcessorSet live_;
  std::shared_ptr<PlanStore> store_;
  std::shared_ptr<NetworkPlans> plans_;  ///< Null: to be made again.
};

}  // namespace phx::planners
