#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/tree_store.h"

namespace phx::runtime {

/// The roots in whose collectives a processor takes part. What is long may come along their trees
/// for long messages next, so the ways there shall be warm before [overlay/survey, "Warm ways"].
class WarmRoots {
 public:
  /// A tree was drawn here, because it is used. Further roots than `kMost` count as not used, until
  /// one of these was not used for a minute.
  void on_drawn(Instant now, TreeId id);
  /// A copy or a contribution is passed on along it.
  void on_used(Instant now, TreeId id);
  void on_members(const ProcessorSet& members);
  /// Parents and children, in trees for long messages, of roots whose trees were drawn since; and
  /// what passes between them of a message of 64 KiB, in bytes.
  [[nodiscard]] std::map<ProcessorId, std::uint64_t> take_partners(const overlay::TreeStore& trees);
  /// Children in all trees that take turns with one that was used, if none of them was for a
  /// second: the next pieces come along the others, and find their ways open.
  [[nodiscard]] std::set<ProcessorId> take_children(const overlay::TreeStore& trees);

 private:
  using Turns = std::pair<ProcessorId, SizeClass>;  ///< The trees of this root for such messages.

  static constexpr std::uint64_t kMost = 8;  ///< [limit]
  static constexpr Duration kLong = 1min;
  static constexpr Duration kPause = 1s;     ///< Less is a stream, in which all have their turn.

  [[nodiscard]] bool counts(Instant now, ProcessorId root);

  std::map<ProcessorId, Instant> used_;  ///< And when last.
  std::vector<ProcessorId> drawn_;
  std::map<Turns, Instant> used_at_;
  std::vector<Turns> opening_;
};

}  // namespace phx::runtime
