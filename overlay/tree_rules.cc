#include "overlay/tree_rules.h"

#include <algorithm>

namespace phx::overlay {
namespace {

constexpr Duration::rep kHopLoss = 1024;  ///< A hop costs this part of the time.
/// Longer ones are not believed, and a child's is longer than its parent's up to here.
constexpr Duration kTimeMost = kDistanceMax / 2;

}  // namespace

Duration cost(const TreeAdvert& place) {
  return place.tree.kind == TreeKind::kBandwidth ? place.mebibyte_time : place.distance;
}

bool is_sane(const TreeAdvert& place) {
  if (!place.connected) return true;
  const auto is_within = [](Duration time, Duration most) {
    return time >= Duration{0} && time <= most;
  };
  return is_within(place.distance, kDistanceMax) && is_within(place.mebibyte_time, kTimeMost) &&
         place.label.feasible >= Duration{0} && place.label.feasible <= cost(place);
}

Duration mebibyte_time(std::uint64_t bytes_per_second) {
  constexpr double kMebibyte = 1 << 20;
  constexpr double kNanoseconds = 1e9;
  const double rate = static_cast<double>(std::max<std::uint64_t>(bytes_per_second, 1));
  return Duration{static_cast<Duration::rep>(kMebibyte * kNanoseconds / rate)};
}

Duration time_below(const TreeAdvert& parent, Duration edge, std::uint32_t children,
                    ProcessorId self) {
  const Duration::rep sharing = std::max<std::uint32_t>(children, 1);
  const Duration shared = edge > kTimeMost / sharing ? kTimeMost : edge * sharing;
  const Duration slower =
      std::clamp(std::max(parent.mebibyte_time, shared), Duration{1}, kTimeMost);
  return slower + slower / kHopLoss + Duration{1 + self.value % 1009};
}

bool is_nearer(const Choice& candidate, const Choice& parent, Duration own) {
  const Duration edge = parent.round_trip;
  const Duration now = parent.place.distance + edge;
  const Duration then = candidate.place.distance + candidate.round_trip;
  // L1, with the hysteresis of [Saito08 G19]. Deviation: a little farther from the root is fine for
  // a much shorter edge; labels exclude cycles in any case.
  const bool shorter_edge = candidate.round_trip <= edge / 10 * 9;
  if (shorter_edge && (candidate.place.distance < own || then <= now + edge / 4)) return true;
  // Deviation: clearly nearer to the root over an edge that is not longer. L1 alone never replaces
  // two long hops by one.
  return candidate.round_trip <= edge / 5 * 6 && then < now / 5 * 4;
}

bool is_wider(Duration then, Duration now) {
  return then <= now / 10 * 9;
}

bool is_as_wide(Duration then, Duration now) {
  return then <= now / 10 * 11;
}

}  // namespace phx::overlay
