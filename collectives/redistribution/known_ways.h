#pragma once

#include <vector>

#include "collectives/redistribution/ways.h"
#include "overlay/base/ids.h"
#include "overlay/network/known_network.h"

namespace phx::redistribution {

/// What is known of the ways between these, in their order. Unknown bandwidths are taken for
/// 1 Gbit/s; whoever is in no site is in one with the others of whom that is so.
[[nodiscard]] Ways ways_between(const overlay::KnownNetwork& network,
                                const std::vector<ProcessorId>& processors);

}  // namespace phx::redistribution
