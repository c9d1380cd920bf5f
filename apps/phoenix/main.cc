#include <CLI/CLI.hpp>
#include <cstdio>

#include "apps/phoenix/verb.h"

namespace phx::app {

int fail(const std::string& what, int code) {
  std::fprintf(stderr, "phoenix: %s\n", what.c_str());
  return code;
}

}  // namespace phx::app

int main(int argc, char** argv) {
  CLI::App tool{"Phoenix: message passing for computations whose machines come and go"};
  tool.name("phoenix");
  tool.require_subcommand(1);
  tool.footer(
      "A first job:\n"
      "  phoenix up --local 4             start four daemons on this machine\n"
      "  phoenix run -n 64 -- ./app       run ./app on them, with 64 vnodes\n"
      "  phoenix add --local 2            two more processors; the job spreads\n"
      "  phoenix drain p1                 take one away; the job goes on\n"
      "  phoenix status                   who is there, who holds what\n"
      "  phoenix down                     end everything\n"
      "Or all of this by itself:  phoenix demo elastic");
  phx::app::Action chosen;
  phx::app::add_up(tool, chosen);
  phx::app::add_add(tool, chosen);
  phx::app::add_drain(tool, chosen);
  phx::app::add_run(tool, chosen);
  phx::app::add_status(tool, chosen);
  phx::app::add_ps(tool, chosen);
  phx::app::add_kill(tool, chosen);
  phx::app::add_down(tool, chosen);
  phx::app::add_demo(tool, chosen);
  phx::app::add_bench(tool, chosen);
  phx::app::add_sim(tool, chosen);
  try {
    tool.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return tool.exit(error) == 0 ? phx::app::kOk : phx::app::kUsage;
  }
  return chosen();
}
