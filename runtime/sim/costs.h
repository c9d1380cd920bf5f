#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "overlay/base/time.h"
#include "runtime/sim/meter.h"
#include "runtime/messages/config.h"
#include "runtime/sim/planted.h"

namespace phx::sim {

/// What one event cost a mesh, from its beginning until 3 s after its end.
struct CostRow {
  std::string_view event;
  Duration time{};                 ///< From its beginning to its end.
  Meter::Count all;                ///< Sent by all together; heartbeats only of the idle minute.
  Meter::Count busiest;            ///< Sent and received by the one with most.
  std::uint64_t copies = 0;        ///< Of a broadcast's pieces.
  std::uint64_t fallbacks = 0;     ///< Of these, the ones outside the tree.
  std::uint64_t false_alarms = 0;  ///< Accusations of processors that answered afterwards.
  std::uint64_t heap = 0;          ///< In use at the end, per processor; 0: not measured.
  std::map<std::string_view, Meter::Count> kinds;
};

/// A figure that grows as trees grow deeper: so much, and so much more each time that N doubles;
/// where it cannot be helped, also with N.
struct DeepGrowth {
  double fixed = 0;
  double per_doubling = 0;
  double per_processor = 0;
  [[nodiscard]] double at(double n) const {
    return fixed + per_doubling * std::log2(n) + per_processor * n;
  }
};

/// What an event may cost at N processors: its time; messages and bytes per processor of the mesh,
/// so N log N in all and no more; and `own + share * N` messages at the busiest processor.
struct CostLimit {
  std::string_view event;
  DeepGrowth ms;
  DeepGrowth messages_each;
  DeepGrowth bytes_each;
  double own = 0;
  double share = 0;
};

struct CostOptions {
  std::uint32_t processors = 64;  ///< In four sites, 10 ms apart.
  std::uint64_t seed = 1;
  PlantedFault planted = PlantedFault::kNone;
  runtime::TreeSource trees = runtime::TreeSource::kLearned;
  std::function<std::uint64_t()> heap_in_use;  ///< Bytes; may be left out.
  std::function<void(const CostRow&)> on_row;  ///< After each event; may be left out.
};

struct CostReport {
  std::vector<CostRow> rows;
  std::vector<std::string> violations;  ///< Of checkers; events that do not end.
};

/// Lets a mesh start, and everything happen to it that has a row, one after the other.
[[nodiscard]] CostReport measure_costs(const CostOptions& options);

/// A whole mesh: it starts, runs a job with broadcasts and reductions, gains `changes` processors
/// at once, loses them by a drain, and then `changes` others by death. Rows that measure_costs()
/// has as well have its limits; the start may take 3 s of virtual time per 1,000 processors.
[[nodiscard]] CostReport measure_mesh(const CostOptions& options, std::uint32_t changes);

}  // namespace phx::sim
