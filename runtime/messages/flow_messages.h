#pragma once

#include <cstdint>
#include <optional>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"

// Flows from vnode to vnode, and broadcasts: pieces, credit and questions.
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

/// Pieces of long broadcasts and reductions: none is shorter than the first, but the last one.
/// Where the wire takes longer than the daemons, a job's least piece is not longer than the second.
inline constexpr std::uint32_t kShortestPiece = std::uint32_t{4} << 10U;
inline constexpr std::uint32_t kShortPiece = std::uint32_t{16} << 10U;
/// The least piece of a job that begins on one machine, and of no other.
inline constexpr std::uint32_t kLocalPiece = std::uint32_t{256} << 10U;

/// How broadcasts and long reductions of a job are cut into pieces. Of 0: as the processes are
/// built.
struct CastCut {
  std::uint32_t least = 0;  ///< Bytes of a piece.
  /// Each piece costs daemons the time in which so many bytes pass an interface, for each level of
  /// a tree.
  std::uint32_t cost = 0;
  friend bool operator==(const CastCut&, const CastCut&) = default;
};

/// What the pieces of a flow weigh: credit counts with it, at both ends alike.
inline constexpr std::uint64_t kPieceOverhead = 64;
[[nodiscard]] inline std::uint64_t flow_weight(const PointToPoint& piece) {
  return kPieceOverhead + piece.payload.size();
}
[[nodiscard]] inline std::uint64_t flow_weight(const collectives::BroadcastPiece& piece) {
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
  /// Reductions towards `to` with numbers below it are complete; kFlowClosed, kFlowIncomplete: it
  /// needs none.
  std::uint64_t reduced = 0;
  friend bool operator==(const FlowCredit&, const FlowCredit&) = default;
};
/// `received` of a receiver that takes nothing any more: whatever comes is dropped.
inline constexpr std::uint64_t kFlowClosed = ~std::uint64_t{0};
/// As kFlowClosed, of reductions, by a target that knows that one of those asked for is incomplete.
inline constexpr std::uint64_t kFlowIncomplete = kFlowClosed - 1;

/// The source of a flow asks its receiving end for a FlowCredit, at once, and once more when all
/// pieces below `end` have come. `is_lost`: what was on its way may be lost, so the answer says
/// from where to send again.
struct FlowQuestion {
  VnodeId from;
  VnodeId to;
  bool is_lost = false;
  std::uint64_t end = 0;
  /// Not 0: not about the flow, but whether the reductions towards `to` below it are complete.
  std::uint64_t reductions = 0;
  friend bool operator==(const FlowQuestion&, const FlowQuestion&) = default;
};

/// How far the broadcasts of `root` have come at `vnodes`: said by the process that holds them (or
/// by a daemon that dropped a piece for them) to the root. As with FlowCredit, all numbers only
/// grow.
struct CastCredit {
  VnodeId root;
  VnodeSet vnodes;
  std::uint64_t received = 0;          ///< Pieces below it need not be kept for them any more.
  std::uint64_t limit = 0;             ///< Pieces that begin below this offset may be sent.
  std::optional<std::uint64_t> again;  ///< Send this piece and those behind it once more.
  /// But not to those who have all pieces below this: what was dropped has come on another way.
  std::optional<std::uint64_t> until = std::nullopt;
  friend bool operator==(const CastCredit&, const CastCredit&) = default;
};

}  // namespace phx::runtime
