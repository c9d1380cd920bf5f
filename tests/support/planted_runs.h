#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/sim/planted.h"

namespace phx::support {

/// All that is wrong with a run of this seed, in which this fault is planted; empty: nothing.
using PlantedRun = std::function<std::string(std::uint64_t seed, sim::PlantedFault fault)>;

/// One of 200 runs shows the fault by a violation that says `what`, and goes well without it: so it
/// is this fault that the checkers find, and not something that is wrong anyway.
inline void check_found(const PlantedRun& run, sim::PlantedFault fault, const std::string& what) {
  constexpr std::uint64_t kSeeds = 200;
  CAPTURE(static_cast<int>(fault));
  CAPTURE(what);
  std::string first;  // That says something else, for people.
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::string found = run(seed, fault);
    if (first.empty()) first = found;
    if (found.find(what) == std::string::npos) continue;
    CAPTURE(seed);
    CHECK(run(seed, sim::PlantedFault::kNone) == "");
    return;
  }
  FAIL_CHECK("not found; the first violation was: " << first);
}

}  // namespace phx::support
