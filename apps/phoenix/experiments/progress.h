#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace phx::app {

/// Says on stderr what is computed, as Waiting does, also while one computation takes long. Ends
/// with the object. Thread rule: one owner; a thread of its own speaks.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// What is computed from now on.
  void begin(std::string what);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  ///< Empty: nothing yet.
  bool is_over_ = false;
  std::thread speaker_;  ///< The last member: it uses the others.
};

}  // namespace phx::app
