#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/messages/local_messages.h"
#include "runtime/tcp/tcp_driver.h"

namespace phx::tcp {

/// A daemon inside an application. The thread of the application that waits drives it, so that no
/// message passes from thread to thread; a helper thread does while the application computes
/// [README.md, "A daemon inside"]. Thread rule: any thread; start() and leave(): one owner.
class EmbeddedDaemon {
 public:
  /// So often the helper looks whether the application still waits, or computes: after at most two
  /// of these it takes over.
  static constexpr Duration kTurn = 1ms;

  /// Joins the mesh (or founds one) before it returns. Errors: those of TcpDriver::start().
  [[nodiscard]] static Result<std::unique_ptr<EmbeddedDaemon>> start(const DriverOptions& options,
                                                                     const LogOptions& log);
  /// Options of a mesh of one, which nobody can join: a fresh key, no listener.
  [[nodiscard]] static DriverOptions alone();

  EmbeddedDaemon(const EmbeddedDaemon&) = delete;
  EmbeddedDaemon& operator=(const EmbeddedDaemon&) = delete;
  /// leave(2s), unless that was done.
  ~EmbeddedDaemon();

  /// Runs the daemon on these messages, whose first begins the attachment; they are gone then. What
  /// it writes is with the system on return, waits for a neighbour, or, as a part of a burst, for
  /// more of it: until the application waits, or the helper looks. Returns is_congested().
  bool send(std::span<runtime::ToDaemon> messages);
  /// Adds what has come for the application; looks first whether there is something new, if
  /// nothing waits. False: the daemon has closed, and nothing is left.
  [[nodiscard]] bool receive(std::vector<runtime::ToApplication>& received);
  /// A neighbour does not keep up: wait before more is sent.
  [[nodiscard]] bool is_congested() const;
  /// Drives the daemon until something has come for the application, wake() was called, or for so
  /// long. `for_room`: until something has come, or is_congested() holds no more. Whether there is
  /// something.
  bool wait(Duration at_most, bool for_room = false);
  /// Ends a wait() of another thread, or the next one.
  void wake();
  /// The application is gone; it may come back no more.
  void detach();
  /// Leaves the mesh in good order; at once, if that takes longer than `patience`.
  void leave(Duration patience);

  [[nodiscard]] ProcessorId self() const;
  [[nodiscard]] const std::vector<std::string>& endpoints() const;

 private:
  struct State;
  explicit EmbeddedDaemon(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace phx::tcp
