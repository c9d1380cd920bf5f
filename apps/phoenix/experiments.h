#pragma once

#include <cstdint>
#include <string>

namespace phx::app {

/// What an experiment is asked for.
struct ExperimentOptions {
  std::string name;
  std::string out;  ///< The folder for its files; it exists.
  std::uint64_t seed = 1;
};

/// Each runs to its end, writes its files and prints its table. Exit codes of `phoenix experiment`.
int experiment_mgo(const ExperimentOptions& options);
int experiment_redistribution(const ExperimentOptions& options);

}  // namespace phx::app
