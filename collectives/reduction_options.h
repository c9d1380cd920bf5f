#pragma once

#include <cstddef>
#include <cstdint>

#include "overlay/base/time.h"

namespace phx::collectives {

struct ReductionOptions {
  /// How long a processor waits at least for its children and its own vnodes.
  Duration wait_min = 50ms;
  /// It waits at least this many times its round trip to the root of the tree [Saito08 E2, G16 d].
  std::int64_t distance_factor = 4;
  /// The same of long values, which come one after the other; and so long after the last of them.
  Duration wait_long = 1s;
  /// It never waits longer, however far the root and however late the callers; for pieces of long
  /// values, unless others of the same target pass meanwhile.
  Duration wait_max = 2s;
  /// Reductions waited for at once, and bytes of values in them [limits]. What exceeds them is
  /// passed on at once, which is always safe.
  std::size_t held_max = 10'000;
  std::uint64_t held_bytes_max = std::uint64_t{256} << 20U;
  /// Targets whose passed reductions are remembered [limit]; the least recently used goes.
  std::size_t targets_max = 4096;
  /// Short reductions per target of which a new parent is told; and a sixteenth of the long ones,
  /// which are pieces [limit].
  std::uint64_t answers_max = 16;
};

}  // namespace phx::collectives
