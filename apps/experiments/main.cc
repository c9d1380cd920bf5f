#include <string>

#include "apps/experiments/experiments.h"
#include "apps/options/parser.h"
#include "apps/phoenix/command_line/standard_streams.h"
#include "apps/phoenix/command_line/verb.h"

/// `phoenix plan`, `experiment` and `sim` start it, with their words.
int main(int argc, char** argv) {
  phx::app::mend_what_is_inherited();
  const phx::options::Program program("Plans, experiments and simulations");
  program.require_subcommand(1, 1);
  phx::app::Action chosen;
  phx::app::add_plan(program, chosen, phx::app::plan);
  phx::app::add_experiment(program, chosen, phx::app::experiment);
  phx::app::add_sim(program, chosen, phx::app::simulate);
  // The tool has understood these words: it is of another version, or somebody else started this.
  const auto complain = [](const std::string& what) {
    return "phoenix-experiments: " + what + "\n";
  };
  const auto outcome = program.parse(argc, argv, complain);
  const int code = outcome.has_failed ? phx::app::kUsage : phx::app::kOk;
  return phx::app::end_output(outcome.goes_on ? chosen() : code);
}
