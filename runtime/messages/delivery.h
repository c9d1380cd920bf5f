#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "runtime/messages/reduction_ends.h"

namespace phx::runtime {

/// One piece of a message from vnode to vnode. `seq` counts the pieces of one (from, to) pair:
/// whatever way a piece took, the destination takes them in this order, each once.
struct PointToPoint {
  VnodeId from;
  VnodeId to;
  std::uint64_t seq = 0;
  std::uint32_t tag = 0;
  std::uint64_t rest = 0;  ///< Bytes of the same message in the pieces that follow.
  Payload payload;
  friend bool operator==(const PointToPoint&, const PointToPoint&) = default;
};

/// A broadcast piece for the vnodes of one application process.
struct BroadcastDelivery {
  VnodeSet to;
  collectives::BroadcastPiece piece;
  friend bool operator==(const BroadcastDelivery&, const BroadcastDelivery&) = default;
};

/// What the pieces of a flow weigh: credit counts with it, at both ends alike.
inline constexpr std::uint64_t kPieceOverhead = 64;
[[nodiscard]] inline std::uint64_t flow_weight(const PointToPoint& piece) {
  return kPieceOverhead + piece.payload.size();
}

/// How far the flow of pieces `from` -> `to` has come: said by its receiving end (or by a daemon
/// that dropped a piece) to its source, so this message goes to `from`. All numbers only grow, so
/// that an old one, or one said twice, does no harm.
struct FlowCredit {
  VnodeId from;
  VnodeId to;
  std::uint64_t received = 0;          ///< Pieces below it need not be kept any more.
  std::uint64_t limit = 0;             ///< Pieces that begin below this offset may be sent.
  std::optional<std::uint64_t> again;  ///< Send this piece and those behind it once more.
  /// Reductions towards `to` with numbers below it are complete; kFlowClosed: it needs none.
  std::uint64_t reduced = 0;
  friend bool operator==(const FlowCredit&, const FlowCredit&) = default;
};
/// `received` of a receiver that takes nothing any more: whatever comes is dropped.
inline constexpr std::uint64_t kFlowClosed = ~std::uint64_t{0};

/// The source of a flow asks its receiving end for a FlowCredit. `is_lost`: what was on its way may
/// be lost, so the answer says from where to send again.
struct FlowQuestion {
  VnodeId from;
  VnodeId to;
  bool is_lost = false;
  /// Not 0: not about the flow, but whether the reductions towards `to` below it are complete.
  std::uint64_t reductions = 0;
  friend bool operator==(const FlowQuestion&, const FlowQuestion&) = default;
};

/// Anything a daemon hands to an application process for vnodes it holds.
using Delivery = std::variant<PointToPoint, BroadcastDelivery, collectives::ReductionToken,
                              FlowCredit, FlowQuestion>;

/// A complete message in a vnode's mailbox, in the order of arrival.
struct Message {
  enum class Kind : std::uint8_t { kPointToPoint, kBroadcast, kReduced, kAllreduced };
  Kind kind = Kind::kPointToPoint;
  VnodeId from;              ///< Sender, root of the broadcast, or target of the reduction.
  std::uint64_t number = 0;  ///< Of the reduction; else unused.
  std::uint32_t tag = 0;
  Payload payload;
  friend bool operator==(const Message&, const Message&) = default;
};

/// Everything the library knows about one vnode besides the application's own state. It moves with
/// the vnode [Saito08 G12, G13, G16].
struct VnodeBundle {
  /// Pieces of one ordered stream (one sender, or one broadcasting root).
  struct Inbound {
    std::uint64_t next = 0;      ///< The number expected next; lower ones are duplicates.
    std::vector<Payload> begun;  ///< Pieces of the message not yet complete.
    std::map<std::uint64_t, Delivery> early;  ///< Overtook their predecessors.
    // Of flows from vnodes, in weights of pieces; 0: as at the beginning.
    std::uint64_t offset = 0;  ///< Of piece `next`.
    std::uint64_t limit = 0;   ///< Granted to the source.
    std::uint64_t window = 0;  ///< How far `limit` goes beyond what the program has taken.
    friend bool operator==(const Inbound&, const Inbound&) = default;
  };
  /// The source's end of a flow to one vnode.
  struct Outbound {
    std::uint64_t next = 0;         ///< Number of the next piece.
    std::uint64_t received = 0;     ///< The receiver has the pieces below; kFlowClosed: wants none.
    std::uint64_t emitted = 0;      ///< The pieces below were handed to the daemon.
    std::uint64_t offset = 0;       ///< Of piece `emitted`.
    std::uint64_t limit = 0;        ///< Granted; 0: as at the beginning.
    std::deque<PointToPoint> kept;  ///< Pieces `received` ... `next - 1`.
    friend bool operator==(const Outbound&, const Outbound&) = default;
  };

  std::optional<Payload> state;                 ///< The application's; absent before its first run.
  std::vector<Message> mailbox;                 ///< Complete and not yet received.
  std::map<VnodeId, Outbound> to_vnodes;        ///< Per destination.
  std::map<VnodeId, Inbound> from_vnodes;       ///< Per sender.
  std::map<VnodeId, Inbound> from_roots;        ///< Per broadcasting root.
  std::uint64_t broadcasts = 0;                 ///< Next number of its own broadcasts.
  std::map<VnodeId, std::uint64_t> reductions;  ///< Next number per target.
  std::map<VnodeId, Contributed> to_targets;    ///< Only those of which something is kept.
  AsTarget as_target;
  friend bool operator==(const VnodeBundle&, const VnodeBundle&) = default;
};

/// A vnode on its way: at any instant it has one owner, or is in exactly one of these. What waits
/// for the vnode is no part of it: that follows as messages, however much it is.
struct VnodeParcel {
  VnodeId vnode;
  Epoch epoch = 0;  ///< At which the receiver will own it.
  VnodeBundle bundle;
  friend bool operator==(const VnodeParcel&, const VnodeParcel&) = default;
};

}  // namespace phx::runtime
