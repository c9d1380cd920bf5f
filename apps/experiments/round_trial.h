#pragma once

#include <cstdint>
#include <string>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "overlay/network/topology.h"
#include "runtime/messages/config.h"

namespace phx::app {

/// Broadcasts from each vnode in turn, by real daemons in the simulator.
struct RoundTrialOptions {
  overlay::Topology topology;
  std::uint64_t seed = 1;
  runtime::TreeSource trees = runtime::TreeSource::kLearned;
  std::string tree_style = "learned";
  bool is_shuffled = false;  ///< Roots in a random order.
  int rounds = 1;            ///< In each of the two ways.
  /// A processor joins, or the last one that joined leaves, so often; 0: never.
  Duration change_every{};
};

struct RoundTrialTimes {
  /// Per broadcast, if each root begins as soon as its own process has the broadcast before: BR.
  Duration overlapping{};
  /// From the root's call until the last process has it, when nothing else is under way.
  Duration alone_median{};
  Duration alone_most{};
  /// Of all copies between processors, those that no tree led to.
  double past_percent = 0;
  std::uint64_t moves = 0;  ///< Of vnodes, meanwhile.
};

/// Rounds in each of the two ways. kAborted: the mesh does not form, a broadcast does not end,
/// or a checker found something.
[[nodiscard]] Result<RoundTrialTimes> round_trial(const RoundTrialOptions& options);

}  // namespace phx::app
