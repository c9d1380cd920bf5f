#pragma once

#include <optional>
#include <set>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"

namespace phx::tcp {

/// Which tools were sent something that may not have arrived, and when to look whether it has: the
/// system does not say when it does. Soon after something was sent, then after pauses of an eighth
/// of the time that it takes: a tool may stop reading for as long as it likes. Without I/O; not
/// thread-safe.
class Arrivals {
 public:
  static constexpr Duration kSoon = 1ms;
  static constexpr Duration kSeldom = 1s;

  void on_sent(Instant now, ClientId to);
  /// What was sent to these has arrived, or they are gone.
  void on_look(Instant now, const std::vector<ClientId>& settled);

  [[nodiscard]] const std::set<ClientId>& awaited() const { return awaited_; }
  /// When to look next; none: nothing is awaited.
  [[nodiscard]] std::optional<Instant> next_deadline() const;
  /// Whether this look asks also who is gone: one in kSeldom does, however busy others are.
  [[nodiscard]] bool asks(Instant now);

 private:
  std::set<ClientId> awaited_;
  Instant since_{};  ///< Something was sent last, or arrived.
  Duration pause_ = kSoon;
  Instant due_{};
  Instant asked_{};
};

}  // namespace phx::tcp
