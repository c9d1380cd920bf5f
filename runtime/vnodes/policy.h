#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/network/known_network.h"
#include "runtime/vnodes/vnode_map.h"

// Which vnodes go where [README, "Policy"]. Pure functions of what a processor knows.
namespace phx::runtime {

/// What the moves of a job must know of it besides its vnodes.
struct Standing {
  ProcessorSet ready;    ///< Processors that stay and whose application has attached.
  ProcessorSet members;  ///< Everybody who should hear of new routes, this processor excluded.
  bool leaving = false;  ///< This processor gives everything away.
  bool ending = false;   ///< The application is done somewhere: nothing is offered any more.
  const overlay::KnownNetwork* network = nullptr;  ///< As it was learned; none: nothing is known.
};

/// Why it takes no vnodes, for people.
inline constexpr const char* kLeaves = "this processor leaves";

/// The share every ready processor is entitled to.
[[nodiscard]] std::uint64_t fair_share(const VnodeMap& map, std::uint64_t ready);
/// What is taken for even: to cut off single vnodes for an exact share would leave everybody with
/// many short runs. None for small shares.
struct Gaps {
  std::uint64_t beside = 0;  ///< So much less than who has the vnodes beside the own ones.
  std::uint64_t far = 0;     ///< So much less than the share, if nobody beside has more.
  [[nodiscard]] bool are_none() const { return far == 0; }
};
[[nodiscard]] Gaps gaps_of(std::uint64_t fair);

/// How much somebody has, or how much to ask for.
struct Load {
  std::uint64_t vnodes = 0;
  ProcessorId processor;
  friend bool operator==(const Load&, const Load&) = default;
};

/// How much somebody has who judges this: `own` vnodes, and `incoming` on their way to it.
struct Stock {
  ProcessorId self;
  VnodeSet own;
  std::uint64_t incoming = 0;
};

/// Whether it has so little that it should ask again even if nobody has more to give now.
[[nodiscard]] bool is_short(const Stock& stock, const VnodeMap& map, const Standing& standing);

/// Whom it should ask for how many.
[[nodiscard]] std::vector<Load> wanted(const Stock& stock, const VnodeMap& map,
                                       const Standing& standing);

/// How many of `available` vnodes a donor may give to `to`, which is on the way to owning `theirs`.
[[nodiscard]] std::uint64_t gift_max(std::uint64_t available, const Load& theirs,
                                     const VnodeMap& map, const Standing& standing);

/// Bytes that vnodes would have to take along of what they keep for receivers; those that are not
/// here keep little.
using Kept = std::map<VnodeId, std::uint64_t>;

/// What to give of `available` to `to`, at most `count`: none that keep much, if there are others;
/// else the one that keeps least, if it can move.
[[nodiscard]] VnodeSet choose_light(const VnodeSet& available, const Kept& kept, const Load& to,
                                    const VnodeMap& map);

/// `count` of these for `to`, or all, such that runs stay long.
[[nodiscard]] VnodeSet choose(const VnodeSet& available, ProcessorId to, std::uint64_t count,
                              const VnodeMap& map);

}  // namespace phx::runtime
