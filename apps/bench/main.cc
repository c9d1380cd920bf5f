/// What `phoenix bench` runs as a job. It can be run by hand, too:
///
///     phoenix run -n 2 --on 2 -- phoenix-bench pair
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>

#include "apps/bench/workloads.h"
#include "apps/options/parser.h"

namespace bench {

double clock_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace bench

namespace {

using phx::options::Parser;
using Work = std::function<void(phx::Session&)>;

/// What the command line says to do.
struct Plan {
  Work work;
  bool is_embedded = false;  ///< In two processes with a daemon inside.
  std::uint64_t processors = 2;
  std::uint64_t bytes = std::uint64_t{1} << 30U;
  std::string until;
  bench::SweepOptions sweep;
  bench::RedistributionOptions redistribution;
  bench::RoundOptions round;
};

Parser add_verb(const Parser& app, const char* name, const char* help, Plan& plan, Work work) {
  Parser verb = app.add_subcommand(name, help);
  verb.callback([&plan, work = std::move(work)] { plan.work = work; });
  return verb;
}

void add_between_two(const Parser& app, Plan& plan) {
  const Parser pair = add_verb(app, "pair", "Two processes, one vnode each", plan, bench::pair);
  pair.add_flag("--embedded", plan.is_embedded, "Make two processes with a daemon inside");
  const Parser trips = add_verb(app, "trips", "Round trips of one byte, each said at the end", plan,
                                [&](phx::Session& job) { bench::trips(job, plan.until); });
  trips.add_flag("--embedded", plan.is_embedded, "Make two processes with a daemon inside");
  trips.add_option("--until", plan.until, "Until this file exists").required();
  const Parser stream = add_verb(app, "stream", "One process sends to another", plan,
                                 [&](phx::Session& job) { bench::stream(job, plan.bytes); });
  stream.add_option("--bytes", plan.bytes, "So much");
}

void add_moving(const Parser& app, Plan& plan) {
  const Parser join = add_verb(app, "join", "Steps until enough processors take part", plan,
                               [&](phx::Session& job) { bench::join(job, plan.processors); });
  join.add_option("--processors", plan.processors, "So many");
  add_verb(app, "moves", "Vnode 0 goes to and fro", plan, bench::moves);
  const Parser states =
      add_verb(app, "states", "Vnodes keep what they have while they move", plan,
               [&](phx::Session& job) { bench::states(job, plan.bytes, plan.until); });
  states.add_option("--bytes", plan.bytes, "Of all together");
  states.add_option("--until", plan.until, "Until this file exists").required();
}

void add_sweep(const Parser& app, Plan& plan) {
  bench::SweepOptions& sweep = plan.sweep;
  const Parser verb = add_verb(app, "sweep", "One operation, sizes and roots: each time", plan,
                               [&](phx::Session& job) { bench::sweep(job, sweep); });
  verb.add_option("operation", sweep.operation, "bcast, reduce, allreduce")
      .required()
      .check(phx::options::one_of({"bcast", "reduce", "allreduce"}));
  verb.add_option("--bytes", sweep.bytes, "Sizes").delimiter(',').required();
  verb.add_option("--roots", sweep.roots, "Vnodes").delimiter(',').required();
  verb.add_option("--rounds", sweep.rounds, "So often each");
  verb.add_option("--pause", sweep.pause_s, "Seconds before each");
  verb.add_flag("--ordered", sweep.ordered, "Sums also ordered");
}

void add_redistribution(const Parser& app, Plan& plan) {
  bench::RedistributionOptions& options = plan.redistribution;
  const Parser verb =
      add_verb(app, "redistribution", "Each schedule and pace: the time of all", plan,
               [&](phx::Session& job) { bench::redistribution(job, options); });
  verb.add_option("--graph", options.graph, "A file: from to bytes").required();
  verb.add_option("--schedules", options.schedules, "Names").delimiter(',').required();
  verb.add_option("--rounds", options.rounds, "So often each");
}

void add_round(const Parser& app, Plan& plan) {
  bench::RoundOptions& options = plan.round;
  const Parser verb = add_verb(app, "round", "Broadcasts from each vnode in turn", plan,
                               [&](phx::Session& job) { bench::round(job, options); });
  verb.add_option("--bytes", options.bytes, "Of each");
  verb.add_option("--rounds", options.rounds, "So often; 0: 50 broadcasts at least");
  verb.add_option("--seed", options.seed, "Of the second order of roots");
  verb.add_flag("--receivers", options.has_receivers, "Each receiver alone, too");
  verb.add_option("--until", options.until, "While vnodes move, until this file exists");
}

}  // namespace

int main(int argc, char** argv) {
  Plan plan;
  const phx::options::Program app("Measures the runtime from inside a job");
  app.require_subcommand(1, 1);
  add_between_two(app, plan);
  add_verb(app, "collectives", "Broadcast and reduction", plan, bench::collectives);
  add_moving(app, plan);
  add_sweep(app, plan);
  add_redistribution(app, plan);
  add_round(app, plan);
  const auto complain = [](const std::string& what) { return "phoenix-bench: " + what + "\n"; };
  const auto outcome = app.parse(argc, argv, complain);
  if (!outcome.goes_on) return outcome.has_failed ? 2 : 0;
  try {
    if (plan.is_embedded) {
      bench::run_inside(plan.work);
      return 0;
    }
    phx::Session job;
    plan.work(job);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "phoenix-bench: %s\n", failure.what());
    return 1;
  }
  return 0;
}
