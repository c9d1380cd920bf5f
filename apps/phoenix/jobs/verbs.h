#pragma once

#include "apps/options/parser.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

// Each adds one verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_run(const options::Parser& tool, Action& chosen);
void add_attach(const options::Parser& tool, Action& chosen);
void add_logs(const options::Parser& tool, Action& chosen);
void add_status(const options::Parser& tool, Action& chosen);
void add_ps(const options::Parser& tool, Action& chosen);
void add_demo(const options::Parser& tool, Action& chosen);

}  // namespace phx::app
