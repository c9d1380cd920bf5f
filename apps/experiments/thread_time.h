#pragma once

#include <ctime>

#include "overlay/base/time.h"

namespace phx::app {

/// The processor time of this thread: what else the machine computes does not lengthen it.
[[nodiscard]] inline Duration thread_time() {
  std::timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace phx::app
