#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "overlay/base/result.h"

namespace phx::tcp {

/// Accepts application processes of this machine at a UNIX socket. Only processes of the same user
/// get in: the socket's mode is 0600, it should stand in a directory of mode 0700, and the system
/// is asked who connects. Not thread-safe: the io_context's thread only.
class LocalListener {
 public:
  using Socket = asio::local::stream_protocol::socket;
  struct Handlers {
    std::function<void(Socket)> on_accepted;
    std::function<void(const Error&)> on_rejected;
  };

  /// Binds and begins to accept. A socket file left behind at `path` is replaced. Errors:
  /// kBadInput (path too long or no such directory), kDenied, kBusy (another daemon is there).
  [[nodiscard]] static Result<std::unique_ptr<LocalListener>> open(asio::any_io_executor executor,
                                                                   const std::string& path,
                                                                   Handlers handlers);
  LocalListener(const LocalListener&) = delete;
  LocalListener& operator=(const LocalListener&) = delete;
  /// Removes the socket file.
  ~LocalListener() { close(); }

  void close();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Shared;
  LocalListener(std::shared_ptr<Shared> shared, std::string path);

  std::shared_ptr<Shared> shared_;
  std::string path_;
};

}  // namespace phx::tcp
