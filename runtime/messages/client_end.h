#pragma once

#include <string>

#include "overlay/base/time.h"

namespace phx::runtime {

/// How the connection of a tool has ended.
struct ClientEnd {
  std::string why = {};    ///< The driver gave it up for that; empty: it went away.
  bool is_broken = false;  ///< The tool has not closed it, and may come back.
};

/// So long a job waits for its tool whose connection broke, and the tool tries to come back.
inline constexpr Duration kToolReturns = 15s;

}  // namespace phx::runtime
