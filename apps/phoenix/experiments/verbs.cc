#include "apps/phoenix/experiments/verbs.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "overlay/planners/planners.h"

namespace phx::app {
namespace {

std::string check_plan(const std::string& name) {
  std::string names;
  for (const planners::Planner& planner : planners::all_planners()) {
    if (planner.name == name) return {};
    names += (names.empty() ? "" : ", ") + std::string(planner.name);
  }
  return "there is no plan '" + name + "'; there are " + names;
}

std::string plan_footer() {
  std::string text = "The plans:\n";
  for (const planners::Planner& planner : planners::all_planners()) {
    constexpr std::size_t kColumn = 14;
    std::string name(planner.name);
    name.resize(std::max(kColumn, name.size() + 2), ' ');
    text += "  " + name + std::string(planner.what) + "\n";
  }
  return text +
         "The network, unless a file describes another one: three sites of 67, 0.3 ms round trip\n"
         "inside and 4, 6 and 8 ms between them, 1 Gbit/s interfaces and site pairs, 5 us of a\n"
         "processor per message and end. All plans know it. Examples:\n"
         "  phoenix plan                               the last receiver in ms, by plan and size\n"
         "  phoenix plan --plans magpie,greedy --bytes 1 --arrivals > fig6.csv\n"
         "  phoenix plan --shuffle 1 --plans binomial --bytes 1   ids do not follow the sites\n"
         "Exit code 0; 2: misuse.";
}

constexpr const char* kExperimentFooter =
    "fig6: real daemons in 3 sites of 67, 4, 6 and 8 ms of round trip between them. The tree\n"
    "that they find is settled; the plans know the network. Takes some seconds.\n"
    "fig7, fig8, sizes: 137, 128 and 201 processors, up to 64 MiB; take minutes.\n"
    "fig9: 4 MiB back to back to 160 processors for two minutes; takes 20 minutes.\n"
    "scale: 1,024 processors in 4 and in 16 sites, 10,000 by plans alone; in minutes.\n"
    "slow, drop: one of 35 receivers, or the link of two of three sites, has a tenth of its\n"
    "bandwidth from 10 s on; in minutes.\n"
    "agm: Table 2 and figures 4 to 7 of the paper of adapted spanning trees, 24 processors in 6\n"
    "sites, with the published figures. Takes a second.\n"
    "drain: many leave 16 and 64 processors at once, in one site and in several: how long their\n"
    "vnodes take, by whom they go to, and to how many at once. Takes some minutes.\n"
    "mgo: Table 1 of the MGO paper, planners told latencies only or all, with the published\n"
    "figures; CSV with scatters, gathers and allgathers, too. Takes about a minute.\n"
    "exchange: figures 6 to 10 of the thesis about such exchanges: 8 to 256 processors, 512 MiB\n"
    "and 1 GiB, each schedule with its best pace. Takes some minutes.\n"
    "redistribution: schedules of irregular messages among 8 to 256 processors, beside the\n"
    "bounds. Takes some seconds.\n"
    "round: broadcasts from each vnode in turn along all kinds of trees, with and without\n"
    "overlap, while processors stay or come and go. Takes some minutes.\n"
    "summary: each kind of trees by real daemons, each in the networks that others were\n"
    "published for. Takes some minutes.\n"
    "The same seed gives the same files, but for the processor time that planners took here:\n"
    "columns planning CPU ms and sum ms of redistribution and exchange, exchange-fig6, -fig9\n"
    "and -fig10, and the last lines of drain.txt.\n"
    "Files are called by what they hold: FIGURE.csv, .txt and .svg; sizes of another network,\n"
    "of reductions and with another seed sizes-NETWORK-1a2b3c-reduce-seed2.csv, and so on, with\n"
    "six digits of what the topology file says. The same again replaces them. The first line of\n"
    "the .txt, and the description in the .svg, is the command line that makes them.\n"
    "  phoenix experiment fig6 --out results\n"
    "Exit code 0; 1: a broadcast did not end, or was wrong; 2: misuse, or files that cannot be\n"
    "written; the table is printed also then.";

/// CLI11's own sentence is not for people.
void check_given_once(const options::Parser& verb) {
  const std::string twice = verb.given_twice();
  if (twice.empty()) return;
  options::refuse(twice, "given " + std::to_string(verb.count(twice)) + " times");
}

}  // namespace

void add_plan(const options::Parser& tool, Action& chosen,
              std::function<int(const PlanOptions&)> run) {
  auto options = std::make_shared<PlanOptions>();
  const options::Parser verb = tool.add_subcommand(
      "plan", "Static plans of collectives for a given network, and when each processor is served");
  verb.add_option("--topology", options->topology,
                  "The network, as a topology file; see overlay/network/README.md");
  verb.add_option("--plans", options->algorithms, "Some of the plans below, or all of them")
      .delimiter(',')
      .check(check_plan);
  verb.add_option("--bytes", options->sizes, "Sizes of the message: 100, 64K, 4M")
      .delimiter(',')
      .capture_default_str();
  verb.add_option("--root", options->root, "The processor that sends, from 1")
      .capture_default_str();
  verb.add_option("--shuffle", options->shuffle,
                  "Deal the processors out to the sites at random, with this seed");
  verb.add_flag("--reduce", options->reduce, "Reductions along the same trees, backwards");
  const auto bandwidth =
      verb.add_flag("--bandwidth", options->bandwidth, "MB/s (bytes x processors / time), not ms");
  verb.add_flag("--arrivals", options->arrivals,
                "The time of each processor, in ms, as CSV; of the first size")
      .excludes(bandwidth);
  verb.add_flag("--json", options->json,
                "As JSON, with ms, MB/s, shapes and messages; with --arrivals also the time of "
                "each processor, of all sizes")
      .excludes(bandwidth);
  verb.footer(plan_footer());
  verb.callback([options, run = std::move(run), &chosen] {
    chosen = [options, run] { return run(*options); };
  });
}

void add_experiment(const options::Parser& tool, Action& chosen,
                    std::function<int(const ExperimentOptions&)> run) {
  auto options = std::make_shared<ExperimentOptions>();
  const options::Parser verb = tool.add_subcommand(
      "experiment", "A figure of the papers again, in the simulator: CSV, SVG and a table");
  verb.take_last();
  verb.add_option("FIGURE", options->name,
                  "agm: broadcasts over a distributed spanning tree; drain: to whom leavers give; "
                  "exchange: irregular exchanges "
                  "by each schedule, in a simulated cluster; fig6: arrival of a short "
                  "broadcast at 201 processors; fig7, fig8: bandwidth of long broadcasts, and of "
                  "reductions; fig9: half leave and return; mgo: static planners in "
                  "random clusters; redistribution: schedules of many messages; round: "
                  "Broadcast Round; scale: up to 10,000 processors; sizes: 201 processors, 1 byte "
                  "to 64 MiB; slow, drop: a slow "
                  "receiver, a link that drops; summary: our trees and all others side by side")
      .required();
  verb.add_option("--out", options->out, "The folder for the files; made if need be").required();
  verb.add_option("--seed", options->seed, "Of the simulation").capture_default_str();
  verb.add_option("--topology", options->topology,
                  "sizes: another network, as a topology file; see overlay/network/README.md");
  verb.add_flag("--reduce", options->reduce, "sizes: reductions; along our trees up to 8 MiB");
  verb.add_flag("--adaptive", options->adaptive,
                "fig7: also along trees by local rules, as with phoenixd --trees adaptive");
  verb.footer(kExperimentFooter);
  verb.callback([verb, options, run = std::move(run), &chosen] {
    check_given_once(verb);
    chosen = [options, run] { return run(*options); };
  });
}

void add_sim(const options::Parser& tool, Action& chosen,
             std::function<int(const SimOptions&)> run) {
  auto options = std::make_shared<SimOptions>();
  const options::Parser verb =
      tool.add_subcommand("sim", "Simulate a mesh with faults, and check everything");
  verb.add_option("--scenario", options->scenario,
                  "churn, churn-small, drawn (slow links, several jobs, sites cut off from each "
                  "other), barred (pairs do not reach each other), relays (who only passes on "
                  "dies), stopped (tools that do not read), deaths, mesh (1000 processors, and "
                  "100 come and go), costs (what each event costs), or a scenario file")
      .capture_default_str();
  verb.add_option("--seed,--seeds", options->seeds,
                  "One seed, or a range like 0..999; of mesh: one; not of costs and files")
      .capture_default_str();
  verb.add_option(
      "--topology", options->topology,
      "The network, as a topology file; see overlay/network/README.md; not of mesh, costs "
      "and files");
  verb.add_option("--processors", options->processors,
                  "Of mesh: how many, a multiple of 4 from 16 to 20000. Of costs: 16, or a "
                  "multiple of 4 from 64 on; 16, 64, 256 and 1024, if left out");
  verb.add_flag("--json", options->json, "Of costs and mesh: as JSON, with each kind of message");
  verb.add_flag("--trace", options->trace, "Print everything that happens; not of mesh, costs");
  verb.add_flag("--wire", options->wire,
                "Turn all messages into bytes and back on their way; not of mesh, costs");
  verb.footer(
      "A seed decides everything, so a run that went wrong can be looked at again:\n"
      "  phoenix sim --scenario churn --seeds 0..999\n"
      "  phoenix sim --scenario churn --seed 417 --trace\n"
      "A scenario file is a script, a line ----, and the transcript that --trace prints.\n"
      "Exit code 0: no violation; 1: violations, each with its seed; 2: misuse.");
  verb.callback([options, verb, run = std::move(run), &chosen] {
    for (const char* option : {kSeedOption, "--topology", "--trace", "--wire"}) {
      if (verb.count(option) > 0) options->given.emplace_back(option);
    }
    chosen = [options, run] { return run(*options); };
  });
}

}  // namespace phx::app
