#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "overlay/base/time.h"
#include "overlay/network/known_network.h"
#include "runtime/api/redistribution.h"

namespace phx {

/// What the process of one vnode says of its part in a redistribution.
struct Declaration {
  std::uint64_t processor = 0;
  std::string schedule;
  Pace pace = Pace::kNoBarrier;
  std::uint64_t setup_bytes = 0;
  Sizes sent;               ///< By receiver.
  bool is_checked = false;  ///< It takes nothing but what it expects.
  Sizes expected = {};      ///< By sender.
  std::string problem;      ///< What is wrong there, if something is.
  void state(auto& io) {
    io(processor, schedule, pace, setup_bytes, sent, is_checked, expected, problem);
  }
};

/// A message between two processes, or a part of it.
struct PlannedPart {
  Vnode from = 0;
  Vnode to = 0;
  std::uint64_t bytes = 0;
  friend bool operator==(const PlannedPart&, const PlannedPart&) = default;
};

struct RedistributionPlan {
  std::string problem;  ///< Why nothing is sent; empty: it is.
  /// The parts of a message follow each other in this order.
  std::vector<std::vector<PlannedPart>> steps;
  void state(auto& io) { io(problem, steps); }
};

/// What the planner knows.
struct Planning {
  overlay::KnownNetwork network = {};    ///< Without sites: all ways are alike.
  std::function<Duration()> clock = {};  ///< Empty: the planner takes no time.
};

/// The plan for `declarations`, of all vnodes by their numbers; or what is wrong with them, as one
/// sentence. What goes from vnode to vnode within a process is in no plan.
[[nodiscard]] RedistributionPlan plan_redistribution(const std::vector<Declaration>& declarations,
                                                     const Planning& planning = {});

}  // namespace phx
