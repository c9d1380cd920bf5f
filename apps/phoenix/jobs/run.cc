#include "apps/phoenix/jobs/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "apps/phoenix/jobs/detach.h"
#include "apps/phoenix/jobs/follower.h"
#include "apps/phoenix/jobs/job_environment.h"
#include "apps/phoenix/jobs/job_output.h"
#include "apps/phoenix/jobs/job_report.h"
#include "apps/phoenix/jobs/new_file.h"
#include "apps/phoenix/jobs/report_page.h"
#include "apps/phoenix/jobs/verbs.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/job_record.h"
#include "apps/phoenix/mesh/private_mesh.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/start.h"
#include "apps/phoenix/texts/amounts.h"
#include "apps/phoenix/texts/table.h"
#include "overlay/planners/tree_styles.h"
#include "runtime/tcp/open_files.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

constexpr std::uint32_t kPrivateDaemons = 4;
constexpr Duration kLookAtProcesses = 20ms;
/// After twice as long as daemons wait for processes to end.
constexpr Duration kProcessesMost = 4s;

/// At most; 0: all.
std::uint32_t processors_of(const RunOptions& options) {
  if (!options.fits) return options.processors;
  const auto vnodes = static_cast<std::uint32_t>(options.vnodes);
  return options.processors == 0 ? vnodes : std::min(options.processors, vnodes);
}

runtime::JobSpec make_spec(const RunOptions& options) {
  runtime::JobSpec spec;
  spec.vnodes = options.vnodes;
  spec.command = options.command;
  spec.processors_max = processors_of(options);
  spec.balance = !options.no_balance;
  spec.fixed = options.is_mpi;
  spec.trees = options.tree;
  spec.detached = options.is_detached;
  spec.has_input = options.passes_input;
  spec.attach_timeout = std::chrono::seconds(options.attach_timeout_s);
  spec.environment = environment_of(options.environment);
  if (options.wants_report()) spec.environment.push_back("PHOENIX_REPORT=1");
  if (options.no_line_buffer) spec.environment.push_back("PHOENIX_LINE_BUFFER=0");
  std::error_code failure;
  spec.directory = std::filesystem::absolute(options.directory.empty()
                                                 ? std::filesystem::current_path(failure).string()
                                                 : options.directory,
                                             failure);
  spec.name = options.name;
  if (spec.name.empty()) spec.name = std::filesystem::path(spec.command.front()).filename();
  spec.name = in_one_line(spec.name);
  // A path is made absolute, since daemons run elsewhere; a bare name is looked up at each one.
  std::string& program = spec.command.front();
  if (program.find('/') != std::string::npos) {
    program = std::filesystem::absolute(program, failure).lexically_normal();
  }
  return spec;
}

/// For the output of a detached job.
Result<NewFile> open_log(const RunOptions& options, JobId job) {
  return options.log.empty() ? make_file("phoenix-" + to_string(job), ".out", "--log")
                             : open_file(options.log, O_APPEND, "--log");
}

/// What a person, or a script, has to know of a detached job.
std::string advice(const std::string& mesh, JobId job, const std::string& log) {
  const std::string name = job_words(job, mesh);
  return "phoenix: " + to_string(job) + " goes on without this terminal, and writes to " + log +
         "\n  phoenix logs " + name + "     what it has written\n  phoenix attach " + name +
         "   what it writes, and how it ends\n  phoenix kill " + name + "     ends it\n";
}

/// The figures to standard error, the page or the data to a file.
Status tell_report(JobReport& report, JobId job, const runtime::JobSpec& spec,
                   const std::string& name) {
  report.complete();
  const std::string title = to_string(job) + ": " + spec.name;
  const std::string extent = std::to_string(spec.vnodes) +
                             (spec.vnodes == 1 ? " vnode on " : " vnodes on ") +
                             std::to_string(report.processes().size()) +
                             (report.processes().size() == 1 ? " processor, " : " processors, ") +
                             spell_seconds(report.length());
  std::fprintf(stderr, "phoenix: report of %s, %s\n\n%s\n", title.c_str(), extent.c_str(),
               report.text().c_str());
  if (report.empty()) return success();
  auto file = name.empty() ? make_file("phoenix-" + to_string(job), ".svg", "--report-file")
                           : open_file(name, O_TRUNC, "--report-file");
  if (!file.ok()) return file.error();
  const std::string path = file.value().second;
  const bool is_data = path.ends_with(".json");
  if (!write_all(std::move(file).value(),
                 is_data ? report.json(title) : report_page(report, title, extent))) {
    return Error{ErrorCode::kDenied,
                 "--report: cannot write " + path + ": " + std::strerror(errno)};
  }
  std::fprintf(stderr, "phoenix: %s is in %s\n", is_data ? "the data" : "a page of it",
               path.c_str());
  return success();
}

/// A file that nobody has read from is meant for the job; one in which somebody else has read, as a
/// loop over its lines, is not.
void tell_of_unread_input() {
  struct stat found {};
  const bool is_file = ::fstat(STDIN_FILENO, &found) == 0 && S_ISREG(found.st_mode);
  if (!is_file || found.st_size == 0 || ::lseek(STDIN_FILENO, 0, SEEK_CUR) != 0) return;
  std::fprintf(stderr,
               "phoenix: standard input is a file, and nobody reads it: -i passes it on to the "
               "process that begins with v0\n");
}

/// Daemons give processes some time to end by themselves. Until the last one has, or that is over.
void wait_for_processes(const std::string& mesh, JobId job) {
  const Instant give_up = tcp::steady_now() + kProcessesMost;
  auto session = connect(mesh);
  while (session.ok() && tcp::steady_now() < give_up) {
    const auto reply = ask_status(session.value());
    if (!reply.ok()) return;
    const bool is_over = std::ranges::none_of(reply.value().processors, [&](const auto& one) {
      return std::ranges::any_of(one.jobs, [&](const runtime::JobStatus& there) {
        return there.job == job && there.stage != runtime::Stage::kExited &&
               there.stage != runtime::Stage::kNone;
      });
    });
    if (is_over) return;
    std::this_thread::sleep_for(kLookAtProcesses);
  }
}

void set_up(Follower& follower, const RunOptions& options, bool is_detached) {
  if (options.timeout_s > 0) {
    follower.limit(
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(options.timeout_s)));
  }
  if (is_detached || ::isatty(STDERR_FILENO) != 0) follower.tell_time();
  if (options.passes_input) {
    follower.pass_input();
  } else if (!is_detached) {
    tell_of_unread_input();
  }
  if (options.is_mpi) follower.name_ranks();
}

/// `give_back`: of a detached job, else none.
int run_in(const std::string& mesh, const RunOptions& options, const GiveBack& give_back) {
  auto output = JobOutput::make({!options.no_tags, options.timestamps, options.output_folder});
  if (!output.ok()) return fail(output.error().what, kUsage);
  auto session = connect_to_staying(mesh);
  if (!session.ok()) return fail(session.error().what);
  const runtime::JobSpec spec = make_spec(options);
  Follower follower(std::move(session).value(), {spec}, std::move(output).value());
  set_up(follower, options, give_back != nullptr);
  JobReport report;
  if (options.wants_report()) follower.collect(report);
  std::optional<JobRecord> record;
  if (give_back) {
    follower.on_start([&](JobId job) -> Status {
      auto log = open_log(options, job);
      if (!log.ok()) return log.error();
      auto made = JobRecord::make(mesh, job, {log.value().second, spec.name});
      if (!made.ok()) return made.error();
      record = std::move(made).value();
      give_back(to_string(job) + "\n", advice(mesh, job, log.value().second),
                log.value().first.get());
      return success();
    });
  }
  const int code = follower.run();
  if (record && follower.has_ended()) {
    record->end({code, follower.reason(), follower.loss()});
  }
  if (code != kOk && follower.has_ended()) wait_for_processes(mesh, *follower.job());
  if (!options.wants_report() || !follower.job()) return code;
  const Status told = tell_report(report, *follower.job(), spec, options.report_file);
  return told.ok() ? code : fail(told.error().what, code == kOk ? kFailed : code);
}

/// In a mesh of the job's own, which goes with it.
int run_in_private_mesh(const MeshDir& usual, const RunOptions& options,
                        const GiveBack& give_back) {
  std::uint32_t count = options.processors > 0 ? options.processors : kPrivateDaemons;
  if (count > kLocalMost) {
    return fail("--on " + std::to_string(count) + ": a mesh of the job's own has at most " +
                    std::to_string(kLocalMost) + " daemons",
                kUsage);
  }
  if (options.fits) count = std::min(count, processors_of(options));
  if (const std::string why = why_silent(usual); !why.empty()) {
    std::fprintf(stderr,
                 "phoenix: %s: this job runs in a private mesh of %s (--mesh %s insists on that)\n",
                 why.c_str(), counted(count, "daemon").c_str(), usual.name().c_str());
  }
  LaunchOptions launching;
  launching.lifeline = lifeline();
  remove_abandoned();
  const auto own = PrivateMesh::make(PrivateMesh::Use::kJob);
  if (!own.ok()) return fail(own.error().what, kUsage);
  const std::string& name = own.value().name();
  const auto members = start_mesh(name, std::vector<Place>(count), launching);
  if (!members.ok()) {
    const bool is_interrupted = members.error().code == ErrorCode::kAborted;
    return fail(members.error().what, is_interrupted ? kInterrupted : kFailed);
  }
  const int code = run_in(name, options, give_back);
  const Status ended = end_mesh(name);
  return ended.ok() ? code : fail(ended.error().what);
}

int run_anywhere(const RunOptions& options, const GiveBack& give_back) {
  const auto dir = MeshDir::open(options.mesh);
  if (!dir.ok()) return fail(dir.error().what, kUsage);
  const bool must_be_there = options.must_be_there || options.mesh != "default";
  if (!dir.value().is_known()) {
    if (!must_be_there) return run_in_private_mesh(dir.value(), options, give_back);
    const auto session = connect(options.mesh);
    if (!session.ok()) return fail(session.error().what);
  }
  return run_in(options.mesh, options, give_back);
}

}  // namespace

int run_job(const RunOptions& options) {
  const Interrupts interrupts;
  const UserSignals user_signals;
  tcp::raise_open_files();  // Two files for each processor may be wanted.
  std::error_code failure;
  if (options.command.front().empty()) {
    return fail("COMMAND begins with an empty word: which program?", kUsage);
  }
  if (!options.directory.empty() && !std::filesystem::is_directory(options.directory, failure)) {
    return fail("--wdir: there is no folder " + options.directory, kUsage);
  }
  // Before anything runs: later it would cost the job, or what it has told.
  if (!options.report_file.empty()) {
    const auto file = open_file(options.report_file, O_APPEND, "--report-file");
    if (!file.ok()) return fail(file.error().what, kUsage);
  } else if (options.reports && ::access(".", W_OK) != 0) {
    return fail(std::string("--report: cannot write in this folder: ") + std::strerror(errno) +
                    "; --report-file FILE says where to",
                kUsage);
  }
  if (!options.is_detached) return run_anywhere(options, nullptr);
  if (!options.log.empty()) {
    const auto file = open_file(options.log, O_APPEND, "--log");
    if (!file.ok()) return fail(file.error().what, kUsage);
  } else if (::access(".", W_OK) != 0) {
    return fail(std::string("--detach: cannot write in this folder: ") + std::strerror(errno) +
                    "; --log FILE says where to",
                kUsage);
  }
  return detach([&](const GiveBack& give_back) { return run_anywhere(options, give_back); });
}

namespace {

void add_report_options(const options::Parser& verb, RunOptions& options) {
  verb.add_flag("--report", options.reports,
                "At the end, figures of each process and vnode, and a page (SVG) of processors\n"
                "over time: phoenix-j4.svg");
  verb.add_option("--report-file", options.report_file,
                  "The page to this file; ending in .json: the data instead");
}

}  // namespace

void add_run(const options::Parser& tool, Action& chosen) {
  auto options = std::make_shared<RunOptions>();
  const options::Parser verb = tool.add_subcommand("run", "Run an application as a job");
  verb.add_option("-n,--vnodes", options->vnodes,
                  "Number of virtual nodes; every processor gets a process, see --fit")
      .required()
      .check(options::range(std::uint64_t{1}, std::uint64_t{1} << 24U));
  verb.add_option("--on", options->processors,
                  "On at most so many processors; 0: on all (default)");
  verb.add_flag("--fit", options->fits, "On no more processors than there are vnodes");
  add_mesh_option(verb, options->mesh);
  verb.add_option("--name", options->name, "Name of the job (default: the program's)")
      .check([](const std::string& name) {
        return job_number_in(name) ? "'" + name + "' would be taken for the number of a job" : "";
      });
  verb.add_option("-x,--env", options->environment,
                  "NAME=VALUE for the processes; NAME: its value here; NAME*: all that begin so");
  verb.add_option("--wdir", options->directory, "Folder of the processes (default: this one)");
  verb.add_option("--timeout", options->timeout_s,
                  "End the job after so many seconds, with exit code 124")
      .check(seconds_above_0());
  const options::Option folder = verb.add_option(
      "--output-dir", options->output_folder, "Write the output of each process to a file there");
  verb.add_flag("--timestamp", options->timestamps, "The time in front of the lines")
      .excludes(folder);
  verb.add_flag("--no-line-buffer", options->no_line_buffer,
                "Standard output of phx::Session's processes in blocks, not line by line");
  verb.add_option("--attach-timeout", options->attach_timeout_s,
                  "Seconds until a process must have created its phx::Session")
      .capture_default_str();
  verb.add_flag("--no-tags", options->no_tags, "No [p3] in front of the lines");
  verb.add_flag("--no-balance", options->no_balance,
                "Vnodes move only by assume/release of the application");
  verb.add_option("--tree", options->tree,
                  "Trees of its collectives, planned over the measured network: " +
                      planners::all_tree_styles() + " (default: as phoenixd --trees says)")
      .check([](const std::string& style) { return planners::wrong_tree_style(style); });
  const options::Option input = verb.add_flag(
      "-i,--stdin", options->passes_input,
      "Pass standard input on to the process that begins with v0; else it is not read");
  const options::Option detach =
      verb.add_flag("-d,--detach", options->is_detached,
                    "Give the terminal back; the job goes on, see logs, attach")
          .excludes(input);
  verb.add_option("--log", options->log,
                  "Append the output of a detached job to this file (default: phoenix-j4.out)")
      .needs(detach);
  add_report_options(verb, *options);
  verb.add_option("COMMAND", options->command, "-- program and arguments").required();
  verb.positionals_at_end();
  verb.footer(
      "Without a mesh, a private one of 4 daemons is started and removed afterwards; not with\n"
      "--mesh: that mesh must run.\n"
      "Ends with the exit code of the job: 0, or that of the process that failed.");
  verb.callback([options, verb, &chosen] {
    options->must_be_there = verb.count("--mesh") > 0;
    chosen = [options] { return run_job(*options); };
  });
}

}  // namespace phx::app
