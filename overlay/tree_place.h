#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/horizon.h"
#include "overlay/messages.h"

namespace phx::overlay {

/// Of trees that are found by local rules.
inline constexpr std::array kAdaptiveKinds = {TreeKind::kLatency, TreeKind::kBandwidth};

/// Whether this tree is found by local rules: of each kind a root has one, so that a live root can
/// make others remember two trees and no more.
[[nodiscard]] constexpr bool is_adaptive(TreeId id) {
  return (id.kind == TreeKind::kLatency || id.kind == TreeKind::kBandwidth) && id.number == 0;
}

/// The parent of one processor in one tree.
struct TreeParent {
  ProcessorId id;
  std::uint64_t attachment = 0;
  TreeAdvert advert;         ///< As last heard.
  Duration round_trip{};     ///< As well as known.
  Duration mebibyte{};       ///< How long one takes from there, alone. Of bandwidth trees.
  bool provisional = false;  ///< What the tree measures is not measured yet, see the README.
  ProcessorSet told;         ///< What it believes to be below this processor.
  std::uint64_t version = 0;
};

/// What an accepted place has to be, because it was not weighed before it was asked for.
enum class TreeFit : std::uint8_t { kAny, kAsWide, kWider };

/// The one Attach that is in the air.
struct TreeAttempt {
  ProcessorId to;
  std::uint64_t attachment = 0;
  std::uint32_t children_seen = 0;
  std::uint32_t steps = 0;  ///< Of a line up: so many redirections may be followed.
  TreeFit fit = TreeFit::kAny;
  Instant sent{};
  ProcessorSet told = {};
};

/// For a first parent, or for another one after the last was lost.
struct TreeSearch {
  std::vector<ProcessorId> tries;  ///< Whom to ask next; last first.
  ProcessorSet tried;              ///< Asked since the parent was lost.
  std::uint32_t setbacks = 0;      ///< Times that even the root refused since then.
};

/// When the timers of a tree are due.
struct TreeDues {
  std::optional<Instant> attach;
  std::optional<Instant> update;
  std::optional<Instant> set;
  std::optional<Instant> relabel;  ///< At the root; elsewhere the end of holding back.
};

/// A processor that has to share its parent lines up behind another child [README, "Lines"].
struct TreeLineUp {
  std::optional<Instant> due;
  std::uint32_t tries = 0;  ///< Since the parent or the members changed.
};

/// What one processor knows of the line that it is part of.
struct TreeLine {
  /// Who asked last to be a child, as one that comes first, and when.
  struct End {
    ProcessorId id;
    Instant at;
  };
  End near;  ///< Of this site, ...
  End far;   ///< and of others.
  std::optional<TreeLineUp> up;
  /// Downloaded from to compare the parent with, since it or the members changed.
  ProcessorSet compared;
  bool is_slow = false;  ///< It keeps no children.
};

/// A move that only labels forbid.
struct TreeWish {
  ProcessorId parent{};             ///< kNobody: none.
  std::uint32_t children_seen = 0;  ///< For the attempt after the sequence number was raised.
  std::uint32_t steps = 0;
  TreeFit fit = TreeFit::kAny;
  bool holds = false;  ///< The new sequence number has to come from there [README, "Holding back"].
};
struct TreeHold {
  TreeWish wish;
  std::optional<TreeAdvert> advert;  ///< Of the parent, held back.
};

/// Whether the parent is of the same site.
[[nodiscard]] inline bool hangs_beside(const Horizon& horizon,
                                       const std::optional<TreeParent>& parent) {
  return parent && horizon.links.is_beside(parent->id);
}

}  // namespace phx::overlay
