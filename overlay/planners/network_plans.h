#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/network/known_network.h"
#include "overlay/planners/costs.h"
#include "overlay/planners/plan.h"
#include "overlay/planners/tree_styles.h"

namespace phx::planners {

/// The learned trees of every root: a pure function of a network and of who lives. Plans are made
/// when they are asked for. One plan serves all roots that nothing distinguishes: a root and the
/// first one of its kind change places. Of other styles each root has its own, because some go by
/// the order of ids. Whoever comes (is in no site yet) is a leaf. Thread rule: one owner.
class NetworkPlans {
 public:
  /// REQUIRES a network whose check() succeeds.
  NetworkPlans(overlay::KnownNetwork network, ProcessorSet live);

  [[nodiscard]] const overlay::KnownNetwork& network() const { return network_; }
  [[nodiscard]] const ProcessorSet& live() const { return live_; }
  /// What `self` knows of this tree. REQUIRES a style that there is, and that `self` and the root
  /// live. Time: O(N), and once for each plan what its planner takes.
  [[nodiscard]] TreeView view(TreeId id, ProcessorId self);
  /// The same in both directions. REQUIRES that both live.
  [[nodiscard]] Duration round_trip(ProcessorId from, ProcessorId to) const;
  /// Whether a minimum spanning tree of the round trips may have this edge. It has not if all edges
  /// of the way over the first processors of both sites are lighter; of equal ones the lower id
  /// counts, then the higher one. Those edges may be in it. REQUIRES that both live.
  [[nodiscard]] bool may_span(ProcessorId from, ProcessorId to) const;

 private:
  /// A place in `costs_`, or behind all of them one in `leaves_`.
  using Place = std::uint32_t;
  using Steps = std::vector<std::pair<Place, Place>>;  ///< Parents come before their children.
  /// Of a plan: what its trees carry, and how they are drawn.
  struct Kind {
    TreeStyle style;
    SizeClass size;
    bool in_ranges;  ///< For ordered sums.
    friend constexpr auto operator<=>(const Kind&, const Kind&) = default;
  };
  /// From a root. Of our own style: from the first root of a class.
  using Plans = std::map<std::pair<Kind, Place>, std::vector<Steps>>;
  class Watcher;

  NetworkPlans(const overlay::KnownNetwork& whole, const overlay::KnownNetwork& living,
               ProcessorSet live);
  [[nodiscard]] Place place_of(ProcessorId id) const;
  [[nodiscard]] ProcessorId id_of(Place place) const;
  [[nodiscard]] const Steps& plan_of(Place root, std::uint32_t number);
  [[nodiscard]] Plan make_plan(const Kind& kind, Place root) const;
  [[nodiscard]] Steps steps_of(const PlannedTree& tree) const;
  [[nodiscard]] Duration round_trip(Place from, Place to) const;
  [[nodiscard]] ProcessorId first_of_site(ProcessorId id) const;
  void hang_leaves(const std::vector<Place>& plan, Place root, Watcher& watcher) const;

  overlay::KnownNetwork network_;
  ProcessorSet live_;
  Costs costs_;  ///< Of those who are placed, for short messages: without bandwidths.
  Costs long_costs_;
  Duration longest_;
  std::vector<ProcessorId> leaves_;
  Plans plans_;
};

/// Plans by what they were made of: daemons of one thread that know the same network and the same
/// members compute the same, so they may do it once. Thread rule: one owner.
class PlanStore {
 public:
  /// REQUIRES a network whose check() succeeds.
  [[nodiscard]] std::shared_ptr<NetworkPlans> of(const overlay::KnownNetwork& network,
                                                 const ProcessorSet& live);

 private:
  /// Values that are looked through [limit]: while a change spreads, daemons know few of them.
  static constexpr std::size_t kMost = 16;

  std::list<std::weak_ptr<NetworkPlans>> known_;  ///< The last one used first.
};

}  // namespace phx::planners
