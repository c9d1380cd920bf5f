#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/tree_view.h"
#include "overlay/network/known_network.h"
#include "overlay/planners/costs.h"
#include "overlay/planners/plan.h"

namespace phx::planners {

/// Trees over a learned network, of every processor as a root, as one processor has to know them.
/// Each is a pure function of the network, of who lives, and of the root. So all processors that
/// have the same values see the same tree, without a message about it [DESIGN 9.6].
///
/// Whoever is in no site yet is a leaf, so a newcomer changes nothing for the others. One plan
/// serves all roots that nothing distinguishes: a root and the first one of its kind change places.
/// Number 0 of a root is for short messages (the greedy plan). Each class of longer ones has two
/// (two-tree, planned for messages of this size). Thread rule: one owner.
class LearnedTrees {
 public:
  explicit LearnedTrees(ProcessorId self) : self_(self), live_{self} {}

  // Inputs. Each makes all views anew.
  /// REQUIRES a network whose check() succeeds.
  void on_network(const overlay::KnownNetwork& network);
  void on_members(const ProcessorSet& live);

  // Queries.
  /// Empty: it is not for such trees to know: another kind or number, or a root that does not live.
  [[nodiscard]] std::optional<TreeView> view(TreeId id);

 private:
  /// For messages of a size, from the first root of a class.
  using Plans = std::map<std::pair<SizeClass, std::size_t>, std::vector<PlannedTree>>;

  [[nodiscard]] overlay::KnownNetwork living() const;
  void prepare();
  [[nodiscard]] const PlannedTree& plan_of(std::size_t root, std::uint32_t number);
  [[nodiscard]] PlannedTree tree_of(TreeId id);
  [[nodiscard]] Duration round_trip(const Edge& edge) const;

  ProcessorId self_;
  overlay::KnownNetwork network_;
  ProcessorSet live_;
  // Of those who are placed. Empty: to be made again. For short messages without bandwidths.
  std::optional<Costs> costs_;
  std::optional<Costs> long_costs_;
  std::vector<ProcessorId> unplaced_;
  Plans plans_;
};

}  // namespace phx::planners
