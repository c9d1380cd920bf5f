#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "overlay/planners/plan.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/plan_run.h"

namespace phx::sim {

struct TrialOptions {
  overlay::Topology topology;
  std::uint64_t seed = 1;
  /// Of a broadcast's message; at least 32, because it says who sent it.
  std::size_t bytes = 64;
  std::size_t piece_bytes = std::size_t{64} << 10U;
  Duration pause = 1ms;  ///< Between two turns of a process.
  /// The mesh is left alone for so long before the job starts, which then suits the network.
  Duration learn{};
  /// What a root may send before it is given credit; as much as there is to send: credit, which no
  /// plan knows of, holds nothing up.
  std::uint64_t unasked_bytes = std::uint64_t{64} << 10U;
  /// What a root keeps for its receivers before more is refused.
  std::uint64_t outbox_bytes = std::uint64_t{1} << 30U;
  /// What a survey's patrols send would meet what is timed.
  Duration patrol = 24h;
  /// Hears of each part of a broadcast that reaches a process.
  std::function<void(Instant, MachineId, std::size_t bytes)> on_bytes = {};
  runtime::TreeSource trees = runtime::TreeSource::kLearned;
  std::uint64_t bandwidth_above = std::uint64_t{256} << 10U;  ///< See DaemonConfig.
  std::string tree_style = "learned";                         ///< Of learned trees.
  PlantedFault planted = PlantedFault::kNone;
};

/// Timed collectives in a mesh of real daemons, with one vnode at each processor and nothing else
/// going on: what plans are compared with. Not thread-safe.
class Trial {
 public:
  struct Round {
    /// Broadcasts: of each processor but the root, after the root's daemon had the first piece.
    std::map<ProcessorId, Duration> arrivals;
    /// Of the last arrival; of a reduction, until its last part is at the target's process, or
    /// at the last one if all get it.
    Duration time{};
    Meter cost;  ///< What was sent from its beginning to its end.
  };

  explicit Trial(const TrialOptions& options);

  /// The mesh forms, and all processors have their vnode. False: not within a minute.
  [[nodiscard]] bool start();
  /// The site of p1, p2, ...: the mesh numbers processors as it likes.
  [[nodiscard]] overlay::Placing placing();
  /// From now on collectives of `root` go along these trees.
  void plant(const planners::PlanTrees& trees, ProcessorId root);
  /// Empty: not everybody has it within ten minutes.
  [[nodiscard]] std::optional<Round> broadcast(ProcessorId root);
  /// From now on `root` sends broadcasts without end, as fast as there is room.
  void stream(ProcessorId root);
  /// What everybody contributes, and who gets the result.
  struct Shape {
    std::size_t elements = 1;  ///< Of 8 bytes each.
    bool to_all = false;
    bool ordered = false;  ///< Doubles, whose bits are the same in any order of arrival.
  };
  /// The result is checked by the ledger. Processes contribute at their next turns.
  [[nodiscard]] std::optional<Round> reduce(ProcessorId root, const Shape& shape);
  [[nodiscard]] std::optional<Round> reduce(ProcessorId root) { return reduce(root, Shape{}); }

  [[nodiscard]] Cluster& cluster() { return cluster_; }

 private:
  void on_arrival(Instant now, MachineId at, const runtime::ToApplication& message);
  /// The one that `processor` holds.
  [[nodiscard]] std::optional<VnodeId> vnode_of(ProcessorId processor);
  [[nodiscard]] bool has_all();

  TrialOptions options_;
  Cluster cluster_;
  Workload* job_ = nullptr;
  std::map<MachineId, Instant> firsts_;  ///< The first piece of the broadcast that is under way.
  std::map<MachineId, Instant> lasts_;
};

}  // namespace phx::sim
