#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "overlay/base/ids.h"
#include "runtime/daemon.h"
#include "runtime/sim/agenda.h"
#include "runtime/sim/ledger.h"
#include "runtime/sim/network.h"
#include "runtime/sim/sim_driver.h"

namespace phx::sim {

/// Looks at the daemons of a simulation from outside, after every step: agreement on views, one
/// owner per vnode, invariants, limits. What the applications see is the Ledger's business.
/// Not thread-safe.
class Checkers {
 public:
  struct Options {
    /// Steps between two looks at all owners; in large meshes more, for a look costs the square.
    std::uint64_t owners_every = 64;
    /// Steps of one daemon between two looks inside it; in large meshes more, for a look costs N.
    std::uint64_t invariants_every = 16;
    std::size_t frames_max = 2'000'000;  ///< Under way at once [limit].
    bool may_split = false;  ///< Parts of the mesh put each other out: their views differ.
  };

  Checkers(const Options& options, const std::deque<SimDriver>& machines, const Network& network,
           Violations& violations)
      : options_(options), machines_(machines), network_(network), violations_(violations) {}

  /// A daemon has had an input.
  void on_step(MachineId machine);
  /// A job to watch the owners of.
  void watch(JobId job) { jobs_.insert(job); }
  void forget(JobId job) { jobs_.erase(job); }

  /// When `job` has just ended, and nothing of it moves: every member knows the owner of each
  /// vnode.
  void check_owners_known(JobId job);
  // At the end, when nothing is supposed to be under way.
  /// All running daemons have the same members; every vnode of `job` has one owner.
  void check_settled(JobId job, std::uint64_t vnodes);
  [[nodiscard]] bool do_views_agree() const;
  /// A counter that daemons show: the sum of all that run.
  [[nodiscard]] std::uint64_t counted(std::string_view counter) const;

 private:
  struct Seen {
    ViewNumber view = 0;
    std::uint64_t steps = 0;
  };

  /// A view, but for the numbers that come next, as these machines had it. A view that its
  /// coordinator did not live to tell to any who stay may be made once more, differently.
  struct Variant {
    runtime::View view;
    std::set<MachineId> holders;
  };

  [[nodiscard]] std::uint64_t factor() const;
  [[nodiscard]] std::uint64_t owners_period() const;
  [[nodiscard]] static bool is_alike(const runtime::View& one, const runtime::View& other);
  void check_view(MachineId machine, const runtime::Daemon& daemon);
  void check_owners();

  Options options_;
  const std::deque<SimDriver>& machines_;
  const Network& network_;
  Violations& violations_;
  std::map<MachineId, Seen> seen_;
  std::map<ViewNumber, std::vector<Variant>> views_;
  std::set<JobId> jobs_;
  std::uint64_t steps_ = 0;
};

}  // namespace phx::sim
