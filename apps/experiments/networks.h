#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "overlay/base/result.h"
#include "overlay/network/topology.h"

namespace phx::app {

/// The network on which plans and trees are compared, unless a file says otherwise: 201 processors
/// in three sites, 4, 6 and 8 ms of round trip between these.
inline constexpr std::string_view kThreeSites = R"(site A 67 150
site B 67 150
site C 67 150
latency A B 2000
latency A C 3000
latency B C 4000
link * * 1000
nic 1000
overhead 5
)";

/// The same for long broadcasts: 137 processors in four sites, 3 to 8 ms of round trip between
/// these.
inline constexpr std::string_view kFourSites = R"(site A 35 150
site B 34 150
site C 34 150
site D 34 150
latency A B 1500
latency A C 2000
latency A D 3000
latency B C 2500
latency B D 3500
latency C D 4000
link * * 1000
nic 1000
overhead 5
)";

/// Daemons of one simulation [limit]: these take some 20 GB.
inline constexpr std::uint32_t kSimulatedMost = 20'000;

/// The network that this topology file describes; without a file the first one above. Errors say
/// which file, and what is wrong with it.
[[nodiscard]] Result<overlay::Topology> read_topology(const std::string& file);
/// Its text, and what that text describes.
[[nodiscard]] Result<std::string> topology_text(const std::string& file);
[[nodiscard]] Result<overlay::Topology> topology_of(const std::string& text,
                                                    const std::string& file);
/// Six digits by which files of other networks differ, for the names of results.
[[nodiscard]] std::string topology_mark(std::string_view text);

}  // namespace phx::app
