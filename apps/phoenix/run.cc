#include "apps/phoenix/run.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "apps/phoenix/follower.h"
#include "apps/phoenix/interrupts.h"
#include "apps/phoenix/job_output.h"
#include "apps/phoenix/session.h"
#include "apps/phoenix/start.h"
#include "apps/phoenix/verb.h"

namespace phx::app {
namespace {

constexpr std::uint32_t kPrivateDaemons = 4;

runtime::JobSpec make_spec(const RunOptions& options) {
  runtime::JobSpec spec;
  spec.vnodes = options.vnodes;
  spec.command = options.command;
  spec.processors_max = options.processors;
  spec.balance = !options.no_balance;
  spec.attach_timeout = std::chrono::seconds(options.attach_timeout_s);
  spec.environment = options.environment;
  for (std::string& variable : spec.environment) {
    if (variable.find('=') != std::string::npos) continue;
    const char* value = std::getenv(variable.c_str());
    variable += std::string("=") + (value == nullptr ? "" : value);
  }
  std::error_code failure;
  const std::filesystem::path here = std::filesystem::current_path(failure);
  spec.directory = here;
  spec.name = options.name;
  if (spec.name.empty()) spec.name = std::filesystem::path(spec.command.front()).filename();
  // A path is made absolute, since daemons run elsewhere; a bare name is looked up at each one.
  std::string& program = spec.command.front();
  if (program.find('/') != std::string::npos) {
    program = std::filesystem::absolute(program, failure).lexically_normal();
  }
  return spec;
}

int run_in(const std::string& mesh, const RunOptions& options) {
  auto output = JobOutput::make({!options.no_tags, options.output_folder});
  if (!output.ok()) return fail(output.error().what, kUsage);
  auto session = connect_to_staying(mesh);
  if (!session.ok()) return fail(session.error().what);
  Follower follower(std::move(session).value(), {make_spec(options)}, std::move(output).value());
  return follower.run();
}

}  // namespace

int run_job(const RunOptions& options) {
  const Interrupts interrupts;
  const auto dir = MeshDir::open(options.mesh);
  if (!dir.ok()) return fail(dir.error().what, kUsage);
  if (dir.value().has_key()) return run_in(options.mesh, options);
  if (options.mesh != "default") return fail(connect(options.mesh).error().what);
  // Nothing runs: a mesh of the job's own, which goes with it.
  const std::string name = "run-" + std::to_string(::getpid());
  const std::uint32_t count = options.processors > 0 ? options.processors : kPrivateDaemons;
  LaunchOptions launching;
  launching.lifeline = lifeline();
  const auto members = start_mesh(name, std::vector<Place>(count), launching);
  if (!members.ok()) {
    const bool is_interrupted = members.error().code == ErrorCode::kAborted;
    return fail(members.error().what, is_interrupted ? kInterrupted : kFailed);
  }
  const int code = run_in(name, options);
  const Status ended = end_mesh(name);
  return ended.ok() ? code : fail(ended.error().what);
}

void add_run(CLI::App& tool, Action& chosen) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* verb = tool.add_subcommand("run", "Run an application as a job");
  verb->add_option("-n,--vnodes", options->vnodes, "Number of virtual nodes")
      ->required()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 24U));
  verb->add_option("--on", options->processors, "On at most so many processors (default: all)");
  verb->add_option("--mesh", options->mesh, "Name of the mesh")->capture_default_str();
  verb->add_option("--name", options->name, "Name of the job (default: the program's)");
  verb->add_option("-x,--env", options->environment,
                   "NAME=VALUE for the processes; NAME alone: its value here");
  verb->add_option("--output-dir", options->output_folder,
                   "Write the output of each process to a file there");
  verb->add_option("--attach-timeout", options->attach_timeout_s,
                   "Seconds until a process must have created its phx::Session")
      ->capture_default_str();
  verb->add_flag("--no-tags", options->no_tags, "No [p3] in front of the lines");
  verb->add_flag("--no-balance", options->no_balance,
                 "Vnodes move only by assume/release of the application");
  verb->add_option("COMMAND", options->command, "-- program and arguments")->required();
  verb->positionals_at_end();
  verb->footer(
      "Without a mesh, a private one of 4 daemons is started and removed afterwards.\n"
      "Ends with the exit code of the job: 0, or that of the process that failed.");
  verb->callback([options, &chosen] { chosen = [options] { return run_job(*options); }; });
}

}  // namespace phx::app
