/// What `phoenix bench` runs as a job. It can be run by hand, too:
///
///     phoenix run -n 2 --on 2 -- phoenix-bench pair
#include <CLI/CLI.hpp>
#include <chrono>
#include <exception>

#include "apps/bench/workloads.h"

namespace bench {

double clock_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app("Measures the runtime from inside a job");
  app.require_subcommand(1);
  bool is_embedded = false;
  std::uint64_t processors = 2;
  CLI::App* pair = app.add_subcommand("pair", "Two processes, one vnode each");
  pair->add_flag("--embedded", is_embedded, "Make two processes with a daemon inside");
  CLI::App* collectives = app.add_subcommand("collectives", "Broadcast and reduction");
  CLI::App* join = app.add_subcommand("join", "Steps until enough processors take part");
  join->add_option("--processors", processors, "So many");
  app.add_subcommand("moves", "Vnode 0 goes to and fro");
  CLI11_PARSE(app, argc, argv);
  try {
    if (is_embedded) {
      bench::pair_embedded();
      return 0;
    }
    phx::Session job;
    if (*pair) {
      bench::pair(job);
    } else if (*collectives) {
      bench::collectives(job);
    } else if (*join) {
      bench::join(job, processors);
    } else {
      bench::moves(job);
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "phoenix-bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
