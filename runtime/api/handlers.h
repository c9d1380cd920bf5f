#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "overlay/base/time.h"
#include "runtime/api/failure.h"

namespace phx {

/// Keeps handlers of run() and moves of vnodes apart, where there are several threads: a move
/// begins when no other thread is in a handler, and no handler begins before it is over. A thread
/// that is at a safe point within its handler *rests*: else two of these would wait for each other.
///
/// Whoever waits for the handlers of others does not do so for ever, as one of these may need what
/// it would serve: after patience() it serves, and the move comes later. Each time that is longer,
/// so the move comes.
///
/// Thread-safe. begin(), turn() and begin_move() are called with the engine's mutex, which decides
/// between them; whoever waits for this one holds no other mutex.
class Handlers {
 public:
  enum class Turn { kMove, kWait, kServe };
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
  /// What the calling thread is to do at a safe point: move vnodes, if some are `is_due`, from now
  /// on; wait for others, who move some or are in handlers; or go on. `has_waited`: for long, and
  /// not for handlers any more. Throws Failure (kBadInput) if it moves vnodes already: in a
  /// callback.
  [[nodiscard]] Turn turn(bool is_due, bool has_waited = false) {
    const std::scoped_lock lock(mutex_);
    const std::thread::id self = std::this_thread::get_id();
    if (moves_ == self) {
      throw Failure(ErrorCode::kBadInput, "there is no safe point in a callback of a safe point");
    }
    if (moves_) return Turn::kWait;  // What is due may be, or not, until that is over.
    if (!is_due) return Turn::kServe;
    is_wanted_ = busy_.size() > busy_.count(self);
    if (is_wanted_) return has_waited ? Turn::kServe : Turn::kWait;
    moves_ = self;
    patience_ = kPatience;
    return Turn::kMove;
  }
  [[nodiscard]] bool begin_move() { return turn(true) == Turn::kMove; }
  /// How long to wait for handlers.
  [[nodiscard]] Duration patience() const {
    const std::scoped_lock lock(mutex_);
    return patience_;
  }
  /// The calling thread has waited for so long.
  void on_waited() {
    const std::scoped_lock lock(mutex_);
    patience_ = std::min(2 * patience_, kPatienceMax);
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
  static constexpr Duration kPatience = std::chrono::seconds(1);
  static constexpr Duration kPatienceMax = std::chrono::minutes(1);

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
  bool is_wanted_ = false;                ///< A move waited for handlers last.
  Duration patience_ = kPatience;
};

}  // namespace phx
