#pragma once

#include <cstdint>

#include "runtime/messages/messages.h"

namespace phx::runtime {

/// The bytes of contents, if it is a part of a long broadcast or reduction, or of a long message
/// between vnodes, but for the end of one that is short by itself; else 0. What such ways carry at
/// once they carry again and again.
[[nodiscard]] std::uint64_t heard_size(const Envelope& envelope);

}  // namespace phx::runtime
