#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <variant>

#include "runtime/messages/client_messages.h"
#include "runtime/sim/network_model.h"

namespace phx::sim {

/// A tool's connection with the daemon of a machine.
using Client = std::pair<MachineId, ClientId>;

/// What daemons send to tools that are stopped. Not thread-safe.
class Unread {
 public:
  /// A reply, or none: the connection was closed.
  struct One {
    Client client;
    std::optional<runtime::ClientReply> reply;
  };

  void add(Client client, runtime::ClientReply reply) {
    all_.push_back({client, std::move(reply)});
  }
  /// The daemon closes the connection, and does not wait for a tool that does not read: if output
  /// waits for it, all that waits is lost.
  void close(Client client) {
    const auto is_of = [client](const One& one) { return one.client == client; };
    const bool is_full = std::ranges::any_of(all_, [&](const One& one) {
      return is_of(one) && one.reply && std::holds_alternative<runtime::RunOutput>(*one.reply);
    });
    if (is_full) std::erase_if(all_, is_of);
    all_.push_back({client, std::nullopt});
  }
  /// Gives all away, in order.
  [[nodiscard]] std::deque<One> take() { return std::exchange(all_, {}); }

 private:
  std::deque<One> all_;
};

}  // namespace phx::sim
