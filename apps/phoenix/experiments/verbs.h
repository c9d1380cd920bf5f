#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "apps/options/parser.h"
#include "apps/phoenix/command_line/verb.h"

namespace phx::app {

/// What `phoenix plan` is asked for.
struct PlanOptions {
  std::string topology;
  std::vector<std::string> algorithms;
  std::vector<std::string> sizes = {"1", "64K", "256K", "1M", "4M"};
  std::uint32_t root = 1;
  std::optional<std::uint64_t> shuffle;
  bool reduce = false;
  bool bandwidth = false;
  bool arrivals = false;
  bool json = false;
};

/// What an experiment is asked for.
struct ExperimentOptions {
  std::string name;
  std::string out = {};  ///< The folder for its files; made when they are written.
  std::uint64_t seed = 1;
  std::string topology = {};       ///< sizes: a file that describes another network.
  std::string topology_mark = {};  ///< Of what that file says.
  bool reduce = false;             ///< sizes: reductions.
  bool adaptive = false;           ///< fig7 has a row of trees by local rules, too.
};

/// The seeds of `phoenix sim`, one or a range; not every scenario has them.
inline constexpr const char* kSeedOption = "--seed";

/// What `phoenix sim` is asked for.
struct SimOptions {
  std::string scenario = "churn";
  std::string seeds = "0";
  std::string topology;
  std::uint32_t processors = 0;  ///< 0: as the scenario has it.
  bool json = false;
  bool trace = false;
  bool wire = false;
  std::vector<std::string> given;  ///< Of the options that not all scenarios have.
};

// Each adds one verb to `tool`, and sets `chosen` to `run` with its options when it is the one on
// the command line.
void add_plan(const options::Parser& tool, Action& chosen,
              std::function<int(const PlanOptions&)> run);
void add_experiment(const options::Parser& tool, Action& chosen,
                    std::function<int(const ExperimentOptions&)> run);
void add_sim(const options::Parser& tool, Action& chosen,
             std::function<int(const SimOptions&)> run);

}  // namespace phx::app
