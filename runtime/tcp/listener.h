#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "overlay/base/result.h"
#include "runtime/tcp/address.h"
#include "runtime/tcp/greeting.h"
#include "runtime/tcp/handshake.h"

namespace phx::tcp {

/// Whose connection that is when places in the handshake are shared out: all of an IPv6 /64 may be
/// addresses of one host.
[[nodiscard]] asio::ip::address counted_as(const asio::ip::address& from);

/// Accepts TCP connections and lets in only those who prove the key. Whoever is slow, or says
/// anything else, costs one socket for at most kHandshakeTimeout.
/// Not thread-safe: the io_context's thread only.
class Listener {
 public:
  /// Connections in the handshake at once [limit]; the oldest of the host that has most of them
  /// makes room for a newer one. So those who say nothing never keep out those who do, however long
  /// the way of these is.
  static constexpr std::size_t kUnprovedMax = 64;

  struct Handlers {
    std::function<void(asio::ip::tcp::socket, const Hello&)> on_proved;
    /// Somebody was turned away. `from`: the address without port.
    std::function<void(const Error&, const std::string& from)> on_rejected;
  };

  /// Binds. Errors: kBadInput (no such address), kBusy (port taken), kDenied.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> open(asio::any_io_executor executor,
                                                              const Address& address);
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { close(); }

  /// Begins to accept. Connections made since open() have waited in the system's queue. Each gets
  /// `patience` for its handshake.
  void start(const MeshKey& key, const Handshake::Identity& self, Handlers handlers,
             Duration patience = kHandshakeTimeout);
  void close();
  /// With the port that the system chose, if 0 was asked for.
  [[nodiscard]] const Address& address() const { return address_; }
  [[nodiscard]] std::size_t unproved() const;

 private:
  struct Guest;  ///< One connection in the handshake.
  struct Shared;
  explicit Listener(std::shared_ptr<Shared> shared, Address address);

  std::shared_ptr<Shared> shared_;
  Address address_;
};

}  // namespace phx::tcp
