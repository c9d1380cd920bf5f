#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "apps/phoenix/mistakes.h"
#include "apps/phoenix/verb.h"

namespace phx::app {

using namespace std::string_literals;

int fail(const std::string& what, int code) {
  std::fprintf(stderr, "phoenix: %s\n", what.c_str());
  return code;
}

void add_mesh_option(CLI::App& verb, std::string& mesh) {
  verb.add_option("--mesh", mesh, "Name of the mesh")
      ->capture_default_str()
      ->envname("PHOENIX_MESH");
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) names.push_back(verb->get_name());
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

namespace {

/// The words of the command line, the last one first, as they are parsed. `-np`, as it is written
/// for mpirun, would be an `-n` with the value "p".
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto end = std::find(words.begin(), words.end(), "--");
  if (!words.empty() && words.front() == "run") std::replace(words.begin(), end, "-np"s, "-n"s);
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace
}  // namespace phx::app

int main(int argc, char** argv) {
  CLI::App tool{"Phoenix: message passing for computations whose machines come and go"};
  tool.name("phoenix");
  tool.set_version_flag("--version", "phoenix " PHX_VERSION);
  tool.require_subcommand(1);
  phx::app::Action chosen;
  phx::app::add_up(tool, chosen);
  phx::app::add_add(tool, chosen);
  phx::app::add_drain(tool, chosen);
  phx::app::add_run(tool, chosen);
  phx::app::add_attach(tool, chosen);
  phx::app::add_logs(tool, chosen);
  phx::app::add_status(tool, chosen);
  phx::app::add_ps(tool, chosen);
  phx::app::add_kill(tool, chosen);
  phx::app::add_down(tool, chosen);
  phx::app::add_demo(tool, chosen);
  phx::app::add_bench(tool, chosen);
  phx::app::add_plan(tool, chosen);
  phx::app::add_experiment(tool, chosen);
  phx::app::add_sim(tool, chosen);
  phx::app::add_list(tool, chosen);
  phx::app::add_version(tool, chosen);
  phx::app::add_manual(tool, chosen);
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
      "                 /tmp/phoenix-UID)");
  tool.failure_message(phx::app::what_is_wrong);
  try {
    tool.parse(phx::app::words_of(argc, argv));
  } catch (const CLI::ParseError& error) {
    return tool.exit(error) == 0 ? phx::app::kOk : phx::app::kUsage;
  }
  return chosen();
}
