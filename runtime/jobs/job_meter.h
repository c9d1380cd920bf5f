#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "overlay/base/time.h"
#include "runtime/messages/delivery.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/status_messages.h"

namespace phx::runtime {

/// What one process of a job, and its vnodes, have done, for people: counted from what it says to
/// its daemon. Counts only grow. Not thread-safe.
class JobMeter {
 public:
  /// Of this many is told what they have done.
  static constexpr std::size_t kVnodesMax = 1000;

  /// `vnodes`: of the job.
  explicit JobMeter(std::uint64_t vnodes) : vnodes_of_job_(vnodes) {}

  void on_app(Instant now, const ToDaemon& message);
  /// These came from another processor.
  void on_moved_here(const std::vector<VnodeParcel>& parcels);

  [[nodiscard]] JobFigures figures(Instant now) const;
  /// Those that waited longest, or sent most if they did not wait; in ascending order.
  [[nodiscard]] std::vector<VnodeFigures> vnodes(Instant now) const;

 private:
  struct Totals {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t moves = 0;
    std::uint64_t waited_us = 0;
  };
  /// A wait that goes on; its end comes as AppWaited.
  struct Running {
    Instant since;
    std::optional<VnodeId> at;
  };
  /// Null: the job has no such vnode.
  [[nodiscard]] Totals* totals(VnodeId vnode);
  void on_waited(const AppWaited& waited);

  std::uint64_t vnodes_of_job_;
  JobFigures figures_;           ///< Without its times.
  std::uint64_t waited_us_ = 0;  ///< In waits that are over.
  std::map<VnodeId, Totals> vnodes_;
  std::optional<std::pair<VnodeId, Totals*>> last_;  ///< The one that was looked up last.
  std::optional<Running> running_;
  std::optional<Instant> heard_;
};

}  // namespace phx::runtime
