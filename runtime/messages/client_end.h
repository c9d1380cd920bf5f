#pragma once

#include <cstdint>
#include <string>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"

namespace phx::runtime {

/// The connection of a tool, and a random number that the tool has given itself; 0: none. Where two
/// connections have the same one the earlier is dead, and nobody here has noticed.
struct Tool {
  ClientId client;
  std::uint64_t number = 0;
  bool is_guest = false;  ///< The job goes on when it goes away.
  [[nodiscard]] bool is_same(const Tool& other) const {
    return number != 0 && number == other.number;
  }
};

/// How the connection of a tool has ended.
struct ClientEnd {
  std::string why = {};    ///< The driver gave it up for that; empty: it went away.
  bool is_broken = false;  ///< The tool has not closed it, and may come back.
  bool is_silent = false;  ///< ... from a machine that sleeps, or that nothing reaches just now.
};

/// So long a job waits for its tool whose connection broke, and the tool tries to come back.
inline constexpr Duration kToolReturns = 15s;

}  // namespace phx::runtime
