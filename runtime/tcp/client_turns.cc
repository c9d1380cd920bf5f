#include "runtime/tcp/client_turns.h"

#include <asio/post.hpp>
#include <utility>

namespace phx::tcp {

void ClientTurns::take(ClientId client, runtime::ClientRequest request) {
  const auto [found, is_new] = tools_.try_emplace(client);
  if (is_new) end_turn_later(client);
  Tool& tool = found->second;
  if (tool.waiting.empty() && tool.served < kRequestsInARow) {
    ++tool.served;
    return handlers_->serve(client, std::move(request));
  }
  tool.waiting.push_back(std::move(request));
  if (tool.waiting.size() < kWaitingMax || std::exchange(tool.is_paused, true)) return;
  handlers_->pause_reading(client, true);
}

void ClientTurns::end_turn_later(ClientId client) {
  asio::post(executor_, [this, handlers = handlers_, client] {
    if (handlers->serve) begin_turn(client);
  });
}

void ClientTurns::begin_turn(ClientId client) {
  const auto found = tools_.find(client);
  if (found == tools_.end()) return;
  if (found->second.waiting.empty()) {
    tools_.erase(found);
    return;
  }
  end_turn_later(client);
  // It may be gone after any of them.
  std::size_t served = 0;
  for (auto tool = found; tool != tools_.end() && served < kRequestsInARow; ++served) {
    if (tool->second.waiting.empty()) break;
    runtime::ClientRequest request = std::move(tool->second.waiting.front());
    tool->second.waiting.pop_front();
    handlers_->serve(client, std::move(request));
    tool = tools_.find(client);
  }
  const auto tool = tools_.find(client);
  if (tool == tools_.end()) return;
  tool->second.served = served;
  const bool goes_on = tool->second.is_paused && tool->second.waiting.size() <= kWaitingMax / 2;
  if (!goes_on) return;
  tool->second.is_paused = false;
  handlers_->pause_reading(client, false);
}

}  // namespace phx::tcp
