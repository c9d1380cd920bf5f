#pragma once

#include <cstddef>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/recent_map.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// The jobs that are over, for ever, and how the last of them ended. Not thread-safe.
class JobHistory {
 public:
  void add(const JobEnd& end) {
    over_.insert(end.job);
    ends_.put(end.job, end);
  }
  /// These never began here, or nobody knows any more how they ended.
  void add(const IntervalSet<JobId>& jobs) { over_ = over_.united(jobs); }

  /// Calls `see` with each end that is known.
  template <class See>
  void for_each_end(See see) const {
    ends_.for_each(see);
  }

  [[nodiscard]] bool contains(JobId job) const { return over_.contains(job); }
  [[nodiscard]] const IntervalSet<JobId>& over() const { return over_; }
  /// Null if that is not known, or not any more.
  [[nodiscard]] const JobEnd* end(JobId job) const { return ends_.find(job); }

 private:
  static constexpr std::size_t kEndsMax = 100;

  IntervalSet<JobId> over_;
  RecentMap<JobId, JobEnd> ends_{kEndsMax};
};

}  // namespace phx::runtime
