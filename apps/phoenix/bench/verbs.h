#pragma once

#include <CLI/CLI.hpp>

#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

/// Adds the verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_bench(CLI::App& tool, Action& chosen);

}  // namespace phx::app
