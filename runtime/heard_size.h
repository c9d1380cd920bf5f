#pragma once

#include <cstdint>

#include "runtime/messages/messages.h"

namespace phx::runtime {

/// Of how many bytes the value is, about, that this is a part of, if it is one of a long broadcast
/// or reduction, or of a message between vnodes; else 0. Its way between two processors carries as
/// much again and again.
[[nodiscard]] std::uint64_t heard_size(const Envelope& envelope);

}  // namespace phx::runtime
