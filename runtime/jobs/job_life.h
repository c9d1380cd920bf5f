#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "runtime/jobs/job_output.h"
#include "runtime/jobs/job_traffic.h"
#include "runtime/jobs/stage_table.h"
#include "runtime/messages/client_end.h"
#include "runtime/messages/config.h"
#include "runtime/messages/job_outbox.h"

namespace phx::runtime {

/// One job's processes: the one at this processor (start, attach, finish, exit), what is known of
/// the others, and, at the job's *home*, the duty to collect output and exits, to tell everybody
/// who takes part, and to decide when the job is over. States are drawn in the README.
/// Not thread-safe.
class JobLife {
 public:
  JobLife(ProcessorId self, JobStart start, const DaemonConfig& config);

  // Inputs: the process here.
  void on_attached(const Surroundings& around, ApplicationId application, JobOutbox& out);
  void on_finish(const Surroundings& around, const AppFinish& finish, JobOutbox& out);
  void on_exit(const Surroundings& around, Exit exit, JobOutbox& out);
  void on_written(const Surroundings& around, Output output, JobOutbox& out);
  void on_waiting(std::string what) { app_waiting_ = std::move(what); }

  // Inputs: other processors.
  void on_stage(const Surroundings& around, ProcessorId from, JobStage stage, JobOutbox& out);
  void on_output(const Surroundings& around, Output output, JobOutbox& out);
  void on_taken(const Surroundings& around, ProcessorId from, const OutputTaken& taken,
                JobOutbox& out);
  void on_home(const Surroundings& around, ProcessorId from, const JobHome& home, JobOutbox& out);
  void on_signal(const JobSignal& signal, JobOutbox& out);
  void on_end(const Surroundings& around, const JobEnd& end, JobOutbox& out);
  /// `lost`: what went with it, for people; empty: nothing that matters.
  void on_gone(const Surroundings& around, const ViewChange::Gone& gone, const std::string& lost,
               JobOutbox& out);
  /// After every view, and when the job becomes known here. True: the home is here from now on.
  [[nodiscard]] bool on_view(const Surroundings& around, JobOutbox& out);

  // Inputs: tools, timers.
  /// `shown`: the last outputs that it has.
  void on_follower(const Surroundings& around, const Tool& tool, const JobOutput::Numbers& shown,
                   JobOutbox& out);
  /// It has taken all that it was sent. False: it does not follow this job.
  bool on_follower_took(const Surroundings& around, ClientId client, JobOutbox& out);
  void on_follower_down(const Surroundings& around, ClientId client, const ClientEnd& how,
                        JobOutbox& out);
  void on_timer(const Surroundings& around, const JobTimer& timer, JobOutbox& out);

  // Commands.
  /// At the home: tells those that are to start the program and do not yet. `told`: those that are
  /// told all stages anyway.
  void choose(const Surroundings& around, const ProcessorSet& told, JobOutbox& out);
  /// Starts the process here if it is chosen and does not run.
  void consider_start(const Surroundings& around, JobOutbox& out);
  /// Tells the process to end if it will get no vnodes any more. `idle`: it has none.
  void consider_retire(const Surroundings& around, bool idle, JobOutbox& out);
  /// Says that the job is over: to everybody, or to those who will.
  void tell_end(const Surroundings& around, const JobEnd& end, JobOutbox& out) const;
  /// Ends the job everywhere. `reason` empty: it ended well.
  void end(const Surroundings& around, std::int32_t code, std::string reason, JobOutbox& out);

  // Queries.
  [[nodiscard]] bool has_process() const { return has_process_; }  ///< The daemon started it.
  [[nodiscard]] JobId id() const { return start_.job; }
  [[nodiscard]] const JobStart& start() const { return start_; }
  [[nodiscard]] ProcessorId home() const { return home_; }
  [[nodiscard]] JobHome home_statement(bool is_new) const;
  [[nodiscard]] Stage stage() const { return stage_; }
  [[nodiscard]] std::optional<ApplicationId> application() const { return application_; }
  [[nodiscard]] const std::optional<JobEnd>& ended() const { return ended_; }
  /// Processors whose application has attached and is not done.
  [[nodiscard]] ProcessorSet ready() const { return stages_.ready(); }
  /// Processors where a process runs, or is being started; at the home all of them.
  [[nodiscard]] ProcessorSet taking_part() const { return stages_.taking_part(); }
  /// The application is done somewhere: the job is about to end well.
  [[nodiscard]] bool is_ending() const { return ended_ || stages_.is_ending(); }
  /// A process of the job runs here, or is being started.
  [[nodiscard]] bool is_running() const;
  [[nodiscard]] bool is_retired() const { return is_retired_; }  ///< It was told to end.
  /// The process here, now or later, is the one that gets the job's standard input.
  [[nodiscard]] bool has_input() const { return start_.spec.has_input && first() == self_; }
  /// Its process here cannot go on before the tool has read more.
  [[nodiscard]] bool is_held_up() const { return output_.is_held_up(); }
  /// The tool has all that its process here wrote: a leaver may go.
  [[nodiscard]] bool is_read() const { return output_.taken() == output_.written(); }
  [[nodiscard]] std::string waiting(const Surroundings& around) const;
  [[nodiscard]] const std::string& process_waits() const { return app_waiting_; }

 private:
  [[nodiscard]] ProcessorId first() const;  ///< Begins with v0.
  void become(const Surroundings& around, Stage stage, Exit exit, JobOutbox& out);
  void tell_place(const Surroundings& around, JobOutbox& out);
  /// Tells the home the stage of the process here, which is a new one.
  void report_change(const Surroundings& around, JobOutbox& out);
  void report_stage(ProcessorId home, JobOutbox& out);
  [[nodiscard]] ProcessorId home_in(const Surroundings& around) const;
  void take_home(const Surroundings& around, JobOutbox& out);
  void give_home_up(const Surroundings& around, JobOutbox& out);
  void send_elsewhere(const Surroundings& around, ClientId tool, JobOutbox& out) const;
  [[nodiscard]] JobHome statement_of(const ProcessorSet& processors) const;
  /// At the home: the tool that shows the output is here, unless there is none.
  [[nodiscard]] bool is_followed() const { return start_.spec.command.empty() || output_.tool(); }
  void decide(const Surroundings& around, JobOutbox& out);
  /// At the home: what the processes here had written before their stages, the tool was given.
  [[nodiscard]] bool has_all_come(const Surroundings& around) const;
  /// `is_joint`: some have attached, so an exit with 0 of a process that never did is one, too.
  [[nodiscard]] std::optional<JobEnd> failure_at(const Surroundings& around, ProcessorId processor,
                                                 bool is_joint) const;
  void announce_later(const Surroundings& around, ProcessorId changed, JobOutbox& out);
  void announce_stages(const Surroundings& around, JobOutbox& out);
  [[nodiscard]] std::string describe(const Surroundings& around, ProcessorId processor) const;
  void tell_followers(JobOutbox& out);

  ProcessorId self_;
  JobStart start_;
  DaemonConfig config_;
  ProcessorId duty_;               ///< Home in the latest view here.
  ProcessorId home_;               ///< In the latest view that was heard of: where reports go.
  ViewNumber home_view_ = 0;       ///< Its number.
  ProcessorSet unheard_;           ///< At a new home: who has not reported yet.
  ProcessorId before_;             ///< At a new home: the one before.
  Stage stage_ = Stage::kNone;
  std::uint64_t changes_ = 0;  ///< Of the stage here.
  std::optional<ApplicationId> application_;
  bool has_process_ = false;
  bool is_retired_ = false;
  bool is_signalled_ = false;  ///< Was told to end by a signal, before it attached.
  std::optional<Exit> abort_;  ///< Asked for by the process here, which is to end.
  bool attached_once_ = false;
  bool is_one_machine_ = false;  ///< What the application was told.
  std::string app_waiting_;
  StageTable stages_;
  ProcessorSet unannounced_;  ///< At the home: changed since the last statement.
  Instant announced_by_{};    ///< Then at the latest.
  JobOutput output_;
  bool was_followed_ = false;  ///< A tool was here.
  std::optional<JobEnd> ended_;
};

}  // namespace phx::runtime
