#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "overlay/planners/network_plans.h"
#include "runtime/sim/agenda.h"
#include "runtime/sim/checkers.h"
#include "runtime/sim/job_tools.h"
#include "runtime/sim/network.h"
#include "runtime/sim/sim_driver.h"
#include "runtime/sim/transcript.h"
#include "runtime/sim/unread.h"
#include "runtime/sim/workload.h"

namespace phx::sim {

struct ClusterOptions {
  overlay::Topology topology;
  std::uint64_t seed = 1;
  double jitter = 0.0;             ///< Of latencies: see NetworkModel.
  std::uint32_t daemons_each = 1;  ///< So many in a row have one address, as on one real machine.
  runtime::DaemonConfig daemon;
  MachineOptions machine;
  Checkers::Options checks;
  bool keeps_lines = false;  ///< Of the transcript.
  bool has_debug_notes = false;
};

/// A mesh of real daemons with synthetic jobs on a simulated network, in virtual time. The seed
/// decides everything, so a run repeats itself exactly. Not thread-safe.
class Cluster {
 public:
  using JobResult = JobTools::Result;  ///< How a job started here ended.

  explicit Cluster(ClusterOptions options);
  Cluster(const Cluster&) = delete;
  /// A machine of `site` starts: the first one ever is the mesh; others ask a member for entry.
  MachineId add_machine(std::size_t site);
  void add_all();  ///< All machines that the topology counts.
  void drain(MachineId machine);
  /// A tool asks the daemon at `at` to have `machine` drained.
  void order_drain(MachineId at, MachineId machine);
  void order_down(MachineId at);  ///< The same for the whole mesh.
  /// The daemon ends at once; `lost`: the whole machine does, so that nobody hears of it.
  void kill(MachineId machine, bool lost);
  void freeze(MachineId machine, Duration duration);
  void cut_off(std::set<MachineId> side);
  void heal();

  /// Starts a job through a random member. Its plan lives as long as the cluster.
  Workload& run_job(const WorkloadOptions& options);
  /// Empty while it runs.
  [[nodiscard]] const std::optional<JobResult>& result(const Workload& job) const {
    return tools_.result(job);
  }
  [[nodiscard]] JobId id(const Workload& job) const { return tools_.id(job); }
  /// All tools do nothing for so long, as after Ctrl-Z.
  void stop_tools(Duration duration);

  // Time.
  void run_for(Duration duration);
  /// Runs until `is_done()`; false: not within `bound`, or too many steps.
  bool run_until(const std::function<bool()>& is_done, Duration bound);
  bool stabilize(Duration bound);  ///< Until all machines have come in and agree.

  // Queries.
  [[nodiscard]] Instant now() const { return agenda_.now(); }
  [[nodiscard]] Agenda& agenda() { return agenda_; }
  [[nodiscard]] Network& network() { return network_; }
  [[nodiscard]] NetworkModel& model() { return model_; }
  [[nodiscard]] Transcript& transcript() { return transcript_; }
  [[nodiscard]] Checkers& checkers() { return checkers_; }
  [[nodiscard]] JobTools& tools() { return tools_; }
  [[nodiscard]] Violations& violations() { return violations_; }
  [[nodiscard]] SimDriver& machine(MachineId id) { return machines_[id.value]; }
  [[nodiscard]] const std::deque<SimDriver>& machines() const { return machines_; }
  [[nodiscard]] std::vector<MachineId> running() const;
  /// Those of them that have not been told to leave.
  [[nodiscard]] std::vector<MachineId> staying() const;
  [[nodiscard]] std::optional<MachineId> find(ProcessorId processor) const;
  /// The processors that daemons named when they ended jobs.
  [[nodiscard]] const std::set<std::string>& blamed() const { return blamed_; }
  /// Who was put out before it had left, as others say.
  [[nodiscard]] const std::set<std::string>& put_out() const { return put_out_; }
  /// Daemons that gave up: who, and what they said.
  [[nodiscard]] const std::map<std::string, std::string>& gave_up() const { return gave_up_; }
  /// Was killed, or its machine lost.
  [[nodiscard]] bool has_died(const std::string& name) const { return dead_.contains(name); }
  [[nodiscard]] bool is_joining() const { return !joining_.empty(); }
  /// What every daemon says it waits for.
  [[nodiscard]] std::string describe() const;

 private:
  [[nodiscard]] SimDriver::Outside make_outside();
  [[nodiscard]] JobTools::Around around_tools();
  [[nodiscard]] std::optional<MachineId> pick_member(std::optional<MachineId> asker = {});
  void ask_for_entry(MachineId newcomer);
  void on_reply(MachineId at, ClientId client, runtime::ClientReply reply);
  void on_join_reply(MachineId newcomer, runtime::JoinReply reply);
  void on_client_dropped(MachineId at, ClientId client);
  void request(MachineId at, ClientId client, runtime::ClientRequest request);
  void on_stopped(MachineId at, const runtime::Stop& stop);
  void drop_clients(MachineId at);
  [[nodiscard]] std::string name_of(MachineId machine) const;
  void note(MachineId machine, std::string_view event, const std::string& detail);

  ClusterOptions options_;
  Rng rng_;
  Agenda agenda_;
  NetworkModel model_;
  Network network_;
  SimDriver::Outside outside_;
  std::shared_ptr<planners::PlanStore> plans_ = std::make_shared<planners::PlanStore>();
  std::deque<SimDriver> machines_;
  Violations violations_;
  Transcript transcript_;
  Checkers checkers_;
  std::set<MachineId> joining_, leaving_;
  std::map<Client, MachineId> newcomers_;  ///< Who asks through this connection.
  std::map<Client, MachineId> orders_;     ///< Whom a tool wants to be drained.
  JobTools tools_;
  std::set<std::string> blamed_, put_out_, dead_, left_;
  std::map<std::string, std::string> gave_up_;
  bool is_going_down_ = false;
};

}  // namespace phx::sim
