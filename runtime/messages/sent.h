#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "runtime/messages/local_messages.h"

namespace phx::runtime {

/// What a message adds to the figures of the process that gives it to its daemon.
struct Sent {
  std::uint64_t messages = 0;  ///< To vnodes, broadcasts, contributions to reductions.
  std::uint64_t bytes = 0;
  std::optional<VnodeId> by;  ///< Whose it is; empty for contributions, which go together.
};

/// Of a long message, which is sent in pieces, the last one counts as the message; of long
/// contributions each piece.
[[nodiscard]] inline Sent sent_with(const ToDaemon& message) {
  if (const auto* m = std::get_if<AppSend>(&message)) {
    return {m->message.rest == 0 ? 1U : 0U, m->message.payload.size(), m->message.from};
  }
  if (const auto* m = std::get_if<AppBroadcast>(&message)) {
    return {m->piece.rest_bits == 0 ? 1U : 0U, m->piece.payload.size(), m->piece.root};
  }
  const auto* contributed = std::get_if<AppContribute>(&message);
  if (contributed == nullptr) return {};
  Sent sent{1, 0, {}};
  for (const collectives::ReductionPart& part : contributed->token.parts) {
    sent.bytes += part.value.size();
  }
  return sent;
}

}  // namespace phx::runtime
