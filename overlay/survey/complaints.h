#pragma once

#include <map>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"

namespace phx::overlay {

struct ComplaintOptions {
  /// Of slow downloads to one processor: one in so much time, then in twice as much, ...
  Duration pause = 10s;
  Duration pause_most = 160s;
};

/// Which complaints of slow downloads are worth a measurement. What is measured in vain again and
/// again is slow for another reason. Thread rule: one owner.
class Complaints {
 public:
  explicit Complaints(const ComplaintOptions& options) : options_(options) {}

  /// Somebody complains of a download to `to`. Whether it shall be measured; then the next one
  /// has to wait.
  [[nodiscard]] bool take(Instant now, ProcessorId to);
  void keep_only(const ProcessorSet& live);

 private:
  struct Last {
    Instant next;
    Duration pause{};
  };
  ComplaintOptions options_;
  std::map<ProcessorId, Last> last_;
};

}  // namespace phx::overlay
