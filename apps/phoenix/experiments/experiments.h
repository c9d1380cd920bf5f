#pragma once

#include <cstdint>
#include <string>

#include "overlay/base/result.h"

namespace phx::app {

/// What an experiment is asked for.
struct ExperimentOptions {
  std::string name;
  std::string out;  ///< The folder for its files; it exists.
  std::uint64_t seed = 1;
  std::string topology;   ///< sizes: a file that describes another network.
  bool reduce = false;    ///< sizes: reductions.
  bool adaptive = false;  ///< fig7 has a row of trees by local rules, too.
};

/// What the beginning of a step of an exchange costs, as bytes that could have been sent meanwhile.
inline constexpr std::uint64_t kSetupBytes = 20'000;

/// A file in the folder of the results. kDenied: it cannot be written.
[[nodiscard]] Status write_result(const ExperimentOptions& options, const std::string& name,
                                  const std::string& text);

/// Each runs to its end, writes its files and prints its table. Exit codes of `phoenix experiment`.
int experiment_fig7(const ExperimentOptions& options);
int experiment_fig8(const ExperimentOptions& options);
int experiment_fig9(const ExperimentOptions& options);
int experiment_scale(const ExperimentOptions& options);
int experiment_sizes(const ExperimentOptions& options);
int experiment_slow(const ExperimentOptions& options);
int experiment_drain(const ExperimentOptions& options);
int experiment_drop(const ExperimentOptions& options);
int experiment_exchange(const ExperimentOptions& options);
int experiment_agm(const ExperimentOptions& options);
int experiment_mgo(const ExperimentOptions& options);
int experiment_redistribution(const ExperimentOptions& options);
int experiment_round(const ExperimentOptions& options);
int experiment_summary(const ExperimentOptions& options);

}  // namespace phx::app
