#include "apps/phoenix/experiments/progress.h"

#include <chrono>
#include <utility>

#include "apps/phoenix/mesh/waiting.h"

namespace phx::app {

Progress::Progress() : speaker_([this] { run(); }) {}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  speaker_.join();
}

void Progress::begin(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void Progress::run() {
  constexpr std::chrono::milliseconds kLook{200};
  Waiting waiting(kForever);
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [this] { return is_over_; })) {
    if (!what_.empty()) waiting.look(what_);
  }
}

}  // namespace phx::app
