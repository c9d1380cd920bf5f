#pragma once

#include <cstddef>
#include <cstdint>

#include "overlay/planners/pairs/pair_network.h"

namespace phx::planners {

/// The inside of random heterogeneous networks, as [Li s.4] may have drawn them: the paper gives no
/// distribution; with this one its table comes out within a quarter, mostly within 8 %
/// [overlay/planners/pairs/README.md].
struct RandomNetwork {
  PairNetwork network;
  std::size_t root = 0;
};

/// Three levels: all; two to four clusters far from each other; and in these, clusters of about 16.
/// `seed` decides all. REQUIRES size > 0.
[[nodiscard]] RandomNetwork random_clusters(std::size_t size, std::uint64_t seed);

}  // namespace phx::planners
