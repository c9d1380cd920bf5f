#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "runtime/api/message.h"
#include "runtime/api/session_core.h"

namespace phx {

/// What a collective call sends straight from vnode to vnode, past the trees, at one process.
struct PastTrees {
  struct Sent {
    Vnode from = 0;
    std::optional<Vnode> to;  ///< Empty: to all.
    Payload payload;
  };
  struct Expected {
    Vnode at = 0;
    Vnode from = 0;
    Kind kind = Kind::kPointToPoint;
  };
  std::deque<std::deque<Sent>> rounds;
  /// A round is over, and the next one begins, when the receivers' processes have all of it. Of
  /// messages only. REQUIRES it if there are several rounds.
  bool is_confirmed = false;
  /// In the order in which they are sent, if that is waited for: this one gives credit for the
  /// first that is missing.
  std::vector<Expected> expected;
};

/// Sends and receives all that; returns what has come, in the order of `expected`. Flows keep their
/// order, so what comes from a vnode is what it sent in this call, and not in its next one. Throws
/// Failure (kTimeout) if nothing goes on for as long as a call may wait.
[[nodiscard]] std::vector<Payload> exchange_past_trees(SessionCore& core, PastTrees what,
                                                       const char* operation);

}  // namespace phx
