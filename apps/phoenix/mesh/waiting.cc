#include "apps/phoenix/mesh/waiting.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "runtime/tcp/steady_now.h"

namespace phx::app {
namespace {

constexpr Duration kAgain = 10s;

std::string seconds(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(duration).count()) + " s";
}

std::string time_of_day(Duration ago) {
  const std::time_t then =
      std::time(nullptr) - std::chrono::duration_cast<std::chrono::seconds>(ago).count();
  std::tm parts{};
  ::localtime_r(&then, &parts);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
  return text.data();
}

}  // namespace

Waiting::Waiting(Duration limit, std::string then)
    : limit_(limit), then_(std::move(then)), begun_(tcp::steady_now()) {}

void Waiting::look(const std::string& what) {
  look(what, tcp::steady_now() - begun_);
}

void Waiting::look(const std::string& what, Duration waited) {
  if (waited < next_) return;
  next_ = waited + kAgain;
  const std::string limit = limit_ == kForever ? "" : ", " + then_ + " after " + seconds(limit_);
  std::fprintf(stderr, "%sphoenix: waiting since %s for %s (%s so far%s)\n",
               ::isatty(STDERR_FILENO) != 0 ? "\r\033[K" : "", time_of_day(waited).c_str(),
               what.c_str(), seconds(waited).c_str(), limit.c_str());
}

}  // namespace phx::app
