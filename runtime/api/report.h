#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/local_messages.h"

namespace phx {

/// What one process tells `phoenix run --report` of itself, as lines of text [README.md,
/// "Reports"]. Without I/O and without a clock of its own; not thread-safe.
class Report {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::steady_clock::duration;

  /// `day`: the time of day then, since 1970. Lines have that, because those of several machines
  /// are put together; it may jump later.
  Report(Time now, std::chrono::microseconds day) : begun_(now), told_(now), day_(day) {
    line("attached", now);
  }

  void on_sent(const runtime::ToDaemon& message);
  /// It waited for so long, up to now. In pieces, if lines were taken meanwhile.
  void on_waited(Span waited) { waited_ += waited; }
  /// A wait is over in which this vnode received.
  void on_waited_at(VnodeId vnode, Span waited) { vnodes_[vnode].waited += waited; }
  /// Vnodes that begin here; that came from elsewhere, or went, with so many bytes of state.
  void on_begun(Time now, const VnodeSet& vnodes);
  void on_came(Time now, const VnodeSet& vnodes, std::uint64_t bytes);
  void on_left(Time now, const VnodeSet& vnodes, std::uint64_t bytes);
  /// A safe point that began then took so long because vnodes moved.
  void on_pause(Time began, Span took);
  /// What there is to tell; empty: it is too soon. The longer the process has run the rarer, so
  /// that their number grows with the logarithm of that.
  [[nodiscard]] std::string take(Time now);
  /// The last lines.
  [[nodiscard]] std::string finish(Time now);

 private:
  struct Totals {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    Span waited{};
  };
  void line(const char* what, Time when, const std::string& rest = {});
  void tell(Time now);

  std::string lines_;  ///< Not taken yet.
  Time begun_;
  Time told_;                      ///< When `did` was told last; since then:
  Totals did_;                     ///< sent,
  Span waited_{};                  ///< and waited.
  std::chrono::microseconds day_;  ///< At `begun_`.
  std::map<VnodeId, Totals> vnodes_;
};

}  // namespace phx
