#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "overlay/base/time.h"
#include "overlay/network/known_network.h"

// What is known of a network, for people. "?": it is not known.
namespace phx::app {

/// Bytes per second as Mbit/s, as interfaces and lines are sold.
[[nodiscard]] double megabits(std::uint64_t bytes_per_second);
/// In ms, without the unit.
[[nodiscard]] std::string spell_latency(const std::optional<Duration>& latency);
/// In Mbit/s, without the unit: "940", "0.40"; or "unlimited". "10000+": the most that is told
/// apart.
[[nodiscard]] std::string spell_rate(const std::optional<std::uint64_t>& rate);
/// Of a site that has no name: "s1", "s2".
[[nodiscard]] std::string name_of(const overlay::KnownNetwork& network, std::size_t site);
[[nodiscard]] std::string ability_in_words(const overlay::KnownNetwork::Ability& ability);
/// For `phoenix plan --topology` and the simulator. These count processors from 1, site by site.
/// What is not known is not said.
[[nodiscard]] std::string as_topology(const overlay::KnownNetwork& network);

}  // namespace phx::app
