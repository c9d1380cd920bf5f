#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "runtime/messages/job_messages.h"

// What daemons say to each other for tools.
namespace phx::runtime {

/// What the process of a job at one daemon has done since it attached.
struct JobFigures {
  std::uint64_t messages = 0;   ///< Sent: to vnodes, broadcasts, contributions.
  std::uint64_t bytes = 0;      ///< In the first two.
  std::uint64_t moves = 0;      ///< Vnodes that came here from other processors.
  std::uint64_t waited_ms = 0;  ///< In calls that waited; of all its threads.
  std::uint64_t silent_ms = 0;  ///< Since it last said anything to its daemon.
  friend bool operator==(const JobFigures&, const JobFigures&) = default;
};
/// What one vnode has done at one daemon, until it moved on.
struct VnodeFigures {
  VnodeId vnode;
  std::uint64_t messages = 0;   ///< Sent: to vnodes, and broadcasts.
  std::uint64_t bytes = 0;      ///< In these.
  std::uint64_t moves = 0;      ///< It came here from another processor.
  std::uint64_t waited_ms = 0;  ///< In calls that received at it.
  friend bool operator==(const VnodeFigures&, const VnodeFigures&) = default;
};
/// One job as one daemon sees it.
struct JobStatus {
  JobId job;
  std::string name;
  ProcessorId home;
  Stage stage = Stage::kNone;  ///< Of the process at this daemon.
  VnodeSet held;               ///< By this daemon.
  std::uint64_t vnodes = 0;    ///< Of the whole job.
  std::uint64_t parked = 0;    ///< Deliveries that wait for a vnode to arrive.
  std::string waiting;         ///< What the daemon waits for; "" = nothing.
  std::string process_waits;   ///< What a call of the process waits for; "" = it is in none.
  bool is_held_up = false;     ///< The process may not go on before its output is read.
  std::string ends_because;    ///< Why the job has failed; "" = it goes on, or has ended well.
  JobFigures figures;
  /// If the question was for them: of those that did most here, in ascending order.
  std::vector<VnodeFigures> vnode_figures{};
  friend bool operator==(const JobStatus&, const JobStatus&) = default;
};
struct Counter {
  std::string name;
  std::uint64_t value = 0;
  friend bool operator==(const Counter&, const Counter&) = default;
};
/// `peer` is reached only through `via`.
struct DetourStatus {
  ProcessorId peer;
  ProcessorId via;
  friend bool operator==(const DetourStatus&, const DetourStatus&) = default;
};
/// What one daemon knows of one tree: its part of a TreeView.
struct TreeStatus {
  TreeId tree;
  ProcessorId parent = kNobody;
  std::vector<ProcessorId> children;  ///< In the order in which they are served.
  Duration distance_to_root{};        ///< Sum of round trips.
  friend bool operator==(const TreeStatus&, const TreeStatus&) = default;
};
struct ProcessorStatus {
  ProcessorId id;
  ViewNumber view = 0;
  std::uint64_t links = 0;
  std::uint64_t trees = 0;
  std::vector<JobStatus> jobs;
  std::vector<Counter> counters;
  std::vector<DetourStatus> detours;
  std::vector<TreeStatus> asked_trees{};  ///< If the question was for some: as it knows them.
  std::string leaving_waits_for{};        ///< Besides what its jobs wait for; empty: nothing.
  friend bool operator==(const ProcessorStatus&, const ProcessorStatus&) = default;
};
/// The trees that collectives of `root` take now for messages of this class; of nobody: none.
struct TreeQuestion {
  ProcessorId root = kNobody;
  SizeClass size = 0;
  friend bool operator==(const TreeQuestion&, const TreeQuestion&) = default;
};
/// How are you? Answered by StatusAnswer.
struct StatusQuestion {
  std::uint64_t request = 0;
  JobId job{};           ///< Not 0: with figures of its vnodes.
  TreeQuestion trees{};  ///< With what it knows of these.
  friend bool operator==(const StatusQuestion&, const StatusQuestion&) = default;
};
struct StatusAnswer {
  std::uint64_t request = 0;
  ProcessorStatus status;
  friend bool operator==(const StatusAnswer&, const StatusAnswer&) = default;
};
/// Leave the mesh in good order.
struct DrainOrder {
  friend bool operator==(const DrainOrder&, const DrainOrder&) = default;
};
/// The mesh ends: every daemon ends its jobs and itself. The coordinator passes it on to those who
/// are not `told`, because they came meanwhile, and lets nobody in any more.
struct DownOrder {
  ProcessorSet told;
  std::string why;  ///< Empty: somebody wants it. Else daemons end as after a failure.
  friend bool operator==(const DownOrder&, const DownOrder&) = default;
};

}  // namespace phx::runtime
