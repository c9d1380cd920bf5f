#pragma once

#include <string>
#include <utility>
#include <vector>

#include "apps/experiments/experiments.h"
#include "apps/experiments/plot.h"
#include "overlay/base/result.h"

namespace phx::app {

/// What an experiment has to show.
struct Results {
  std::string name;  ///< Of its files: NAME.csv and NAME.txt.
  std::string text;  ///< The table, and what belongs to it; it is printed, too.
  std::string csv;
  std::vector<std::pair<std::string, Plot>> plots = {};  ///< Each with its name, without ".svg".
};

/// "phoenix experiment sizes --reduce --seed 2": what makes the same files again.
[[nodiscard]] std::string command_line(const ExperimentOptions& options);

/// `stem` and what else was asked for, so that no other results have the same name:
/// "sizes-narrow-reduce-seed2".
[[nodiscard]] std::string name_of_results(const std::string& stem,
                                          const ExperimentOptions& options);

/// Whether files can be made in the folder, or where it would be; it is not made. kDenied: no.
[[nodiscard]] Status try_folder(const std::string& folder);

/// Prints the text and writes the files; each of them appears whole, under its name, or not at
/// all. kUsage: one cannot be written, which is told with the reason.
int show(const ExperimentOptions& options, const Results& results);

}  // namespace phx::app
