#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/payload.h"

// The two ends of a vnode's reductions. Both move with it.
namespace phx::runtime {

/// A vnode's contributions to the reductions towards one target that are not known to be complete.
struct Contributed {
  struct One {
    collectives::ReductionKind kind;
    Payload value;
    SizeClass size = 0;  ///< Of the whole value that it is a piece of.
    friend bool operator==(const One&, const One&) = default;
  };
  std::uint64_t first = 0;    ///< Number of the first one kept; kFlowClosed: nobody wants any.
  std::uint64_t emitted = 0;  ///< Those with lower numbers were handed to the daemon,
  std::uint64_t line = 0;     ///< the last time under this line.
  std::deque<One> kept;       ///< Without gaps.
  friend bool operator==(const Contributed&, const Contributed&) = default;
};

/// A reduction towards a vnode that has not got all its contributions, or waits for those before.
struct PendingReduction {
  collectives::ReductionKind kind;
  std::vector<collectives::ReductionPart> parts;
  std::uint64_t line = 0;  ///< Of all parts.
  std::string misfit;      ///< What does not fit; empty: all parts do [accumulator.h].
  friend bool operator==(const PendingReduction&, const PendingReduction&) = default;
};

/// The reductions towards one vnode.
struct AsTarget {
  std::uint64_t complete = 0;  ///< Those with lower numbers.
  std::uint64_t unsaid = 0;    ///< Of a window: what contributors do not know is complete.
  std::map<VnodeId, std::uint64_t> askers;  ///< To be told when those below are complete.
  std::map<std::uint64_t, PendingReduction> pending;
  friend bool operator==(const AsTarget&, const AsTarget&) = default;
};

}  // namespace phx::runtime
