#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/messages.h"

namespace phx::collectives {

/// What one token carries of bundled values at most [limit], unless it is a single one. Links carry
/// no message above 1 GiB, and what waits behind a long one waits long.
inline constexpr std::uint64_t kPortionBytes = std::uint64_t{64} << 20U;
inline constexpr std::size_t kPortionParts = std::size_t{1} << 16U;

/// The same parts in the same order, cut into portions; at least one.
[[nodiscard]] std::vector<std::vector<ReductionPart>> portions(std::vector<ReductionPart> parts);

}  // namespace phx::collectives
