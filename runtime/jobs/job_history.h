#pragma once

#include <cstddef>
#include <map>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/messages.h"

namespace phx::runtime {

/// The jobs that are over, for ever, and how the last of them ended. Not thread-safe.
class JobHistory {
 public:
  void add(const JobEnd& end) {
    constexpr std::size_t kEndsMax = 100;
    over_.insert(end.job);
    ends_[end.job] = end;
    if (ends_.size() > kEndsMax) ends_.erase(ends_.begin());
  }
  /// These never began here, or nobody knows any more how they ended.
  void add(const IntervalSet<JobId>& jobs) { over_ = over_.united(jobs); }

  [[nodiscard]] bool contains(JobId job) const { return over_.contains(job); }
  [[nodiscard]] const IntervalSet<JobId>& over() const { return over_; }
  /// Null if that is not known, or not any more.
  [[nodiscard]] const JobEnd* end(JobId job) const {
    const auto found = ends_.find(job);
    return found == ends_.end() ? nullptr : &found->second;
  }

 private:
  IntervalSet<JobId> over_;
  std::map<JobId, JobEnd> ends_;
};

}  // namespace phx::runtime
