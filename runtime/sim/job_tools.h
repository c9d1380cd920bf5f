#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "runtime/messages/client_messages.h"
#include "runtime/sim/agenda.h"
#include "runtime/sim/checkers.h"
#include "runtime/sim/ledger.h"
#include "runtime/sim/network_model.h"
#include "runtime/sim/sim_driver.h"
#include "runtime/sim/unread.h"
#include "runtime/sim/workload.h"

namespace phx::sim {

constexpr Duration kClientDelay = 200us;  ///< Between a tool, or a newcomer, and a daemon.

/// How the connection of a tool breaks: when its ends notice that; never, if left out.
struct ToolBreak {
  std::optional<Duration> daemon_after;
  /// Then it looks for its job, as `phoenix run` does. REQUIRES that somebody notices.
  std::optional<Duration> tool_after;
};

/// The tools of a simulation. Each starts a job and follows it to its end, wherever its home goes.
/// Not thread-safe.
class JobTools {
 public:
  struct Result {  ///< How a job ended.
    JobId job;
    std::int32_t code = 0;
    std::string reason;
  };

  /// What tools have to do with.
  struct Around {
    Agenda& agenda;
    std::deque<SimDriver>& machines;
    Checkers& checkers;
    std::function<std::optional<MachineId>()> pick_member;
    std::function<std::optional<MachineId>(const std::vector<std::string>&)> resolve;
    std::function<void(MachineId, ClientId, runtime::ClientRequest)> request;
    std::function<void(std::string_view event, const std::string& detail)> note;
  };

  JobTools(Around around, Violations& violations)
      : around_(std::move(around)), violations_(violations) {}

  // Commands.
  Workload& run(const WorkloadOptions& options, std::uint64_t seed);
  /// All do nothing for so long, as after Ctrl-Z.
  void stop(Duration duration);
  /// If it is connected now: what is sent from now on is lost. False: it is not. One that does not
  /// come back has another one follow it when its job must have ended, or waits for that.
  bool break_off(const Workload& job, const ToolBreak& how);

  // Inputs.
  /// Something on its way to a tool. False: it does not arrive now.
  bool takes(Client client, runtime::ClientReply& reply);
  void on_reply(Client client, runtime::ClientReply reply);
  void on_dropped(Client client);

  // Queries.
  [[nodiscard]] bool follows(Client client) const { return followers_.contains(client); }
  [[nodiscard]] std::vector<Client> clients_at(MachineId machine) const;
  [[nodiscard]] const std::optional<Result>& result(const Workload& job) const;
  [[nodiscard]] JobId id(const Workload& job) const;
  /// The job has ended because its tool did not come back, as it should.
  [[nodiscard]] bool has_ended_alone(const Workload& job) const;
  [[nodiscard]] std::size_t count() const { return tools_.size(); }
  [[nodiscard]] Workload* workload(std::size_t index);  ///< Null if there is none.
  [[nodiscard]] std::string missing() const;  ///< Of all jobs that go on; a line for each.

 private:
  struct Tool {
    std::unique_ptr<Workload> workload;
    std::uint64_t number = 0;  ///< It says this with each request.
    JobId job;
    std::optional<Result> result;
    std::map<ProcessorId, std::uint64_t> shown;  ///< The last output of each process.
    std::optional<Instant> moved_at;   ///< No daemon has said since then that the job is its own.
    std::optional<MachineId> lost_by;  ///< There it was followed, and its tool never came back.
  };

  [[nodiscard]] std::size_t index_of(const Workload& job) const;
  [[nodiscard]] bool is_stopped(Client client) const;  ///< Its tool is.
  void go_on();
  void start(std::size_t index);
  void find_again(std::size_t index);
  void on_break_noticed(std::size_t index, Client client);
  void on_lost(std::size_t index, Client client);
  void on_started(std::size_t index, Client client, JobId job);
  void follow(std::size_t index, MachineId at);
  void on_moved(std::size_t index, Client client, const runtime::RunMoved& moved);
  void on_refused(std::size_t index, Client client, const std::string& why);

  Around around_;
  Violations& violations_;
  std::deque<Tool> tools_;
  std::map<Client, std::size_t> followers_;
  std::map<Client, bool> broken_;  ///< And whether the daemon has dropped it.
  Instant go_on_at_{};
  Unread unread_;
};

}  // namespace phx::sim
