#pragma once

#include "apps/options/parser.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

// Each adds one verb to `tool`, and sets `chosen` when it is the one on the command line.
void add_up(const options::Parser& tool, Action& chosen);
void add_add(const options::Parser& tool, Action& chosen);
void add_drain(const options::Parser& tool, Action& chosen);
void add_network(const options::Parser& tool, Action& chosen);
void add_trees(const options::Parser& tool, Action& chosen);
void add_kill(const options::Parser& tool, Action& chosen);
void add_down(const options::Parser& tool, Action& chosen);
void add_list(const options::Parser& tool, Action& chosen);
void add_version(const options::Parser& tool, Action& chosen);

}  // namespace phx::app
