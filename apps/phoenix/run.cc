#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "apps/phoenix/interrupts.h"
#include "apps/phoenix/job_output.h"
#include "apps/phoenix/run.h"
#include "apps/phoenix/session.h"
#include "apps/phoenix/start.h"
#include "apps/phoenix/verb.h"

namespace phx::app {
namespace {

constexpr std::uint32_t kPrivateDaemons = 4;
constexpr int kRefusalsMax = 3;
constexpr auto kSearchTimeout = std::chrono::seconds(15);

// How long nothing has come from the daemon that is followed, counted in waits, so that a tool that
// was stopped itself blames nobody. It is asked for a sign of life each second, so a job that says
// nothing for hours is no silence.
constexpr Duration kWait = 100ms;
constexpr int kWaitsPerSecond = 10;
constexpr int kMuteWaits = 3 * kWaitsPerSecond;     ///< It does not answer.
constexpr int kSuspectWaits = 6 * kWaitsPerSecond;  ///< Others are asked, every 3 s from then on.
constexpr int kGiveUpWaits = 30 * kWaitsPerSecond;

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

/// Starts one job and follows it from here to its end.
class Follower {
 public:
  Follower(Session session, runtime::RunRequest request, JobOutput output)
      : session_(std::move(session)), request_(std::move(request)), output_(std::move(output)) {}

  int run() {
    if (const Status sent = session_.client.send(request_); !sent.ok()) {
      if (const auto code = ask_another(sent.error().what)) return *code;
    }
    while (true) {
      if (const int number = job_ ? Interrupts::take() : 0; number != 0) pass_on(number);
      if (!job_ && Interrupts::count() > 1) {
        return fail("interrupted before the job had a number; see phoenix ps", kInterrupted);
      }
      Result<runtime::ClientReply> reply = session_.client.receive(kWait);
      if (!reply.ok()) {
        const Error& loss = reply.error();
        const bool is_late = loss.code == ErrorCode::kTimeout;
        const auto code = is_late ? on_silence() : on_loss(loss);
        if (code) return *code;
        continue;
      }
      waits_ = 0;
      if (const auto code = take(reply.value())) {
        const bool is_complete = output_.finish();
        return is_complete || *code != kOk ? *code : fail("the job's output is not complete");
      }
    }
  }

 private:
  /// The first signal goes to the processes, so that they can end by themselves; the next ends
  /// the job.
  void pass_on(int number) {
    const bool asks = Interrupts::count() == 1 && number == SIGINT;
    std::fprintf(stderr, "phoenix: %s\n",
                 asks ? "interrupt passed on to the job; once more ends it" : "ending the job");
    if (!asks) ending_ = number;
    const Status sent = session_.client.send(runtime::SignalRequest{*job_, asks ? number : 0});
    if (!sent.ok()) std::fprintf(stderr, "phoenix: %s\n", sent.error().what.c_str());
  }

  std::optional<int> take(const runtime::ClientReply& reply) {
    if (const auto* m = std::get_if<runtime::RunStarted>(&reply)) {
      job_ = m->job;
      give_up_.reset();
    }
    if (const auto* m = std::get_if<runtime::RunOutput>(&reply)) {
      output_.write(m->output);
    }
    if (const auto* m = std::get_if<runtime::RunMoved>(&reply)) return move(*m);
    if (const auto* m = std::get_if<runtime::RunEnded>(&reply)) {
      if (!m->reason.empty()) fail(to_string(m->job) + ": " + m->reason);
      return m->code;
    }
    if (const auto* m = std::get_if<runtime::Done>(&reply); m != nullptr && !m->error.empty()) {
      return job_ ? fail(m->error) : ask_another(m->error);
    }
    return std::nullopt;
  }

  std::optional<int> on_loss(const Error& loss) {
    waits_ = 0;
    return job_ ? find_again(loss) : ask_another(loss.what);
  }

  /// Nothing has come. A daemon that hangs closes no connection; the others notice and end the job.
  std::optional<int> on_silence() {
    ++waits_;
    // If it is lost, the next look at the connection tells.
    if (waits_ % kWaitsPerSecond == 0) {
      static_cast<void>(session_.client.send(runtime::StatusRequest{/*ask_all=*/false}));
    }
    if (job_ && ending_ != 0 && waits_ >= kMuteWaits) return end_elsewhere();
    if (waits_ >= kGiveUpWaits) {
      return fail(to_string(session_.client.daemon()) +
                  ", which looks after the job, does not answer; see phoenix status");
    }
    const bool asks = waits_ >= kSuspectWaits && waits_ % kMuteWaits == 0;
    return asks ? ask_about_home() : std::nullopt;
  }

  /// If the daemon is a member no more, another one knows what became of the job.
  std::optional<int> ask_about_home() {
    const ProcessorId mute = session_.client.daemon();
    auto next = connect(session_.dir.name(), {mute});
    if (!next.ok()) return std::nullopt;
    const auto status = ask_status(next.value(), /*ask_all=*/false);
    if (!status.ok() || status.value().view.members.contains(mute)) return std::nullopt;
    const std::string why = to_string(mute) + " does not answer and is no longer in the mesh";
    if (!job_) return on_loss({ErrorCode::kUnavailable, why});
    std::fprintf(stderr, "phoenix: %s\n", why.c_str());
    session_ = std::move(next).value();
    waits_ = 0;
    static_cast<void>(session_.client.send(runtime::FollowRequest{*job_}));
    return std::nullopt;
  }

  /// The job is to end, but the daemon that was told does not answer: any other can do it, too.
  int end_elsewhere() {
    constexpr int kSignalled = 128;
    const ProcessorId mute = session_.client.daemon();
    std::string text = to_string(mute) + ", which looks after the job, does not answer; ";
    auto next = connect(session_.dir.name(), {mute});
    const runtime::SignalRequest request{*job_, 0};
    if (next.ok()) {
      const auto done = ask<runtime::Done>(next.value(), request, 3s);
      const std::string name = to_string(next.value().client.daemon());
      const std::string error = done.ok() ? done.value().error : done.error().what;
      text += error.empty() ? name + " ends it" : name + " says: " + error;
    } else {
      text += next.error().what;
    }
    return fail(text, kSignalled + ending_);
  }

  /// The daemon has not begun the job; it may just be leaving. If it has died, so has the job,
  /// whose home it would be.
  std::optional<int> ask_another(const std::string& why) {
    const auto refusing = session_.client.daemon();
    for (; refusals_ < kRefusalsMax; ++refusals_) {
      auto next = connect_to_staying(session_.dir.name(), {refusing});
      if (!next.ok()) break;
      session_ = std::move(next).value();
      if (!session_.client.send(request_).ok()) continue;
      ++refusals_;
      return std::nullopt;
    }
    return fail("the job was not begun: " + why);
  }

  /// The daemon went away without a word: the others learn soon what became of the job.
  std::optional<int> find_again(const Error& loss) {
    const std::string lost = to_string(session_.client.daemon());
    const auto now = std::chrono::steady_clock::now();
    if (!give_up_) give_up_ = now + kSearchTimeout;
    if (now > *give_up_) return fail("lost " + lost + ", which looked after the job: " + loss.what);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    auto next = connect(session_.dir.name(), {session_.client.daemon()});
    if (!next.ok()) return fail("lost " + lost + ": " + loss.what);
    session_ = std::move(next).value();
    // If this is lost too, the next look at the connection tells.
    static_cast<void>(session_.client.send(runtime::FollowRequest{*job_}));
    return std::nullopt;
  }

  std::optional<int> move(const runtime::RunMoved& moved) {
    job_ = moved.job;
    auto next = connect_to(session_.dir.name(), moved.endpoints);
    if (!next.ok()) return find_again(next.error());
    session_ = std::move(next).value();
    const Status sent = session_.client.send(runtime::FollowRequest{moved.job});
    return sent.ok() ? std::nullopt : find_again(sent.error());
  }

  Session session_;
  runtime::RunRequest request_;
  JobOutput output_;
  int refusals_ = 0;
  int waits_ = 0;   ///< In vain, one after the other.
  int ending_ = 0;  ///< The signal that ended the job; 0: none.
  std::optional<JobId> job_;
  std::optional<std::chrono::steady_clock::time_point> give_up_;  ///< Searching since a loss.
};

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
  const auto members = start_mesh(name, std::vector<Place>(count), {});
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
