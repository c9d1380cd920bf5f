#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/sim/cluster.h"
#include "runtime/sim/faults.h"
#include "runtime/sim/meter.h"

namespace phx::sim {

/// A run under load and faults, which must end well whatever the seed.
struct ChurnOptions {
  std::optional<overlay::Topology> topology;     ///< Instead of the next two.
  std::vector<std::uint32_t> sites = {8, 6, 6};  ///< Processors at the beginning.
  Duration wan_latency = 10ms;                   ///< One way, between two sites.
  /// Its windows, and the next two lines, are what half of the runs have; the others draw small
  /// ones.
  WorkloadOptions workload;
  std::uint64_t flow_bytes_max = std::uint64_t{32} << 20U;  ///< Of the daemons.
  std::uint64_t copy_bytes_max = std::uint64_t{7} << 19U;
  /// A quarter of the runs have these; the others draw smaller ones, so that a state takes several.
  std::string tree_style = "learned";  ///< Of its jobs.
  std::uint32_t state_receivers = 0;   ///< Of the daemons.
  double long_share = 1.0 / 3;         ///< Of the seeds have reductions that go along long trees.
  std::uint64_t state_piece_bytes = std::uint64_t{256} << 10U;
  std::uint64_t state_window_bytes = std::uint64_t{1} << 20U;
  /// Further jobs, and how long after the first one each of them begins.
  std::vector<std::pair<Duration, WorkloadOptions>> more_jobs;
  FaultOptions faults = FaultOptions::churn();
  /// Network, jobs, faults and the time that all this takes are drawn, too [drawn.h].
  bool is_drawn = false;
  bool draws_faults = true;  ///< False: what is drawn of faults is left out.
  double extras_share = 0;   ///< Of the seeds draw what with_extras() may add [drawn.h].
  PlantedFault planted = PlantedFault::kNone;
  Duration settles_within = 60s;  ///< After the faults have stopped [liveness].
  Duration stalls_after = 20s;    ///< Without any progress of one job, also under faults.
  /// No fault delays what is said, so every member knows all owners when the job has ended.
  bool is_calm = false;
  bool wire = false;  ///< Messages become bytes and are read back.
  bool keeps_lines = false;
  bool has_debug_notes = false;

  /// 32 processors at most, 200 vnodes, messages, broadcasts and reductions at once.
  [[nodiscard]] static ChurnOptions full();
  /// The same in small, for tests that run many seeds.
  [[nodiscard]] static ChurnOptions small();
  /// ... with deaths of processors that only pass on what others send.
  [[nodiscard]] static ChurnOptions relays();
  /// ... with pairs that do not reach each other for up to a minute, and a job that lasts longer.
  [[nodiscard]] static ChurnOptions barred();
  /// Small, with what `is_drawn` says.
  [[nodiscard]] static ChurnOptions drawn();
  /// Small, with processes that write much, and a tool that stops reading now and then.
  [[nodiscard]] static ChurnOptions stopped();
};

/// How a run went. Good: no violations.
struct Outcome {
  std::vector<std::string> violations;
  Ledger::Counters counters;
  std::uint64_t machines = 0;  ///< That took part at any time.
  std::uint64_t left = 0;      ///< That left or died.
  Meter cost;                  ///< All frames.
  std::uint64_t steps = 0;
  Duration virtual_time{};
  bool has_failed = false;  ///< The job ended with a reason, as it may after deaths.
  std::uint64_t hash = 0;   ///< Of everything that happened.
  std::vector<std::string> transcript;
  std::string waiting;  ///< Of a stalled run: what is being waited for.
};

/// Safety: the mesh starts, a job runs while the faults of `options` happen, and the checkers look
/// on. Liveness: then the faults stop, and the job must end well within a bound, everybody must
/// agree, and nothing may be left over.
[[nodiscard]] Outcome run_churn(std::uint64_t seed, const ChurnOptions& options);

/// A run in which processors die: the job must end on all processors, with one reason that names
/// the processor and its vnodes, and no operation may be left hanging.
[[nodiscard]] Outcome run_deaths(std::uint64_t seed, const ChurnOptions& options);

}  // namespace phx::sim
