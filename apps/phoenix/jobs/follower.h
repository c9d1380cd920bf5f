#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "apps/phoenix/jobs/job_input.h"
#include "apps/phoenix/jobs/job_output.h"
#include "apps/phoenix/jobs/job_report.h"
#include "apps/phoenix/jobs/standstill.h"
#include "apps/phoenix/mesh/session.h"
#include "apps/phoenix/mesh/waiting.h"
#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/messages/client_messages.h"

namespace phx::app {

/// Starts one job and follows it from this terminal to its end, wherever its home goes. A daemon
/// that hangs closes no connection: it is asked for a sign of life each second, so a job that says
/// nothing for hours is no silence, and given up after 30 s [README.md "What the tool waits for"].
class Follower {
 public:
  Follower(Session session, runtime::RunRequest request, JobOutput output);
  /// One that was started by another tool, which is gone.
  Follower(Session session, JobId job, JobOutput output);

  /// Called once, when the job has a number. An error ends the job.
  void on_start(std::function<Status(JobId)> handler) { on_start_ = std::move(handler); }

  /// The job is ended after so long; then run() gives kTimedOut.
  void limit(Duration most) { most_ = most; }
  /// Says at the end, on stderr, how long the job took.
  void tell_time() { tells_time_ = true; }

  /// Each process is a rank of an MPI program: reasons name it instead of the vnode that it held.
  void name_ranks() { names_ranks_ = true; }
  /// What processes tell about themselves goes there. REQUIRES that it lives as long as run().
  void collect(JobReport& report) { report_ = &report; }

  /// This program's standard input goes to the job's first process.
  void pass_input() { passes_input_ = true; }

  /// Until the job is over, or lost: the exit code of the tool. REQUIRES an Interrupts to be there.
  [[nodiscard]] int run();
  /// As of JobOutput.
  [[nodiscard]] const std::string& loss() const { return output_.loss(); }
  /// Why the job has ended, as was told. Empty: all its processes have ended by themselves.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// That code is how the job has ended; else it may go on, and this tool has given up.
  [[nodiscard]] bool has_ended() const { return has_ended_; }
  /// Empty: it has no number yet.
  [[nodiscard]] std::optional<JobId> job() const { return job_; }

 private:
  /// An exit code ends run().
  using Code = std::optional<int>;

  /// What has come within a moment, or that nothing has.
  [[nodiscard]] Code hear();
  void pass_on(int number);
  void send_signal(int number);
  void end_late();
  void ask_all();
  void on_status(const runtime::StatusReply& reply);
  [[nodiscard]] int end(const runtime::RunEnded& ended);
  [[nodiscard]] bool is_given_up();
  void count_silence(bool is_heard);
  [[nodiscard]] bool silence_reaches(Duration begin, Duration period) const;

  [[nodiscard]] Code take(const runtime::ClientReply& reply);
  void begin(const runtime::RunStarted& reply);
  void show(const runtime::Output& output);
  [[nodiscard]] Status follow();
  [[nodiscard]] Code on_loss(const Error& loss);
  [[nodiscard]] Code on_silence();
  [[nodiscard]] Code ask_about_home();
  [[nodiscard]] int end_elsewhere();
  [[nodiscard]] Code ask_another(const std::string& why);
  [[nodiscard]] Code find_again(const Error& loss);
  [[nodiscard]] Code on_no_daemon(const std::string& loss, const Error& why);
  [[nodiscard]] Code on_unknown(const std::string& why);
  [[nodiscard]] int follow_to_end();
  [[nodiscard]] Code move(const runtime::RunMoved& moved);
  [[nodiscard]] Code follow_at(const std::vector<std::string>& endpoints);
  /// The daemon asked last, with its task and place, for a person.
  [[nodiscard]] std::string home() const;

  Session session_;
  runtime::RunRequest request_;
  JobOutput output_;
  JobReport* report_ = nullptr;
  std::function<Status(JobId)> on_start_;
  int refusals_ = 0;
  int moves_ = 0;  ///< That it was sent elsewhere since a daemon last said that the job is its own.
  /// The last output of each process that was shown.
  std::map<ProcessorId, std::uint64_t> shown_;
  int ending_ = 0;  ///< The signal that ended the job; 0: none.
  std::optional<JobId> job_;
  Instant begun_;  ///< When it got its number.
  std::optional<Duration> most_;
  bool is_late_ = false;                ///< It is being ended for that.
  std::optional<Instant> interrupted_;  ///< Twice, before the job had a number.
  bool tells_time_ = false;
  bool names_ranks_ = false;
  bool passes_input_ = false;
  std::optional<JobInput> input_;
  bool is_guest_ = false;  ///< The job goes on when this tool ends.
  bool has_ended_ = false;
  std::string reason_;
  std::optional<Instant> moved_;    ///< Since when no daemon has said that the job is its own.
  std::optional<Instant> give_up_;  ///< Searching since a loss.

  Standstill standstill_;
  Instant asks_;               ///< When all daemons are asked next whether the job goes on, ...
  Duration asks_after_{};      ///< ... and how long after that once more.
  Instant looked_;             ///< When the silence was counted last.
  Duration silence_{};         ///< Nothing has come for so long.
  Duration silence_before_{};  ///< By the count before.
  Waiting for_number_;         ///< For the job to begin.
  Waiting for_home_;           ///< For a sign of life.
  Waiting for_news_;           ///< Of a job whose home is lost.
};

}  // namespace phx::app
