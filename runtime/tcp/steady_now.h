#pragma once

#include <chrono>

#include "overlay/base/time.h"

namespace phx::tcp {

/// The only place where the time of day passes into the project: the daemon's `now`.
[[nodiscard]] inline Instant steady_now() {
  return Instant(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace phx::tcp
