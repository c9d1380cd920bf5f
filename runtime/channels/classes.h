#pragma once

#include <compare>
#include <cstdint>

#include "overlay/base/ids.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// What keeps its order among itself on the way to a neighbour [README, "Classes"].
struct FlowKey {
  enum class Kind : std::uint8_t {
    kJob,        ///< What concerns a job as a whole.
    kPair,       ///< Pieces from vnode to vnode, and questions about them.
    kBroadcast,  ///< Copies for one root.
    kReduction,  ///< Contributions towards one target.
    kMoves,      ///< Vnodes of one job, and what they carry.
    kMeasure,    ///< What is sent so that somebody can measure how fast it comes.
  };
  Kind kind = Kind::kJob;
  JobId job;
  VnodeId from = {};
  VnodeId to = {};
  friend constexpr auto operator<=>(const FlowKey&, const FlowKey&) = default;
};

/// Where an envelope stands among those that wait for the same link.
struct Standpoint {
  enum class Kind : std::uint8_t {
    kControl,  ///< Goes before all flows.
    kFlow,     ///< Waits for the turn of its flow.
    kEnd,      ///< Control, but behind what waits of its job as a whole. Else of that is dropped.
    kFence,    ///< Overtakes nothing, and nothing overtakes it.
  };
  Kind kind = Kind::kControl;
  FlowKey flow = {};
};

/// `self`: the sender.
[[nodiscard]] Standpoint standpoint_of(const Envelope& envelope, ProcessorId self);

}  // namespace phx::runtime
