#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apps/options/option_values.h"
#include "apps/options/parser.h"
#include "apps/phoenix/bench/verbs.h"
#include "apps/phoenix/command_line/defaults.h"
#include "apps/phoenix/command_line/mistakes.h"
#include "apps/phoenix/command_line/own_options.h"
#include "apps/phoenix/command_line/standard_streams.h"
#include "apps/phoenix/command_line/verbs.h"
#include "apps/phoenix/experiments/start.h"
#include "apps/phoenix/jobs/verbs.h"
#include "apps/phoenix/mesh/verbs.h"
#include "apps/phoenix/mpi/verbs.h"

namespace phx::app {

namespace {

/// The words of the command line. `-np`, as it is written for mpirun, would be an `-n` with the
/// value "p".
std::vector<std::string> words_of(const CLI::App& tool, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {  // `help run` is `run --help`
    words.erase(words.begin());
    words.push_back("--help");
  }
  // A program of which no option was said: what follows is the verb's own business.
  if (words.size() > 1 && words[0] == "mpirun" && words[1] == "--") words.erase(words.begin() + 1);
  if (words.empty() || words.front() != "run") return words;
  const CLI::App& run = *tool.get_subcommand("run");
  for (std::string* word : own_options(run, words.data() + 1, words.data() + words.size())) {
    if (*word == "-np") *word = "-n";
  }
  return words;
}

void parse(CLI::App& tool, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // As they are parsed.
  tool.parse(std::move(words));
  options::check_values(tool);
}

/// What is wrong, and where that stands if it was not on the command line.
std::string failure_of(const CLI::App* tool, const CLI::Error& error, const Defaults& defaults) {
  std::string text = what_is_wrong(tool, error);
  const std::string place = defaults.place_of(text);
  return place.empty() ? text : text.insert(text.rfind("; see "), place);
}

}  // namespace
}  // namespace phx::app

int main(int argc, char** argv) {
  phx::app::mend_what_is_inherited();
  CLI::App tool{"Phoenix: message passing for computations whose machines come and go"};
  tool.name("phoenix");
  tool.set_version_flag("--version", "phoenix " PHX_VERSION);
  tool.require_subcommand(1);
  const phx::options::Parser verbs(tool);
  phx::app::Action chosen;
  phx::app::add_up(verbs, chosen);
  phx::app::add_add(verbs, chosen);
  phx::app::add_drain(verbs, chosen);
  phx::app::add_run(verbs, chosen);
  phx::app::add_mpirun(verbs, chosen);
  phx::app::add_attach(verbs, chosen);
  phx::app::add_logs(verbs, chosen);
  phx::app::add_status(verbs, chosen);
  phx::app::add_ps(verbs, chosen);
  phx::app::add_network(verbs, chosen);
  phx::app::add_trees(verbs, chosen);
  phx::app::add_kill(verbs, chosen);
  phx::app::add_down(verbs, chosen);
  phx::app::add_demo(verbs, chosen);
  phx::app::add_bench(verbs, chosen);
  std::vector<std::string> words;
  phx::app::add_experiments(verbs, chosen, words);
  phx::app::add_list(verbs, chosen);
  phx::app::add_version(verbs, chosen);
  phx::app::add_manual(verbs, chosen);
  tool.footer(
      "A first job:\n"
      "  phoenix up --local 4             start four daemons on this machine\n"
      "  phoenix run -n 64 -- ./app       run ./app on them, with 64 vnodes\n"
      "  phoenix run -d -n 64 -- ./app    the same without this terminal; then logs, attach\n"
      "  phoenix add --local 2            two more processors; the job spreads\n"
      "  phoenix drain p1                 take one away; the job goes on\n"
      "  phoenix status                   who is there, who holds what\n"
      "  phoenix down                     end everything\n"
      "Or all of this by itself:  phoenix demo elastic\n\n"
      "Environment:\n"
      "  PHOENIX_MESH   the mesh of commands without --mesh (default: default)\n"
      "  PHOENIX_DIR    folder of your meshes (default: $XDG_RUNTIME_DIR/phoenix, else\n"
      "                 /tmp/phoenix-UID)\n"
      "  PHOENIX_CONFIG file with defaults of options (default:\n"
      "                 $XDG_CONFIG_HOME/phoenix/config, else ~/.config/phoenix/config):\n"
      "                 lines \"option = value\" below \"[command]\"");
  auto defaults = phx::app::Defaults::read(tool);
  if (!defaults.ok()) return phx::app::fail(defaults.error().what, phx::app::kUsage);
  tool.failure_message([&](const CLI::App* app, const CLI::Error& error) {
    return phx::app::failure_of(app, error, defaults.value());
  });
  try {
    words = defaults.value().apply(tool, phx::app::words_of(tool, argc, argv));
    phx::app::parse(tool, words);
  } catch (const CLI::ParseError& error) {
    const bool is_answered = tool.exit(error) == 0;
    return phx::app::end_output(is_answered ? phx::app::kOk : phx::app::kUsage);
  }
  return phx::app::end_output(chosen());
}
