#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/time.h"
#include "overlay/base/tree_view.h"
#include "overlay/network/known_network.h"
#include "runtime/messages/client_messages.h"

namespace phx::app {

/// A tree as the processors of a mesh know it at one moment: whom each of them serves, in its
/// order, with what the mesh has measured of each edge. A value for text and pictures.
struct ShownTree {
  struct Edge {
    ProcessorId from;
    ProcessorId to;
    std::optional<Duration> latency;         ///< One way.
    std::optional<std::uint64_t> rate;       ///< Bytes per second: the narrowest place of the way.
    std::optional<ProcessorId> other_above;  ///< `to` names this one as its parent instead.
  };
  TreeId id;
  std::vector<Edge> edges;           ///< From the root on, in the order of a walk through it.
  std::vector<ProcessorId> missing;  ///< Members that nobody serves in it.
  std::map<ProcessorId, std::string> sites;  ///< Empty: in none yet.

  [[nodiscard]] std::map<ProcessorId, std::vector<const Edge*>> by_parent() const;
  /// Edges from the root to this one; of the deepest one.
  [[nodiscard]] std::size_t depth() const;

  /// Lines for a terminal, indented by depth.
  [[nodiscard]] std::string text() const;
  /// For Graphviz: a digraph, processors of a site in one cluster.
  [[nodiscard]] std::string dot() const;
  /// The root at the left, one line for each processor without children.
  [[nodiscard]] std::string svg() const;
};

/// Of the answers of a mesh: each tree that some of them know, in the order of their numbers.
[[nodiscard]] std::vector<ShownTree> shown_trees(const runtime::StatusReply& reply,
                                                 const overlay::KnownNetwork& network);

/// "the learned tree of p3, number 5".
[[nodiscard]] std::string spell(TreeId id);

}  // namespace phx::app
