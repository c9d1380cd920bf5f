#pragma once

#include <deque>
#include <optional>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/tree_view.h"
#include "overlay/mst/spanning_tree.h"
#include "overlay/planners/learned_trees.h"

namespace phx::runtime {

/// The minimum spanning tree that the processors of a mesh find and adapt themselves [overlay/mst],
/// as the trees of jobs that ask for it (style "agm"). The weights of channels are the round trips
/// of the learned network; channels that no minimum spanning tree of it has are left out. Who joins
/// makes recoveries of its channels, who leaves makes failures.
/// Runs from the first such job on. Not thread-safe.
///
/// Does not guarantee: a tree. Until one is known, and of roots that it does not reach, it has
/// none.
class AgmTrees {
 public:
  using Outbox = mst::SpanningTree::Outbox;

  explicit AgmTrees(ProcessorId self) : self_(self) {}

  /// Command: from now on there is one.
  void begin(planners::LearnedTrees& known, const ProcessorSet& live, Outbox& out);
  // Inputs.
  /// Who lives, or what `known` has of the network, may be something else now.
  void on_change(planners::LearnedTrees& known, const ProcessorSet& live, Outbox& out);
  /// What is from one who is not known yet waits until it is; of one who has left it is dropped.
  void on_message(ProcessorId from, const mst::Message& message, Outbox& out);

  // Queries.
  [[nodiscard]] bool is_running() const { return tree_.has_value(); }
  /// Empty: of another style, or not known. A hint, as all views.
  [[nodiscard]] std::optional<TreeView> view(TreeId id) const;

 private:
  struct Letter {
    ProcessorId from;
    mst::Message message;
  };

  ProcessorId self_;
  ProcessorSet live_;
  ProcessorSet gone_;         ///< Lived, and do not.
  std::deque<Letter> early_;  ///< Of those who were in no view yet.
  std::optional<mst::SpanningTree> tree_;
};

}  // namespace phx::runtime
