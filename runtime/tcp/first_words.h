#pragma once

#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"

namespace phx::tcp {

/// Which connected applications have not said who they are, and until when that is waited for:
/// else a single process could take all places. Without I/O; not thread-safe.
class FirstWords {
 public:
  /// A library says it at once. Who is late is looked at once more: a daemon that has stood still
  /// itself reads first what has come meanwhile.
  static constexpr Duration kPatience = 10s;
  static constexpr Duration kOnceMore = 1s;

  void expect(Instant now, ApplicationId from);
  /// It has said so, or is gone.
  void forget(ApplicationId from);
  /// To be closed, and forgotten here. `is_read`: applications are read now; else nobody is late.
  [[nodiscard]] std::vector<ApplicationId> take_late(Instant now, bool is_read);
  /// When to look at them next.
  [[nodiscard]] std::optional<Instant> next_deadline() const;

 private:
  struct Silent {
    ApplicationId from;
    Instant until;
    bool was_late = false;
  };
  std::vector<Silent> silent_;
};

}  // namespace phx::tcp
