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

/// Messages by their size: 0 are those below kLongMessage bytes, 1 and following those of 64 KiB,
/// 256 KiB, 1 MiB, 4 MiB at most, and all others. What is best for one size is not for another.
using SizeClass = std::uint8_t;
inline constexpr SizeClass kSizeClasses = 6;
inline constexpr std::uint64_t kLongMessage = 8192;
/// What a message of this class is taken for.
[[nodiscard]] constexpr std::uint64_t usual_bytes(SizeClass size) {
  return size == 0 ? 1 : std::uint64_t{16384} << (2U * size);
}
[[nodiscard]] constexpr SizeClass size_class(std::uint64_t bytes) {
  if (bytes < kLongMessage) return 0;
  SizeClass size = 1;
  while (size + 1 < kSizeClasses && bytes > usual_bytes(size)) ++size;
  return size;
}

/// So many learned trees of a root take turns with the pieces of a message of this class, or half
/// or a quarter of them, if more gain nothing.
[[nodiscard]] constexpr std::uint32_t long_trees(SizeClass size) {
  return size == 0 ? 1 : 8;
}
/// So many take turns with those of an ordered sum: trees with a range of a site below each.
inline constexpr std::uint32_t kRangeTrees = 2;
/// Of a root's learned trees number 0 is for short messages. Then those of each class: for any
/// message, and behind them those with ranges where these are other ones.
[[nodiscard]] constexpr std::uint32_t first_learned(SizeClass size) {
  std::uint32_t first = 0;
  for (SizeClass each = 0; each < size; ++each) {
    first += long_trees(each) + (long_trees(each) > kRangeTrees ? kRangeTrees : 0);
  }
  return first;
}
inline constexpr std::uint32_t kLearnedTrees = first_learned(kSizeClasses);
[[nodiscard]] constexpr std::uint32_t learned_number(SizeClass size, std::uint64_t piece,
                                                     bool in_ranges = false) {
  const std::uint32_t any = long_trees(size);
  if (!in_ranges || any <= kRangeTrees) {
    return first_learned(size) + static_cast<std::uint32_t>(piece % any);
  }
  return first_learned(size) + any + static_cast<std::uint32_t>(piece % kRangeTrees);
}
/// REQUIRES a number below kLearnedTrees.
[[nodiscard]] constexpr SizeClass size_of_learned(std::uint32_t number) {
  SizeClass size = 0;
  while (number >= first_learned(static_cast<SizeClass>(size + 1U))) ++size;
  return size;
}
/// Of those that are for ordered sums alone.
[[nodiscard]] constexpr bool has_ranges(std::uint32_t number) {
  const SizeClass size = size_of_learned(number);
  return number >= first_learned(size) + long_trees(size);
}

/// The name of a tree: the processor it belongs to, what it is good for, and which of several.
struct TreeId {
  ProcessorId root;
  TreeKind kind = TreeKind::kLatency;
  std::uint32_t number = 0;
  friend constexpr auto operator<=>(const TreeId&, const TreeId&) = default;
};

/// From what trees were drawn: which network, and which members. Processors that know the same draw
/// the same, and give it the same name; the last hundred names are different ones.
using Drawing = std::uint32_t;
[[nodiscard]] constexpr Drawing drawing_of(std::uint64_t network, std::uint64_t members) {
  constexpr std::uint64_t kNames = 128;
  return static_cast<Drawing>(network % kNames * kNames + members % kNames);
}

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
