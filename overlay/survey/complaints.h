#pragma once

#include <cstdint>
#include <map>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"

namespace phx::overlay {

struct ComplaintOptions {
  /// Of slow downloads to one processor: one in so much time, then in twice as much, ...
  Duration pause = 10s;
  Duration pause_most = 160s;
  std::uint32_t each = 4;  ///< By one processor in `pause`, whomever it complains of [limit].
};

/// Which complaints of slow downloads are worth a measurement. What is measured in vain again and
/// again is slow for another reason. Thread rule: one owner.
class Complaints {
 public:
  explicit Complaints(const ComplaintOptions& options) : options_(options) {}

  /// `from` complains that it sends slowly to `to`. Whether it shall be measured; then the next one
  /// has to wait.
  [[nodiscard]] bool take(Instant now, ProcessorId from, ProcessorId to);
  void keep_only(const ProcessorSet& live);

 private:
  struct Last {
    Instant next;
    Duration pause{};
  };
  struct Complainer {
    Instant since;
    std::uint32_t taken = 0;  ///< Of its complaints, since then.
  };
  ComplaintOptions options_;
  std::map<ProcessorId, Last> last_;
  std::map<ProcessorId, Complainer> complainers_;
};

}  // namespace phx::overlay
