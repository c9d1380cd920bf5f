#pragma once

#include <string>
#include <vector>

#include "runtime/sim/drain_trial.h"

namespace phx::sim {

struct DrainCase {
  std::string name;
  DrainTrialOptions options;
};

/// Drains of 16 and 64 processors, in one site and in several: many and few who stay, states of
/// one size and of very different ones, slow leavers and receivers, narrow ways between sites.
[[nodiscard]] std::vector<DrainCase> drain_cases();

}  // namespace phx::sim
