#include "apps/phoenix/mesh/progress.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "apps/phoenix/mesh/waiting.h"
#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

constexpr Duration kAgain = 10s;

std::string whole_seconds(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

std::string time_of_day(std::time_t time) {
  std::tm parts{};
  ::localtime_r(&time, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
  return text.data();
}

}  // namespace

Progress::Progress() : Progress(&tcp::steady_now) {}
Progress::Progress(std::function<Instant()> clock)
    : clock_(std::move(clock)), next_(clock_() + Waiting::kQuiet), speaker_([this] { run(); }) {}

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
  begun_ = clock_();
  since_ = std::time(nullptr);
  total_ = {};
}

void Progress::reach(Duration done, Duration total) {
  const std::lock_guard lock(mutex_);
  const bool is_new = total != total_ || done < last_.done;
  total_ = total;
  last_ = {clock_(), done};
  if (is_new) first_ = last_;
}

std::string Progress::how_far(Instant now) const {
  if (total_ == Duration{}) return "";
  std::string text =
      "; " + whole_seconds(last_.done) + " of " + whole_seconds(total_) + " s of virtual time";
  if (last_.done <= first_.done) return text;
  const double pace = to_ms(now - first_.at) / to_ms(last_.done - first_.done);
  const auto left = static_cast<long long>(pace * to_ms(total_ - last_.done) / 1e3);
  return text + ", some " + std::to_string(left) + " s left";
}

void Progress::run() {
  constexpr std::chrono::milliseconds kLook{200};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kLook, [this] { return is_over_; })) {
    const Instant now = clock_();
    if (what_.empty() || now < next_) continue;
    next_ = now + kAgain;
    std::fprintf(stderr, "%sphoenix: waiting since %s for %s (%s s so far%s)\n",
                 ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", time_of_day(since_).c_str(),
                 what_.c_str(), whole_seconds(now - begun_).c_str(), how_far(now).c_str());
  }
}

}  // namespace phx::app
