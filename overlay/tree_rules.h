#pragma once

#include <cstdint>

#include "overlay/base/time.h"
#include "overlay/messages.h"

// What the adaptive trees of both kinds measure, and when one parent is better than another.

namespace phx::overlay {

/// Distances, and times of a MiB, of peers above this are not believed; sums of two fit.
inline constexpr Duration kDistanceMax = kForever / 8;

/// What the labels of a tree compare: the distance, or the time of a MiB.
[[nodiscard]] Duration cost(const TreeAdvert& place);

/// Whether `place` can be what a correct processor says: we rely on it for labels [Saito08 G5 R3].
[[nodiscard]] bool is_sane(const TreeAdvert& place);

/// How long a MiB takes at so many bytes per second.
[[nodiscard]] Duration mebibyte_time(std::uint64_t bytes_per_second);

/// est(p, parent) = min(est_parent, rate / children), as the time of a MiB: `children` share the
/// interface of the parent, the one that asks among them [Saito08 D, G1, G2]. A little longer than
/// the parent's own, so that labels grow along the tree [Saito08 G5 R3]; `self` breaks ties.
[[nodiscard]] Duration time_below(const TreeAdvert& parent, Duration edge, std::uint32_t children,
                                  ProcessorId self);

/// One parent, the present one or another, as the child sees it.
struct Choice {
  const TreeAdvert& place;
  Duration round_trip{};
};
/// L1, and its deviations [README]. `own`: the child's distance now.
[[nodiscard]] bool is_nearer(const Choice& candidate, const Choice& parent, Duration own);

/// Whether a MiB comes clearly sooner: by a tenth [Saito08 D, G19].
[[nodiscard]] bool is_wider(Duration then, Duration now);
/// Whether it comes as soon, up to a tenth.
[[nodiscard]] bool is_as_wide(Duration then, Duration now);

}  // namespace phx::overlay
