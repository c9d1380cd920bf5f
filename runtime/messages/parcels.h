#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "runtime/messages/delivery.h"

namespace phx::runtime {

/// What one vnode may carry when it moves [limits]: between an application and its daemon it
/// travels in one frame, and the wire takes that much.
inline constexpr std::uint64_t kVnodeBytesMax = std::uint64_t{64} << 30U;
/// What keeps more for receivers waits with its move until some of that is received.
inline constexpr std::uint64_t kVnodeKeptMax = std::uint64_t{1} << 30U;
inline constexpr std::uint64_t kVnodeHeaderMax = std::uint64_t{64} << 20U;  ///< All but contents.
inline constexpr std::size_t kVnodeEntriesMax = std::size_t{1} << 20U;      ///< Of each list.
/// Vnodes that come from an application together, or go there, share a message up to this size, so
/// that no frame is longer than the largest vnode makes it.
inline constexpr std::uint64_t kParcelsBytes = std::uint64_t{64} << 20U;

/// Empty if `vnode` can move with `bundle`; else one sentence for the person whose job it is.
[[nodiscard]] std::string why_immovable(VnodeId vnode, const VnodeBundle& bundle);

/// The same parcels in the same order, in portions of at most kParcelsBytes, or of one parcel.
[[nodiscard]] std::vector<std::vector<VnodeParcel>> in_portions(std::vector<VnodeParcel> parcels);

}  // namespace phx::runtime
