#pragma once

#include <CLI/CLI.hpp>

#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

// Each adds one verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_up(CLI::App& tool, Action& chosen);
void add_add(CLI::App& tool, Action& chosen);
void add_drain(CLI::App& tool, Action& chosen);
void add_network(CLI::App& tool, Action& chosen);
void add_trees(CLI::App& tool, Action& chosen);
void add_kill(CLI::App& tool, Action& chosen);
void add_down(CLI::App& tool, Action& chosen);
void add_list(CLI::App& tool, Action& chosen);
void add_version(CLI::App& tool, Action& chosen);

}  // namespace phx::app
