#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/phoenix/jobs/follower.h"
#include "apps/phoenix/jobs/job_output.h"
#include "apps/phoenix/jobs/verbs.h"
#include "apps/phoenix/mesh/interrupts.h"
#include "apps/phoenix/mesh/job_record.h"
#include "apps/phoenix/mesh/session.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/kept_logs.h"

namespace phx::app {
namespace {

constexpr Duration kLogLook = 100ms;

struct JobOptions {
  std::string job;
  std::string mesh = "default";
  bool follows = false;
  bool of_daemons = false;
};

/// Writes to stdout what stands in a file, and what is added to it.
class Tail {
 public:
  explicit Tail(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  [[nodiscard]] bool is_open() const { return file_.is_open(); }
  void skip_all() { ::lseek(file_.get(), 0, SEEK_END); }
  /// What is there now, and not what comes meanwhile: that may be more than can be shown at all.
  /// kAborted: interrupted.
  [[nodiscard]] Status show() {
    char buffer[std::size_t{64} << 10U];
    struct stat now {};
    if (::fstat(file_.get(), &now) != 0)
      return Error{ErrorCode::kUnavailable, std::strerror(errno)};
    off_t left = now.st_size - ::lseek(file_.get(), 0, SEEK_CUR);
    while (left > 0) {
      if (Interrupts::count() > 0) return Error{ErrorCode::kAborted, "interrupted"};
      const auto most = std::min<std::size_t>(sizeof(buffer), static_cast<std::size_t>(left));
      const ssize_t size = ::read(file_.get(), buffer, most);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return Error{ErrorCode::kUnavailable, std::strerror(errno)};
      if (size == 0) return success();
      left -= size;
      std::string_view rest(buffer, static_cast<std::size_t>(size));
      while (!rest.empty()) {
        const auto written = write_some(STDOUT_FILENO, rest);
        if (!written) return Error{ErrorCode::kUnavailable, std::strerror(errno)};
        if (Interrupts::count() > 0) return Error{ErrorCode::kAborted, "interrupted"};
        rest.remove_prefix(*written);
      }
    }
    return success();
  }

 private:
  tcp::Descriptor file_;
};

int cannot_show(const Error& error) {
  // Whoever read it has had enough, as `head` does.
  if (error.what == std::strerror(EPIPE)) return kUnread;
  if (error.code == ErrorCode::kAborted) return kInterrupted;
  return fail("cannot show the output: " + error.what);
}

/// What is known of a detached job, and its file, which stays the same one.
struct Logged {
  tcp::Descriptor file;
  JobRecord::Found record;
};
std::optional<Logged> find_logged(const std::string& mesh, JobId job) {
  auto file = JobRecord::open(mesh, job);
  auto record = file ? JobRecord::find(mesh, *file) : std::nullopt;
  if (!record) return std::nullopt;
  return Logged{std::move(*file), std::move(*record)};
}

/// Where some of the output of a job that is over is missing.
void tell_loss(JobId job, const JobRecord::Found& record) {
  if (record.loss.empty()) return;
  fail("some of the output of " + to_string(job) + " is missing (" + record.loss + ")");
}

/// Until the job is over: its exit code.
int follow_log(Tail& tail, const std::string& mesh, JobId job, const tcp::Descriptor& file) {
  while (true) {
    const auto record = JobRecord::find(mesh, file);
    const Status shown = tail.show();
    if (Interrupts::count() > 0) {
      return fail(to_string(job) + " goes on; phoenix kill " + job_words(job, mesh) + " ends it",
                  kInterrupted);
    }
    if (!shown.ok()) return cannot_show(shown.error());
    if (!record || !record->is_followed) {
      if (record) tell_loss(job, *record);
      if (record && record->code) return *record->code;
      return fail("the tool that followed " + to_string(job) +
                  " has ended without a word; if the job runs, phoenix attach " +
                  job_words(job, mesh) + " follows it");
    }
    std::this_thread::sleep_for(kLogLook);
  }
}

int show_log(const JobOptions& options) {
  const Interrupts interrupts;
  const auto job = find_logged_job(options.mesh, options.job);
  if (!job.ok()) return fail(job.error());
  const auto logged = find_logged(options.mesh, job.value());
  const std::string name = to_string(job.value());
  if (!logged) {
    return fail("no output of " + name + " of the mesh " + options.mesh +
                " was kept on this machine: it was not started here with run --detach");
  }
  const std::string& log = logged->record.log;
  Tail tail(log);
  if (!tail.is_open()) return fail("cannot read " + log + ": " + std::strerror(errno));
  if (logged->record.is_outdated) {
    fail("this is what " + name + " of an earlier mesh " + options.mesh + " has written; " + name +
         " of the present one was not started here with run --detach");
  }
  if (options.follows) return follow_log(tail, options.mesh, job.value(), logged->file);
  const Status shown = tail.show();
  if (!shown.ok()) return cannot_show(shown.error());
  tell_loss(job.value(), logged->record);
  return kOk;
}

int show_daemon_logs(const std::string& mesh) {
  const Interrupts interrupts;
  const auto dir = MeshDir::open(mesh);
  if (!dir.ok()) return fail(dir.error().what, kUsage);
  auto logs = tcp::logs_in(dir.value().path());
  if (logs.empty()) logs = tcp::logs_in(tcp::kept_logs_of(dir.value().path()));
  if (logs.empty()) return fail("no daemon of the mesh " + mesh + " has left a log here");
  for (const auto& log : logs) {
    std::printf("==> %s <==\n", log.c_str());
    std::fflush(stdout);
    Tail tail(log);
    if (!tail.is_open()) return fail("cannot read " + log.string() + ": " + std::strerror(errno));
    if (const Status shown = tail.show(); !shown.ok()) return cannot_show(shown.error());
  }
  return kOk;
}

/// Of a job that no tool follows any more, or that another machine's tool follows.
int follow_itself(const JobOptions& options, JobId job, bool ends_record) {
  auto output = JobOutput::make({});
  if (!output.ok()) return fail(output.error().what, kUsage);
  auto session = connect(options.mesh);
  if (!session.ok()) return fail(session.error().what);
  Follower follower(std::move(session).value(), job, std::move(output).value());
  const int code = follower.run();
  if (ends_record && follower.has_ended()) {
    JobRecord::end(options.mesh, job, {code, follower.reason(), follower.loss()});
  }
  return code;
}

int attach(const JobOptions& options) {
  const Interrupts interrupts;
  const auto job = find_running_job(options.mesh, options.job);
  if (!job.ok()) return fail(job.error());
  auto logged = find_logged(options.mesh, job.value());
  if (logged && logged->record.is_outdated) logged.reset();
  const JobRecord::Found* record = logged ? &logged->record : nullptr;
  if (record != nullptr && record->code) {
    const std::string how =
        record->reason.empty() ? "is over" : "has ended (" + record->reason + ")";
    std::fprintf(stderr, "phoenix: %s %s, with exit code %d; its output is in %s\n",
                 to_string(job.value()).c_str(), how.c_str(), *record->code, record->log.c_str());
    tell_loss(job.value(), *record);
    return *record->code;
  }
  if (record == nullptr || !record->is_followed) {
    return follow_itself(options, job.value(), record != nullptr);
  }
  Tail tail(record->log);
  if (!tail.is_open()) return fail("cannot read " + record->log + ": " + std::strerror(errno));
  tail.skip_all();
  return follow_log(tail, options.mesh, job.value(), logged->file);
}

std::shared_ptr<JobOptions> add_options(const options::Parser& verb) {
  auto options = std::make_shared<JobOptions>();
  verb.add_option("JOB", options->job, "The job (j2, 2 or its name), see ps");
  add_mesh_option(verb, options->mesh);
  return options;
}

}  // namespace

void add_logs(const options::Parser& tool, Action& chosen) {
  const options::Parser verb = tool.add_subcommand("logs", "Print what a detached job has written");
  const auto options = add_options(verb);
  verb.add_flag("-f,--follow", options->follows,
                "And what it writes, to its end; then with its exit code");
  verb.add_flag(
      "--daemon", options->of_daemons,
      "The logs of this machine's daemons instead, also when the mesh has ended; on other\n"
      "machines this command prints those of theirs");
  verb.footer("For jobs of run --detach, on the machine where that was called; also afterwards.");
  verb.callback([options, &chosen] {
    if (options->job.empty() == !options->of_daemons) {
      if (options->of_daemons) options::refuse("--daemon excludes JOB");
      options::refuse("one of JOB and --daemon is required");
    }
    chosen = [options] {
      return options->of_daemons ? show_daemon_logs(options->mesh) : show_log(*options);
    };
  });
}

void add_attach(const options::Parser& tool, Action& chosen) {
  const options::Parser verb = tool.add_subcommand("attach", "Follow a detached job to its end");
  const auto options = add_options(verb);
  verb.get_option("JOB").required();
  verb.footer(
      "Shows what the job writes from now on, and ends with its exit code. Ctrl-C leaves the job\n"
      "alone. If the tool that followed it is gone, this one does so in its place: then Ctrl-C "
      "goes\n"
      "to the job's processes, and the job goes on for an hour when this terminal is closed.");
  verb.callback([options, &chosen] { chosen = [options] { return attach(*options); }; });
}

}  // namespace phx::app
