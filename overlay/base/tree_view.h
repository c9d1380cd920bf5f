#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"

namespace phx {

/// Which measure a tree improves: round trips (short messages) or bandwidth (long ones); or that a
/// planner drew it: over a network that was given, or over one that was learned.
enum class TreeKind : std::uint8_t { kLatency = 0, kBandwidth = 1, kPlanned = 2, kLearned = 3 };

/// Of a root's learned trees number 0 is for short pieces; so many more are for pieces of
/// kLongPiece bytes and above, in turns.
inline constexpr std::uint32_t kLongTrees = 2;
inline constexpr std::uint64_t kLongPiece = 8192;

/// The name of a tree: the processor it belongs to, what it is good for, and which of several.
struct TreeId {
  ProcessorId root;
  TreeKind kind = TreeKind::kLatency;
  std::uint32_t number = 0;
  friend constexpr auto operator<=>(const TreeId&, const TreeId&) = default;
};

/// One child of this processor in a tree and every processor below it (the child included).
struct TreeChild {
  ProcessorId id;
  ProcessorSet below;
  friend bool operator==(const TreeChild&, const TreeChild&) = default;
};

/// What one processor knows of one tree, as a value: the only joint between those who make trees
/// (adaptive trees, planners) and those who use them (collectives). It is a hint: it may be stale,
/// overlap or even be cyclic, and the collectives stay exact [Saito08 G9].
struct TreeView {
  TreeId id;
  std::optional<ProcessorId> parent;  ///< Empty at the root and while not connected.
  std::vector<TreeChild> children;    ///< In the order in which they are to be served.
  std::uint64_t version = 0;          ///< Grows with every change of this view.
  Duration distance_to_root{};  ///< Sum of round trips to the root; kForever if not connected.
  friend bool operator==(const TreeView&, const TreeView&) = default;
};

}  // namespace phx
