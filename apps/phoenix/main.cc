#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/phoenix/verb.h"

namespace phx::app {

int fail(const std::string& what, int code) {
  std::fprintf(stderr, "phoenix: %s\n", what.c_str());
  return code;
}

namespace {

/// What the user is told about a command line that cannot be understood.
std::string what_is_wrong(const CLI::App* tool, const CLI::Error& error) {
  std::string verb = "phoenix";
  for (const CLI::App* one : tool->get_subcommands()) verb += " " + one->get_name();
  std::string what = error.what();
  const auto words = tool->remaining(/*recurse=*/true);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    what = "not expected:";
    for (const std::string& word : words) what += " " + word;
  }
  if (verb == "phoenix" && !words.empty()) what = "there is no '" + words.front() + "'";
  return verb + ": " + what + "; see " + verb + " --help\n";
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
  tool.footer(
      "A first job:\n"
      "  phoenix up --local 4             start four daemons on this machine\n"
      "  phoenix run -n 64 -- ./app       run ./app on them, with 64 vnodes\n"
      "  phoenix run -d -n 64 -- ./app    the same without this terminal; then logs, attach\n"
      "  phoenix add --local 2            two more processors; the job spreads\n"
      "  phoenix drain p1                 take one away; the job goes on\n"
      "  phoenix status                   who is there, who holds what\n"
      "  phoenix down                     end everything\n"
      "Or all of this by itself:  phoenix demo elastic");
  tool.failure_message(phx::app::what_is_wrong);
  try {
    tool.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tool.exit(error) == 0 ? phx::app::kOk : phx::app::kUsage;
  }
  return chosen();
}
