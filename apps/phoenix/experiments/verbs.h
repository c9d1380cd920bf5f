#pragma once

#include "apps/options/parser.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

// Each adds one verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_plan(const options::Parser& tool, Action& chosen);
void add_experiment(const options::Parser& tool, Action& chosen);
void add_sim(const options::Parser& tool, Action& chosen);

}  // namespace phx::app
