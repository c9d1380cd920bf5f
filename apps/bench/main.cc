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

namespace {

CLI::App* add_redistribution(CLI::App& app, bench::RedistributionOptions& options) {
  CLI::App* verb = app.add_subcommand("redistribution", "Each schedule and pace: the time of all");
  verb->add_option("--graph", options.graph, "A file: from to bytes")->required();
  verb->add_option("--schedules", options.schedules, "Names")->delimiter(',')->required();
  verb->add_option("--rounds", options.rounds, "So often each");
  return verb;
}

CLI::App* add_states(CLI::App& app, std::uint64_t& bytes, std::string& until) {
  CLI::App* verb = app.add_subcommand("states", "Vnodes keep what they have while they move");
  verb->add_option("--bytes", bytes, "Of all together");
  verb->add_option("--until", until, "Until this file exists")->required();
  return verb;
}

CLI::App* add_round(CLI::App& app, bench::RoundOptions& options) {
  CLI::App* verb = app.add_subcommand("round", "Broadcasts from each vnode in turn");
  verb->add_option("--bytes", options.bytes, "Of each");
  verb->add_option("--rounds", options.rounds, "So often; 0: 50 broadcasts at least");
  verb->add_option("--seed", options.seed, "Of the second order of roots");
  verb->add_flag("--receivers", options.has_receivers, "Each receiver alone, too");
  verb->add_option("--until", options.until, "While vnodes move, until this file exists");
  return verb;
}

}  // namespace

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
  CLI::App* moves = app.add_subcommand("moves", "Vnode 0 goes to and fro");
  std::string until;
  CLI::App* trips = app.add_subcommand("trips", "Round trips of one byte, each said at the end");
  trips->add_flag("--embedded", is_embedded, "Make two processes with a daemon inside");
  trips->add_option("--until", until, "Until this file exists")->required();
  std::uint64_t bytes = std::uint64_t{1} << 30U;
  CLI::App* stream = app.add_subcommand("stream", "One process sends to another");
  stream->add_option("--bytes", bytes, "So much");
  bench::SweepOptions sweep;
  CLI::App* swept = app.add_subcommand("sweep", "One operation, sizes and roots: each time");
  swept->add_option("operation", sweep.operation, "bcast, reduce, allreduce")
      ->required()
      ->check(CLI::IsMember({"bcast", "reduce", "allreduce"}));
  swept->add_option("--bytes", sweep.bytes, "Sizes")->delimiter(',')->required();
  swept->add_option("--roots", sweep.roots, "Vnodes")->delimiter(',')->required();
  swept->add_option("--rounds", sweep.rounds, "So often each");
  swept->add_option("--pause", sweep.pause_s, "Seconds before each");
  swept->add_flag("--ordered", sweep.ordered, "Sums also ordered");
  bench::RedistributionOptions redistribution;
  CLI::App* redistributed = add_redistribution(app, redistribution);
  CLI::App* kept = add_states(app, bytes, until);
  bench::RoundOptions round;
  CLI::App* rounds = add_round(app, round);
  CLI11_PARSE(app, argc, argv);
  try {
    if (is_embedded) {
      bench::run_inside(
          [&](phx::Session& job) { *trips ? bench::trips(job, until) : bench::pair(job); });
      return 0;
    }
    phx::Session job;
    if (*pair) bench::pair(job);
    if (*collectives) bench::collectives(job);
    if (*join) bench::join(job, processors);
    if (*moves) bench::moves(job);
    if (*trips) bench::trips(job, until);
    if (*swept) bench::sweep(job, sweep);
    if (*stream) bench::stream(job, bytes);
    if (*kept) bench::states(job, bytes, until);
    if (*rounds) bench::round(job, round);
    if (*redistributed) bench::redistribution(job, redistribution);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "phoenix-bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
