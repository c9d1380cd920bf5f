#pragma once

#include <chrono>

#include "overlay/base/time.h"

namespace phx::tcp {

/// The only place where time passes into a daemon: its `now`.
[[nodiscard]] inline Instant steady_now() {
  return Instant(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace phx::tcp
