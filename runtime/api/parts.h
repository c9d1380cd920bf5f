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

/// Of all together.
[[nodiscard]] std::size_t size_of(const std::vector<Payload>& values);
[[nodiscard]] Payload join(const Parts& parts);
/// Throws Failure (kBadInput) if `joined` is no such value, or not of `count` parts.
[[nodiscard]] Parts split(const Payload& joined, std::size_t count);

/// Calls that are made of such a reduction. All vnodes have to make the same one.
enum class Gathering : std::uint8_t { kGather = 1, kAllgather, kAlltoall };

/// A reduction whose result is join() of what all contribute: part_of() of each value. Throws
/// Failure (kBadInput), when it is combined, if a vnode has made another call.
[[nodiscard]] Reduction gathering(Gathering call);
/// `value` as the contribution to it, or the word that it comes by another way.
[[nodiscard]] Payload part_of(Gathering call, const Payload& value, bool is_apart);

}  // namespace phx
