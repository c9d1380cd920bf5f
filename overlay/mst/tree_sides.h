#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/outbox.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/mst/messages.h"

namespace phx::mst {

/// One neighbour in a tree, and all that is reached through it.
struct TreeSide {
  Duration weight{};        ///< Of the edge to it.
  ProcessorSet processors;  ///< It, and who is behind it.
  Duration farthest{};      ///< Sum of weights from it to the farthest one behind it.
  friend bool operator==(const TreeSide&, const TreeSide&) = default;
};
using TreeSides = std::map<ProcessorId, TreeSide>;

/// The tree as `root` sees it, at one processor of it. Its distance to the root is that to the
/// farthest processor of the root's side. The longest edges are served first. Empty: no side has
/// the root.
[[nodiscard]] std::optional<TreeView> view_of(const TreeSides& sides, ProcessorId self, TreeId id,
                                              std::uint64_t version);

/// One processor's part of learning who is behind whom: each tells a neighbour of all others as
/// soon as these have told it. 2 messages for each edge. Thread rule: one owner.
class SideSearch {
 public:
  /// All neighbours have told.
  struct Known {
    friend bool operator==(const Known&, const Known&) = default;
  };
  using Outbox = phx::Outbox<Message, NoTimer, Known>;

  /// `neighbours`: with the weights of the edges to them.
  SideSearch(ProcessorId self, const RoundId& round,
             const std::map<ProcessorId, Duration>& neighbours);

  void start(Outbox& out);
  /// What is from no neighbour, or comes twice, changes nothing.
  void on_behind(ProcessorId from, const Behind& m, Outbox& out);

  [[nodiscard]] const TreeSides& sides() const { return sides_; }

 private:
  void tell(Outbox& out);

  ProcessorId self_;
  RoundId round_;
  TreeSides sides_;
  std::set<ProcessorId> heard_;
  std::set<ProcessorId> told_;
};

}  // namespace phx::mst
