#pragma once

#include <string>
#include <vector>

#include "apps/phoenix/mesh/launch.h"
#include "overlay/base/result.h"

namespace phx::app {

/// Founds the mesh `name` with a fresh key and one daemon per place. kBusy if it runs already.
/// kAborted: interrupted [interrupts.h], and taken down again.
[[nodiscard]] Result<std::vector<Launched>> start_mesh(const std::string& name,
                                                       const std::vector<Place>& places,
                                                       const LaunchOptions& options);

/// Ends all jobs and daemons of the mesh and removes its folder. kTimeout: of some nobody knows
/// whether they have ended, and the folder stays, so that they can be reached; unless `forgets`.
[[nodiscard]] Status end_mesh(const std::string& name, bool forgets = false);

}  // namespace phx::app
