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
#include "runtime/messages/config.h"
#include "runtime/messages/job_outbox.h"

namespace phx::runtime {

/// One job's processes: the one at this processor (start, attach, finish, exit), what is known of
/// the others, and, at the job's *home*, the duty to collect output and exits, to tell everybody
/// who takes part, and to decide when the job is over. States are drawn in runtime/README.md.
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
  void on_taken(const Surroundings& around, const OutputTaken& taken, JobOutbox& out);
  void on_home(const Surroundings& around, const JobHome& home, JobOutbox& out);
  void on_signal(const JobSignal& signal, JobOutbox& out);
  void on_end(const Surroundings& around, const JobEnd& end, JobOutbox& out);
  /// `lost`: what went with it, for people; empty: nothing that matters.
  void on_gone(const Surroundings& around, const ViewChange::Gone& gone, const std::string& lost,
               JobOutbox& out);

  // Inputs: tools, timers.
  void on_follower(const Surroundings& around, ClientId client, JobOutbox& out);
  /// It has taken all that it was sent. False: it does not follow this job.
  bool on_follower_took(const Surroundings& around, ClientId client, JobOutbox& out);
  /// `why`: the driver gave it up for that; empty: it went away.
  void on_follower_down(const Surroundings& around, ClientId client, const std::string& why,
                        JobOutbox& out);
  void on_timer(const Surroundings& around, const JobTimer& timer, JobOutbox& out);

  // Commands.
  /// Starts the process here if it should run and does not.
  void consider_start(const Surroundings& around, JobOutbox& out);
  /// Tells the process to end if it will get no vnodes any more. `idle`: it has none.
  void consider_retire(const Surroundings& around, bool idle, JobOutbox& out);
  /// Gives the home's duty away, if this processor has it and another can take it.
  void pass_home_on(const Surroundings& around, JobOutbox& out);
  /// Says that the job is over: to everybody, or to those who will.
  void tell_end(const Surroundings& around, const JobEnd& end, JobOutbox& out) const;
  /// Ends the job everywhere. `reason` empty: it ended well.
  void end(const Surroundings& around, std::int32_t code, std::string reason, JobOutbox& out);

  // Queries.
  [[nodiscard]] JobId id() const { return start_.job; }
  [[nodiscard]] const JobStart& start() const { return start_; }
  [[nodiscard]] ProcessorId home() const { return home_; }
  [[nodiscard]] JobHome home_statement() const {
    return {id(), home_, moves_, stages_, output_.counts()};
  }
  [[nodiscard]] Stage stage() const { return stage_; }
  [[nodiscard]] std::optional<ApplicationId> application() const { return application_; }
  [[nodiscard]] const std::optional<JobEnd>& ended() const { return ended_; }
  /// Processors whose application has attached and is not done.
  [[nodiscard]] ProcessorSet ready() const;
  /// The application is done somewhere: the job is about to end well.
  [[nodiscard]] bool is_ending() const;
  /// A process of the job runs here, or is being started.
  [[nodiscard]] bool is_running() const {
    return stage_ != Stage::kNone && stage_ != Stage::kExited;
  }
  /// Its process here cannot go on before the tool has read more.
  [[nodiscard]] bool is_held_up() const { return output_.is_held_up(); }
  [[nodiscard]] std::string waiting() const;

 private:
  [[nodiscard]] bool is_chosen(const Surroundings& around) const;
  void become(const Surroundings& around, Stage stage, Exit exit, JobOutbox& out);
  /// Tells the home the stage of the process here.
  void report_stage(const Surroundings& around, JobOutbox& out);
  void learn(const Surroundings& around, ProcessorId processor, const JobStage& stage);
  /// At the home: the tool that shows the output is here, unless there is none.
  [[nodiscard]] bool is_followed() const { return start_.spec.command.empty() || output_.tool(); }
  void decide(const Surroundings& around, JobOutbox& out);
  [[nodiscard]] bool may_output_come(const Surroundings& around) const;
  void announce_stages(const Surroundings& around, JobOutbox& out);
  [[nodiscard]] std::string describe(const Surroundings& around, ProcessorId processor) const;
  void tell_followers(JobOutbox& out);

  ProcessorId self_;
  JobStart start_;
  DaemonConfig config_;
  ProcessorId home_;
  ProcessorId home_before_;  ///< As far as this processor has heard.
  std::uint64_t moves_ = 0;  ///< How often the home has moved.
  Stage stage_ = Stage::kNone;
  std::uint64_t changes_ = 0;  ///< Of the stage here.
  std::optional<ApplicationId> application_;
  bool has_process_ = false;  ///< The daemon started it (else it attached by itself).
  bool is_retired_ = false;
  bool is_signalled_ = false;  ///< Was told to end by a signal, before it attached.
  bool attached_once_ = false;
  std::string app_waiting_;
  std::map<ProcessorId, JobStage> stages_;  ///< Of all processors, this one included.
  ProcessorSet unannounced_;                ///< At the home: changed since the last statement.
  JobOutput output_;
  std::optional<JobEnd> ended_;
};

}  // namespace phx::runtime
