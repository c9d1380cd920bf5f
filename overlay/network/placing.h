#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "overlay/network/known_network.h"
#include "overlay/network/topology.h"

namespace phx::overlay {

/// Processors p1, p2, ... and the site of each, as a position in the topology.
using Placing = std::vector<std::size_t>;

/// As many per site as the topology counts, one site after the other.
[[nodiscard]] Placing placed_by_site(const Topology& topology);
/// The same, dealt out like cards: `seed` decides.
[[nodiscard]] Placing placed_at_random(const Topology& topology, std::uint64_t seed);
/// All that a topology says of processors placed so. Nothing is unknown in it.
[[nodiscard]] KnownNetwork known_network(const Topology& topology, const Placing& placing);

}  // namespace phx::overlay
