#pragma once

#include <asio/steady_timer.hpp>
#include <cstdint>
#include <memory>
#include <system_error>

#include "overlay/base/time.h"

namespace phx::tcp {

/// Closes an object of Asio's unless it is destroyed in time; whoever waits there then fails.
class Deadline {
 public:
  template <class Object>
  Deadline(Object& object, Duration timeout) : timer_(object.get_executor()) {
    timer_.expires_after(timeout);
    timer_.async_wait([&object, expired = expired_](const std::error_code& error) {
      if (error || *expired != State::kRunning) return;
      *expired = State::kExpired;
      std::error_code ignored;
      object.close(ignored);
    });
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  ~Deadline() {
    // An expiry that is already queued must not touch the object any more.
    if (*expired_ == State::kRunning) *expired_ = State::kOver;
  }
  [[nodiscard]] bool expired() const { return *expired_ == State::kExpired; }

 private:
  enum class State : std::uint8_t { kRunning, kExpired, kOver };
  asio::steady_timer timer_;
  std::shared_ptr<State> expired_ = std::make_shared<State>(State::kRunning);
};

}  // namespace phx::tcp
