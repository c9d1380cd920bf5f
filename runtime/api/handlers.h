#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "runtime/api/failure.h"

namespace phx {

/// Keeps handlers of run() and moves of vnodes apart, where there are several threads: a move
/// begins when no other thread is in a handler, and no handler begins before it is over. A thread
/// that is at a safe point within its handler *rests*: else two of these would wait for each other.
///
/// Thread-safe. begin() and begin_move() are called with the engine's mutex, which decides between
/// them; whoever waits for this one holds no other mutex.
class Handlers {
 public:
  /// The calling thread is at a safe point as long as this lives. If that was within a handler, it
  /// goes on there when no other thread moves vnodes.
  class Rest {
   public:
    explicit Rest(Handlers& handlers) : handlers_(handlers), was_in_handler_(handlers.end()) {}
    ~Rest() {
      if (was_in_handler_) {
        handlers_.resume();
      } else {
        handlers_.end();
      }
    }
    Rest(const Rest&) = delete;
    Rest& operator=(const Rest&) = delete;

   private:
    Handlers& handlers_;
    bool was_in_handler_;
  };

  /// The calling thread is in a handler. REQUIRES that no other one has begun a move.
  void begin() {
    const std::scoped_lock lock(mutex_);
    busy_.insert(std::this_thread::get_id());
  }
  /// It is in none any more. Whether it was.
  bool end() {
    const std::scoped_lock lock(mutex_);
    return busy_.erase(std::this_thread::get_id()) > 0;
  }
  /// The calling thread moves vnodes from now on. False: not as long as others do, or are in
  /// handlers. Throws Failure (kBadInput) if it does already: in a callback.
  [[nodiscard]] bool begin_move() {
    const std::scoped_lock lock(mutex_);
    const std::thread::id self = std::this_thread::get_id();
    if (moves_ == self) {
      throw Failure(ErrorCode::kBadInput, "there is no safe point in a callback of a safe point");
    }
    is_wanted_ = moves_ || busy_.size() > busy_.count(self);
    if (!is_wanted_) moves_ = self;
    return !is_wanted_;
  }
  void end_move() {
    const std::scoped_lock lock(mutex_);
    moves_.reset();
    moved_.notify_all();
  }
  /// A thread waits for its move.
  [[nodiscard]] bool is_wanted() const {
    const std::scoped_lock lock(mutex_);
    return is_wanted_;
  }

 private:
  void resume() {
    std::unique_lock lock(mutex_);
    const std::thread::id self = std::this_thread::get_id();
    moved_.wait(lock, [&] { return !moves_ || moves_ == self; });
    busy_.insert(self);
  }

  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::set<std::thread::id> busy_;        ///< Threads in handlers.
  std::optional<std::thread::id> moves_;  ///< The thread that moves vnodes.
  bool is_wanted_ = false;                ///< begin_move() was refused last.
};

}  // namespace phx
