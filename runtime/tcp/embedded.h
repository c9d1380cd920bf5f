#pragma once

#include <memory>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/tcp/descriptor.h"
#include "runtime/tcp/loans.h"
#include "runtime/tcp/tcp_driver.h"

namespace phx::tcp {

/// A daemon inside an application: it runs on a thread of its own, and the application talks to it
/// over a socket pair, with the same local protocol as to a daemon next door.
/// Thread rule: one owner.
class EmbeddedDaemon {
 public:
  /// Joins the mesh (or founds one) before it returns. Errors: those of TcpDriver::start().
  [[nodiscard]] static Result<std::unique_ptr<EmbeddedDaemon>> start(const DriverOptions& options,
                                                                     const LogOptions& log);
  /// Options of a mesh of one, which nobody can join: a fresh key, no listener.
  [[nodiscard]] static DriverOptions alone();

  EmbeddedDaemon(const EmbeddedDaemon&) = delete;
  EmbeddedDaemon& operator=(const EmbeddedDaemon&) = delete;
  /// leave(2s), unless that was done.
  ~EmbeddedDaemon();

  /// The application's end of a fresh socket pair, in blocking mode, and where payloads change
  /// hands.
  struct Attachment {
    Descriptor socket;
    std::shared_ptr<Handover> handover;
  };
  /// kLimit: no more descriptors.
  [[nodiscard]] Result<Attachment> attach();
  /// Leaves the mesh in good order; at once, if that takes longer than `patience`.
  void leave(Duration patience);

  [[nodiscard]] ProcessorId self() const { return driver_->self(); }
  [[nodiscard]] const std::vector<std::string>& endpoints() const { return driver_->endpoints(); }

 private:
  struct Running;
  EmbeddedDaemon(std::unique_ptr<TcpDriver> driver, std::unique_ptr<Running> running);

  std::unique_ptr<TcpDriver> driver_;
  std::unique_ptr<Running> running_;  ///< Empty once it has left.
};

}  // namespace phx::tcp
