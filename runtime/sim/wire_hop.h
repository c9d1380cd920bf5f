#pragma once

#include "overlay/base/result.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"
#include "runtime/wire/codec.h"

namespace phx::sim {

/// Turns messages into the bytes that the product would send, and back, so that a simulation also
/// runs what it otherwise leaves out. Not thread-safe.
class WireHop {
 public:
  /// The message as it comes out at the other end. Error: it does not, or not as it was.
  [[nodiscard]] Result<runtime::Frame> pass(const runtime::Frame& message);
  [[nodiscard]] Result<runtime::ToDaemon> pass(const runtime::ToDaemon& message);
  [[nodiscard]] Result<runtime::ToApplication> pass(const runtime::ToApplication& message);

 private:
  wire::Encoder encoder_;
  wire::Decoder decoder_;
};

}  // namespace phx::sim
