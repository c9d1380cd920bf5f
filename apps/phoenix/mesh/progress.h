#pragma once

#include <condition_variable>
#include <ctime>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "overlay/base/time.h"

namespace phx::app {

/// Says on stderr what is computed, and since when: after 2 s, and then every 10 s, also while one
/// computation takes long. Ends with the object. Thread rule: one owner; a thread of its own
/// speaks.
class Progress {
 public:
  Progress();
  explicit Progress(std::function<Instant()> clock);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is computed from now on.
  void begin(std::string what);
  /// A simulation is so far in its virtual time, and ends at `total`; until something else begins.
  void reach(Duration done, Duration total);

 private:
  struct Reached {
    Instant at;  ///< By the clock of this machine.
    Duration done;
  };

  void run();
  [[nodiscard]] std::string how_far(Instant now) const;

  std::function<Instant()> clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  ///< Empty: nothing yet.
  Instant begun_{};
  std::time_t since_ = 0;     ///< The same as a time of day.
  Duration total_{};          ///< Of the virtual time; 0: none is known.
  Reached first_{}, last_{};  ///< Of this total, since when the time left is reckoned.
  bool is_over_ = false;
  Instant next_;         ///< When it speaks.
  std::thread speaker_;  ///< The last member: it uses the others.
};

}  // namespace phx::app
