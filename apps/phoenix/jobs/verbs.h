#pragma once

#include <CLI/CLI.hpp>

#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

// Each adds one verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_run(CLI::App& tool, Action& chosen);
void add_attach(CLI::App& tool, Action& chosen);
void add_logs(CLI::App& tool, Action& chosen);
void add_status(CLI::App& tool, Action& chosen);
void add_ps(CLI::App& tool, Action& chosen);
void add_demo(CLI::App& tool, Action& chosen);

}  // namespace phx::app
