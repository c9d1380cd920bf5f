#pragma once

#include "apps/options/parser.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

/// Adds the verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_bench(const options::Parser& tool, Action& chosen);

}  // namespace phx::app
