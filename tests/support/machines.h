#pragma once

#include <cstdint>

#include "runtime/sim/cluster.h"

namespace phx::support {

/// Real machines with `each` daemons, 1 ms from each other.
inline sim::ClusterOptions machines_with(std::uint32_t machines, std::uint32_t each,
                                         std::uint64_t seed) {
  sim::ClusterOptions options;
  options.topology = overlay::Topology::uniform({machines * each}, {1ms, 0});
  options.daemons_each = each;
  options.seed = seed;
  return options;
}

}  // namespace phx::support
