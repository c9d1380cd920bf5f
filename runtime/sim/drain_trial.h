#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "collectives/redistribution/message_graph.h"
#include "overlay/base/time.h"
#include "runtime/sim/cluster.h"

namespace phx::sim {

/// A drain of many, and how their vnodes travel.
struct DrainTrialOptions {
  overlay::Topology topology;
  std::uint64_t seed = 1;
  std::uint64_t vnodes = 0;
  std::function<std::size_t(VnodeId)> state_of;        ///< Bytes of each vnode's state.
  std::set<MachineId> leavers;                         ///< All at once.
  std::map<MachineId, std::uint64_t> interfaces = {};  ///< Of those that differ, bytes per second.
  std::uint32_t receivers = 0;                         ///< DaemonConfig::state_receivers.
  runtime::ShareRule rule = runtime::ShareRule::kPredicted;
};

struct DrainTrialResult {
  Duration time{};  ///< From the wish until those who stay have installed all vnodes.
  Duration
      bound{};  ///< No schedule of what moved is faster: some interface, or way, is never idle.
  std::uint64_t bytes = 0;
};

/// Has real daemons in the simulator carry out the drain, and checks that nothing is lost. Empty:
/// the mesh did not form, a checker found something, or it took longer than an hour.
[[nodiscard]] std::optional<DrainTrialResult> run_drain(const DrainTrialOptions& options);

}  // namespace phx::sim
