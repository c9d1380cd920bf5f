#pragma once

#include <cstdint>

#include "runtime/sim/churn.h"

namespace phx::sim {

/// What a run with `is_drawn` is about: two to four sites, links and interfaces of 5 to 100 Mbit/s,
/// one to three jobs at once, or one long after the other; and what keeps processors from reaching
/// each other for up to a minute. Everything is drawn from the seed.
[[nodiscard]] ChurnOptions with_draws(std::uint64_t seed, ChurnOptions options);

/// What `extras_share` of all runs may have besides: messages of five pieces; output, and tools
/// whose connections break. Runs that went wrong before there was such a thing are repeated without
/// it.
[[nodiscard]] ChurnOptions with_extras(std::uint64_t seed, ChurnOptions options);

}  // namespace phx::sim
