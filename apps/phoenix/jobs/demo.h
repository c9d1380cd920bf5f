#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phx::app {

/// Options of `phoenix demo elastic`.
struct ElasticOptions {
  std::uint32_t processors = 8;  ///< At the beginning.
  std::uint64_t vnodes = 64;
  std::uint32_t change = 4;  ///< Processors that join, and as many that are drained.
  double seconds = 10;       ///< Joins begin at 3/10 of it, drains at 6/10.
  std::string size = "1M";   ///< Of one broadcast.
  std::string output;        ///< Folder for the chart; empty: here.
};

/// The show-piece: a mesh of its own, a job that verifies everything, processors that join and are
/// drained meanwhile, a table and a chart. The exit code of the tool.
[[nodiscard]] int demo_elastic(const ElasticOptions& options);

/// What the demo of this name itself says of its options, before anything is started for them: kOk,
/// or the exit code of the tool, and it has said why.
[[nodiscard]] int check_demo_options(const std::string& name, std::vector<std::string> words);

/// The path of a bundled demo's program: beside this program or where it is installed.
[[nodiscard]] std::string demo_path(const std::string& name);

}  // namespace phx::app
