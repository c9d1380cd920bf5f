#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/api/reduce.h"

namespace phx {

/// Several values as one: those of all vnodes, in their order. One that is missing is too long, and
/// comes by another way.
using Parts = std::vector<std::optional<Payload>>;

[[nodiscard]] Payload join(const Parts& parts);
/// Throws Failure (kBadInput) if `joined` is no such value, or not of `count` parts.
[[nodiscard]] Parts split(const Payload& joined, std::size_t count);

/// A reduction whose result is join() of what all contribute: part_of() of each value.
[[nodiscard]] Reduction gathering(bool to_all);
/// `value` as the contribution to it, or the word that it comes by another way.
[[nodiscard]] Payload part_of(const Payload& value, bool is_apart);

}  // namespace phx
