#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "overlay/base/rng.h"
#include "overlay/base/time.h"
#include "runtime/sim/cluster.h"

namespace phx::sim {

/// How often what happens to a mesh, as mean times between two of a kind; zero: never.
struct FaultOptions {
  Duration joins{};
  Duration drains{};
  Duration releases{};     ///< Applications give up vnodes, and others assume them.
  Duration breaks{};       ///< Connections break; both ends notice, late and unequally.
  Duration half_opens{};   ///< ... one end never notices.
  Duration spikes{};       ///< Latencies between two sites grow for a while.
  Duration slow_downs{};   ///< Processors become slow for a while.
  Duration freezes{};      ///< Daemons do nothing for a while, too short to be declared dead.
  Duration kills{};        ///< Daemons die.
  Duration losses{};       ///< Whole machines vanish.
  /// Daemons die that hold nothing of any job, and whole machines; some while they leave.
  Duration idle_deaths{};
  Duration partitions{};  ///< A part of the machines is cut off for a while, too short for a death.
  /// Two machines do not reach each other for up to `barred_max`: refused or unanswered, one way or
  /// both, or cut off from each other. Each machine is barred from `bars_each` others at most.
  Duration bars{};
  Duration barred_max = 60s;
  std::size_t bars_each = 2;
  /// A firewall refuses all connections of a machine, or all of its own, too briefly for a death.
  Duration refusals{};
  /// Nothing passes between two sites for up to `barred_max`, one pair of sites at a time; a third
  /// one with two members at least reaches both.
  Duration way_cuts{};
  Duration tool_stops{};   ///< Tools do nothing for a while.
  Duration tool_breaks{};  ///< Connections of tools break; they come back within 15 s.
  Duration tool_losses{};  ///< ... they do not, and later another one looks for the job.
  std::uint32_t members_min = 2;
  std::uint32_t members_max = 32;

  /// Joins, drains, moves, breaks, half-open links, spikes and slow processors: all that a job
  /// must survive without a difference in its results.
  [[nodiscard]] static FaultOptions churn();
};

/// Lets these things happen to a cluster, at times drawn from the seed. Not thread-safe.
class Faults {
 public:
  Faults(Cluster& cluster, const FaultOptions& options, Rng rng);

  /// Begins.
  void start();
  /// Nothing new happens from now on, and what was disturbed heals.
  void stop();
  /// Processors that were killed.
  [[nodiscard]] std::uint64_t deaths() const { return deaths_; }

 private:
  using Happening = void (Faults::*)();
  void repeat(Duration mean, Happening happening);
  void join();
  void drain();
  void release();
  void break_link();
  void half_open();
  void spike();
  void slow_down();
  void freeze();
  void kill();
  void lose();
  void kill_one(bool lost);
  void kill_idle();
  void cut_off();
  void bar();
  void refuse();
  void cut_way();
  void stop_tools();
  void break_tool();
  void lose_tool();
  [[nodiscard]] std::vector<MachineId> staying_at(std::size_t site) const;
  [[nodiscard]] bool is_between(MachineId machine) const;
  [[nodiscard]] MachineId pick(const std::vector<MachineId>& from);
  [[nodiscard]] Duration draw(Duration most);

  Cluster& cluster_;
  FaultOptions options_;
  Rng rng_;
  std::map<MachineId, std::set<MachineId>> barred_;  ///< From whom.
  std::set<std::size_t> between_;  ///< The site between the two whose way is cut; or empty.
  bool is_on_ = false;
  std::uint64_t deaths_ = 0;
};

}  // namespace phx::sim
