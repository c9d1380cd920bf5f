#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/jobs/job_backlog.h"
#include "runtime/jobs/job_history.h"
#include "runtime/jobs/job_life.h"
#include "runtime/jobs/job_meter.h"
#include "runtime/jobs/job_traffic.h"
#include "runtime/messages/client_messages.h"
#include "runtime/messages/config.h"
#include "runtime/messages/job_outbox.h"

namespace phx::runtime {

/// All jobs at one processor: finds the job an input belongs to, keeps what came for one that is
/// not known here yet, and remembers which are over. Not thread-safe.
class Jobs {
 public:
  Jobs(ProcessorId self, const DaemonConfig& config);

  // Inputs: announcements and messages of other processors.
  void on_birth(const IntervalSet<JobId>& over, const std::vector<JobEnd>& ends);  ///< By then.
  void on_start(const Surroundings& around, ProcessorId from, const JobStart& start,
                JobOutbox& out);
  /// There is no number for a job that was asked for here.
  void on_refused(ProcessorId from, const JobRefused& refused, JobOutbox& out);
  void on_end(const Surroundings& around, const JobEnd& end, JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, JobMessage&& message,
                  JobOutbox& out);
  void on_view(const Surroundings& around, const std::vector<SharedMember>& joined,
               const std::vector<ViewChange::Gone>& gone, JobOutbox& out);
  void on_tree_changed(const Surroundings& around, TreeId tree, JobOutbox& out);
  void on_leaving(const Surroundings& around, JobOutbox& out);
  /// A copy of a broadcast was dropped: too many wait for `peer`, of which that may be said again.
  void on_dropped(const CollectiveMessage& copy, ProcessorId peer);
  void on_relieved(ProcessorId peer, JobOutbox& out);
  void on_timer(const Surroundings& around, const JobTimer& timer, JobOutbox& out);

  // Inputs: applications and processes here.
  void on_app_message(const Surroundings& around, ApplicationId application, ToDaemon message,
                      JobOutbox& out);
  void on_app_down(const Surroundings& around, ApplicationId application, JobOutbox& out);
  void on_process_ended(const Surroundings& around, JobId job, const Exit& exit, JobOutbox& out);
  void on_output(const Surroundings& around, Output output, JobOutbox& out);

  // Inputs: tools.
  void run(const Surroundings& around, ClientId client, RunRequest asks, JobOutbox& out);
  void follow(const Surroundings& around, ClientId client, const FollowRequest& request,
              JobOutbox& out);
  void signal(const Surroundings& around, ClientId client, const SignalRequest& request,
              JobOutbox& out);
  void input(const Surroundings& around, ClientId client, InputRequest request, JobOutbox& out);
  void on_input_taken(const InputTaken& taken, JobOutbox& out);  ///< By the process here.
  void on_client_took(const Surroundings& around, ClientId client, JobOutbox& out);  ///< All.
  void on_client_down(const Surroundings& around, ClientId client, const ClientEnd& end,
                      JobOutbox& out);
  /// Ends all jobs, for this reason.
  void end_all(const Surroundings& around, const std::string& reason, JobOutbox& out);
  /// The others have declared this processor dead: ends all jobs here, and says what was lost.
  void on_fenced(const Surroundings& around, const std::string& why, JobOutbox& out);

  // Queries.
  [[nodiscard]] bool has_vnodes() const;  ///< Some that it would have to give away.
  [[nodiscard]] bool is_empty() const;    ///< Nothing keeps a leaver here any more.
  [[nodiscard]] bool is_idle() const;     ///< No job runs, here or elsewhere.
  [[nodiscard]] std::vector<JobStatus> status(const Surroundings& around, JobId with_vnodes) const;
  /// So many of `among`: where the fewest processes of jobs run, of equals the oldest.
  [[nodiscard]] ProcessorSet least_busy(const ProcessorSet& among, std::uint64_t count) const;
  /// For a newcomer: jobs that are not over, their maps and homes.
  void describe(JoinReply& reply) const;
  [[nodiscard]] VnodeSet owned(JobId job) const;
  [[nodiscard]] bool is_held(JobId job, VnodeId vnode) const;  ///< By the process here.
  [[nodiscard]] std::vector<Route> owners(JobId job) const;    ///< Of all its vnodes.
  /// Of all jobs, also of those that are over.
  [[nodiscard]] TrafficCounters counters() const {
    TrafficCounters sum = counters_;
    for (const auto& [job, entry] : jobs_) sum += entry->traffic.counters();
    return sum;
  }
  /// On their way to whom something was dropped.
  [[nodiscard]] const ProcessorSet& dropped_for() const { return dropped_for_; }
  void check_invariants(const std::function<bool(const JobTimer&)>& is_armed,
                        const ProcessorSet& there) const;

 private:
  struct Entry {
    Entry(ProcessorId self, const JobStart& start, const DaemonConfig& config)
        : life(self, start, config), traffic(self, start, config), meter(start.spec.vnodes) {}
    JobLife life;
    JobTraffic traffic;
    JobMeter meter;
    std::optional<ClientId> feeder;               ///< The tool that gave input last.
    std::map<ProcessorId, Instant> passed;        ///< When vnodes last came from these.
    std::map<ProcessorId, DroppedCasts> dropped;  ///< On the way to these.
  };
  /// A job that was asked for here, and has no number yet.
  struct Asked {
    JobSpec spec;
    std::optional<Tool> tool;                 ///< Follows the job.
    std::vector<ApplicationId> applications;  ///< Embedded ones that wait for it.
    ProcessorId asked;                        ///< The coordinator that was asked last.
  };
  void dispatch(const Surroundings& around, ProcessorId from, Entry& entry, JobMessage&& message,
                JobOutbox& out);
  /// A number came for a job that was asked for here: tells everybody, if somebody still waits.
  [[nodiscard]] bool announce(const Surroundings& around, const JobStart& start, JobOutbox& out);
  /// At the home: to those who have not heard of the job, perhaps.
  void introduce(const Entry& entry, const ProcessorSet& to, bool is_new_home, JobOutbox& out);
  void tell_all(const Surroundings& around, const JobEnd& end, JobOutbox& out);
  void on_unknown(const Surroundings& around, ProcessorId from, JobMessage message, JobOutbox& out);
  [[nodiscard]] std::string lost_with(const Surroundings& around, const Entry& entry,
                                      ProcessorId gone) const;
  /// To a new coordinator: it must know all owners, for those who ask a processor that is gone.
  void report_holdings(const Surroundings& around, JobOutbox& out);
  void attach(const Surroundings& around, ApplicationId application, const AppAttach& m,
              JobOutbox& out);
  void refuse(ApplicationId application, std::string why, JobOutbox& out) const;
  void refuse(ClientId client, std::string why, JobOutbox& out) const;
  void refuse(const Asked& asked, const std::string& why, JobOutbox& out) const;
  void request_job(const Surroundings& around, std::uint64_t request, JobOutbox& out);
  /// Ends the job here, and tells nobody else.
  void end_here(const Surroundings& around, const JobEnd& end, JobOutbox& out);
  /// After every input to a job: what follows from it.
  void settle(const Surroundings& around, JobId job, JobOutbox& out);
  [[nodiscard]] Entry* find(JobId job);

  ProcessorId self_;
  DaemonConfig config_;
  std::map<JobId, std::unique_ptr<Entry>> jobs_;
  std::map<ApplicationId, JobId> applications_;
  JobBacklog early_;
  JobHistory history_;
  ProcessorId coordinator_;   ///< That knows what this processor holds.
  ProcessorSet dropped_for_;
  TrafficCounters counters_;  ///< Without what the jobs here count.
  std::uint64_t next_request_ = 1;
  std::map<std::uint64_t, Asked> asked_;
};

}  // namespace phx::runtime
