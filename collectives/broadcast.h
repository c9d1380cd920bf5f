#pragma once

#include <cstdint>
#include <vector>

#include "collectives/messages.h"
#include "collectives/owner_group.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/tree_view.h"

/// One processor's part of a broadcast, as pure functions: a copy comes in with vnodes to serve,
/// and every one of them goes to exactly one place [Saito08 E1, G9]. Nothing is remembered between
/// copies, so trees and ownership may change at any moment; why this is exact is in the README.
/// The filter against duplicates and the order per root belong to the vnode, not to this layer.
/// Thread rule: no state, callable from anywhere.
namespace phx::collectives {

/// What a processor does with the vnodes of a tree copy. The parts are disjoint and together are
/// exactly the vnodes asked for.
struct BroadcastPlan {
  struct Child {
    ProcessorId id;
    VnodeSet vnodes;  ///< Not empty.
    friend bool operator==(const Child&, const Child&) = default;
  };
  VnodeSet deliver;             ///< Held here (H1).
  std::vector<Child> children;  ///< Below a child (H2), in the order of the tree.
  std::vector<OwnerGroup> rest;  ///< Everything else (H3), for split_fallback().
  VnodeSet unknown;  ///< In no group: outside of the job's vnode space. To be counted and dropped.
  friend bool operator==(const BroadcastPlan&, const BroadcastPlan&) = default;
};

/// Partitions `to_serve`: vnodes in `own` first, then for each child, in the order of the tree, the
/// vnodes whose believed owner is below it, the rest outside the tree [Saito08 H1-H3, G9]. `others`
/// is what is known of the vnodes of `to_serve` not in `own`; groups of `self` (a vnode on its way
/// here) stay in `rest`. `tree` is a hint and may be anything. Null, or `hops_left` of the copy
/// that came in being 0: nothing goes to children [Saito08 G10]. Copies to children carry
/// `hops_left - 1`. REQUIRES disjoint `others`.
[[nodiscard]] BroadcastPlan split_tree_copy(ProcessorId self, const VnodeSet& to_serve,
                                            const VnodeSet& own,
                                            const std::vector<OwnerGroup>& others,
                                            const TreeView* tree, std::uint32_t hops_left);

/// What a processor does with vnodes to be served outside the tree.
struct FallbackPlan {
  struct Send {
    ProcessorId to;
    FallbackCopy copy;
    friend bool operator==(const Send&, const Send&) = default;
  };
  std::vector<Send> sends;  ///< At most two, whatever the number of owners.
  friend bool operator==(const FallbackPlan&, const FallbackPlan&) = default;
};

/// Sends `groups` (in any order) on with one copy per owner in all: the list of owners is halved,
/// the first owner of each half gets its own tokens as `mine` and the others of its half as
/// `onward`. So n owners are served by n messages in about log2(n) steps [Saito08 G11]. REQUIRES
/// that `self` is none of the owners.
[[nodiscard]] FallbackPlan split_fallback(ProcessorId self, std::vector<OwnerGroup> groups,
                                          const BroadcastPiece& piece);

/// The `onward` list of a received copy as groups again, for split_fallback() as it is or for a
/// vnode map to learn from first. The list comes from a peer: a vnode named twice counts once.
[[nodiscard]] std::vector<OwnerGroup> groups_of(const std::vector<FallbackCopy::Onward>& onward);

}  // namespace phx::collectives
