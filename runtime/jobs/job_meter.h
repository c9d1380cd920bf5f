#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <variant>

#include "overlay/base/time.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/sent.h"
#include "runtime/messages/status_messages.h"

namespace phx::runtime {

/// What one process of a job has done, for people: counted from what it says to its daemon. Counts
/// only grow. Not thread-safe.
class JobMeter {
 public:
  void on_app(Instant now, const ToDaemon& message) {
    heard_ = now;
    const Sent sent = sent_with(message);
    figures_.messages += sent.messages;
    figures_.bytes += sent.bytes;
    if (const auto* m = std::get_if<AppWaiting>(&message)) on_waiting(now, !m->what.empty());
  }
  void on_moved_here(std::size_t vnodes) { figures_.moves += vnodes; }

  [[nodiscard]] JobFigures figures(Instant now) const {
    JobFigures result = figures_;
    const Duration waited = waited_ + (waits_ ? now - waits_since_ : Duration{});
    result.waited_ms = static_cast<std::uint64_t>(waited / 1ms);
    if (heard_) result.silent_ms = static_cast<std::uint64_t>((now - *heard_) / 1ms);
    return result;
  }

 private:
  void on_waiting(Instant now, bool waits) {
    if (waits_ && !waits) waited_ += now - waits_since_;
    if (!waits_ && waits) waits_since_ = now;
    waits_ = waits;
  }

  JobFigures figures_;  ///< Without its times.
  Duration waited_{};   ///< In waits that are over.
  bool waits_ = false;
  Instant waits_since_{};
  std::optional<Instant> heard_;
};

}  // namespace phx::runtime
