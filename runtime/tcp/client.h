#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "overlay/base/result.h"
#include "overlay/base/time.h"
#include "runtime/messages/client_messages.h"
#include "runtime/tcp/key.h"

namespace phx::tcp {

/// A tool's connection to a daemon, for programs without an event loop: calls block. Not
/// thread-safe: one thread at a time.
class ToolClient {
 public:
  /// Connects to the first of `endpoints` ("address:port") that lets us in; each is tried 250 ms
  /// after the one before, or when that has failed, and gets 2 s to be reached and 3 s for the
  /// handshake. Errors name the endpoint that failed last; kUnavailable: nobody listens at any of
  /// them; kNotFound: one is a name that cannot be looked up; kTimeout: perhaps somebody listens.
  /// `on_slow` is called once if all this takes longer than 2 s.
  [[nodiscard]] static Result<ToolClient> connect(const std::vector<std::string>& endpoints,
                                                  const MeshKey& key,
                                                  const std::function<void()>& on_slow = {});
  ToolClient(ToolClient&&) noexcept;
  ToolClient& operator=(ToolClient&&) noexcept;
  ToolClient(const ToolClient&) = delete;
  ToolClient& operator=(const ToolClient&) = delete;
  ~ToolClient();

  /// Sends at once, as far as the system takes it; the rest goes out during receive().
  /// kUnavailable: the connection is lost.
  [[nodiscard]] Status send(const runtime::ClientRequest& request);
  /// The next reply. kTimeout: none came within `timeout` (0: looks only; kForever: waits);
  /// kUnavailable: the connection is lost, and no reply is left.
  [[nodiscard]] Result<runtime::ClientReply> receive(Duration timeout);
  /// The daemon at the other end.
  [[nodiscard]] ProcessorId daemon() const;
  /// Where it is: "address:port".
  [[nodiscard]] const std::string& endpoint() const;
  /// Readable when receive() may have something to do, also if that is to send the rest of what the
  /// system did not take at once; for poll(). Valid while this object lives, for nothing else.
  [[nodiscard]] int descriptor() const;

 private:
  struct Link;
  explicit ToolClient(std::unique_ptr<Link> link);
  std::unique_ptr<Link> link_;
};

}  // namespace phx::tcp
