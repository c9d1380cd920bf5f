#pragma once

#include <string>
#include <vector>

#include "apps/options/parser.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

/// Adds `plan`, `experiment` and `sim` [verbs.h]. For the one that is chosen a program of its own
/// takes the place of this one, with `words`, which are those of the command line by then and live
/// as long as `chosen`. If it cannot be started, that is told, with the exit code kUsage.
void add_experiments(const options::Parser& tool, Action& chosen,
                     const std::vector<std::string>& words);

}  // namespace phx::app
