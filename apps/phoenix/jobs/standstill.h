#pragma once

#include <optional>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "runtime/messages/client_messages.h"

namespace phx::app {

/// Notices that nobody does anything in a job: calls that wait for each other, or for a process
/// that has finished. A value without I/O.
class Standstill {
 public:
  /// For how long nothing has come to a process, or left it, before it counts as still.
  static constexpr Duration kStill = 10s;

  /// `reply`: of all daemons. For a person: for how long all processes have been still, and what
  /// each waits for. Empty: somebody computes, sends or is sent something, or it was said before.
  [[nodiscard]] std::optional<std::string> look(const runtime::StatusReply& reply, JobId job,
                                                const std::string& mesh);
  /// If all were still at the last look, but not for so long: the rest of it.
  [[nodiscard]] std::optional<Duration> look_again_after() const { return look_again_after_; }

 private:
  std::optional<Duration> look_again_after_;
  std::string said_;
};

}  // namespace phx::app
