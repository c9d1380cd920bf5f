#pragma once

#include <functional>
#include <optional>

#include "overlay/base/payload.h"
#include "runtime/api/message.h"

namespace phx {

/// How a vnode's state leaves and enters this process; called in safe points, on their thread. One
/// that throws is called again at the next safe point.
struct VnodeState {
  /// Packs the state of a vnode and forgets it.
  std::function<Payload(Vnode)> depart;
  /// Takes what depart() packed elsewhere; nothing on the vnode's very first arrival anywhere.
  std::function<void(Vnode, const std::optional<Payload>&)> arrive;
};

}  // namespace phx
