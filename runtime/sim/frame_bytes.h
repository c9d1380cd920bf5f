#pragma once

#include <cstdint>

#include "runtime/messages/messages.h"

namespace phx::sim {

/// About how many bytes `frame` takes on a wire: its payloads, plus what headers and lists cost.
/// The cost model needs the size, not the bytes; the codec's own tests look after the bytes.
[[nodiscard]] std::uint64_t frame_bytes(const runtime::Frame& frame);

}  // namespace phx::sim
