#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "overlay/base/ids.h"
#include "runtime/messages/client_messages.h"

namespace phx::tcp {

/// What tools ask, a few requests of each in a row: one that sends thousands at once takes turns
/// with everybody else, and is not read any more while many wait. Not thread-safe: the io_context's
/// thread only.
class ClientTurns {
 public:
  static constexpr std::size_t kRequestsInARow = 16;
  static constexpr std::size_t kWaitingMax = 256;  ///< Then it is not read; at half of it again.

  struct Handlers {
    std::function<void(ClientId, runtime::ClientRequest)> serve;
    std::function<void(ClientId, bool paused)> pause_reading;
  };

  ClientTurns(asio::any_io_executor executor, Handlers handlers)
      : executor_(std::move(executor)),
        handlers_(std::make_shared<Handlers>(std::move(handlers))) {}
  ~ClientTurns() { *handlers_ = {}; }
  ClientTurns(const ClientTurns&) = delete;
  ClientTurns& operator=(const ClientTurns&) = delete;

  /// Serves it now, or when its turn has come.
  void take(ClientId client, runtime::ClientRequest request);
  /// The tool is gone, or let go. What it asked, and waits here, nobody wants to know.
  void drop(ClientId client) { tools_.erase(client); }

 private:
  struct Tool {
    std::deque<runtime::ClientRequest> waiting;
    std::size_t served = 0;  ///< In this turn.
    bool is_paused = false;
  };
  void end_turn_later(ClientId client);
  void begin_turn(ClientId client);

  asio::any_io_executor executor_;
  std::shared_ptr<Handlers> handlers_;  ///< Shared with what is posted; emptied by the destructor.
  std::map<ClientId, Tool> tools_;      ///< Those whose turn has not ended.
};

}  // namespace phx::tcp
