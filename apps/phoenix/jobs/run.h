#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phx::app {

/// What to run, and where.
struct RunOptions {
  std::string mesh = "default";
  bool must_be_there = false;  ///< That mesh, and no private one in its place.
  std::uint64_t vnodes = 0;
  std::uint32_t processors = 0;  ///< At most; 0: all.
  std::string name;
  std::vector<std::string> command;
  std::vector<std::string> environment;
  std::string output_folder;
  std::uint32_t attach_timeout_s = 30;
  bool no_tags = false;
  bool no_balance = false;
  std::string tree;  ///< Which trees its collectives take; empty: as the mesh was told.
  bool timestamps = false;
  bool no_line_buffer = false;
  bool fits = false;      ///< No more processors than vnodes.
  bool is_mpi = false;    ///< Reasons of its end name ranks, which are its vnodes.
  std::string directory;  ///< Of the processes; empty: where the tool is.
  double timeout_s = 0;   ///< After which the job is ended; 0: never.
  bool is_detached = false;
  std::string log;  ///< Of a detached job; empty: phoenix-j4.out here, or phoenix-j4-2.out ...
  bool passes_input = false;
  bool reports = false;
  std::string report_file;  ///< Implies `reports`; empty: phoenix-j4.svg here, or phoenix-j4-2.svg.
  [[nodiscard]] bool wants_report() const { return reports || !report_file.empty(); }
};

/// Runs a job to its end with its output on this terminal, in a private mesh if there is none and
/// none must be there, and returns its exit code. Takes over SIGINT, SIGTERM and SIGHUP,
/// and passes SIGUSR1 and SIGUSR2 on.
[[nodiscard]] int run_job(const RunOptions& options);

}  // namespace phx::app
