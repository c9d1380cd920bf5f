#pragma once

#include <CLI/CLI.hpp>

#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

// Each adds one verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_plan(CLI::App& tool, Action& chosen);
void add_experiment(CLI::App& tool, Action& chosen);
void add_sim(CLI::App& tool, Action& chosen);

}  // namespace phx::app
