#pragma once

namespace phx::app {

/// Whether nobody takes it, as nohup and shells want it of what they start.
[[nodiscard]] bool is_ignored(int signal);

/// While one lives, signals by which a person or a batch system ends programs are taken (SIGTERM;
/// SIGINT and SIGHUP, unless they are ignored): waits end early, and whoever waited looks here.
/// SIGPIPE is ignored for good.
/// There may be one within the other. Not thread-safe.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// The last signal not asked for yet; 0: none.
  [[nodiscard]] static int take();
  /// How many there were since the program began.
  [[nodiscard]] static int count();
};

/// While one lives, SIGUSR1 and SIGUSR2 are taken, for whoever passes them on to a job.
class UserSignals {
 public:
  UserSignals();
  ~UserSignals();
  UserSignals(const UserSignals&) = delete;
  UserSignals& operator=(const UserSignals&) = delete;

  /// One that has come and was not asked for yet; 0: none.
  [[nodiscard]] static int take();
};

}  // namespace phx::app
