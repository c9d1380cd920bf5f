#pragma once

#include <cstdint>

namespace phx::app {

/// Of the scenarios costs and mesh.
struct CostRun {
  std::uint32_t processors = 0;  ///< 0: as the scenario has it.
  std::uint64_t seed = 1;
  bool json = false;  ///< With each kind of message.
};

/// What each event costs, for one size, or the table of runtime/README.md. The exit code.
int run_costs(const CostRun& run);
/// A large mesh, which gains and loses some. The exit code.
int run_mesh(const CostRun& run);

}  // namespace phx::app
