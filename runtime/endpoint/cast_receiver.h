#pragma once

#include <cstdint>
#include <optional>

#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// How far a vnode is with the broadcasts of one root, as the root knows it.
struct CastReceiver {
  std::uint64_t received = 0;  ///< It has the pieces below; kFlowClosed: it wants none.
  std::uint64_t limit = 0;     ///< Granted, as an offset.
  std::optional<std::uint64_t> position = std::nullopt;  ///< Out of step: the next piece for it.
  bool is_follower = false;  ///< Out of step, and served together with others that are.
  bool was_asked = false;    ///< As it is held up with nothing on its way.
  std::uint8_t losses = 0;   ///< Said of it along these trees since it got on, up to a limit.

  [[nodiscard]] bool is_open() const { return received != kFlowClosed; }
  [[nodiscard]] bool is_in_step() const { return is_open() && !position; }
  [[nodiscard]] bool is_apart() const { return is_open() && position && !is_follower; }
  [[nodiscard]] bool follows() const { return is_open() && position && is_follower; }
  void come_in_step() {
    position.reset();
    is_follower = false;
  }
  friend bool operator==(const CastReceiver&, const CastReceiver&) = default;
};

}  // namespace phx::runtime
