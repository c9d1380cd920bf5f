#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/payload.h"
#include "overlay/base/tree_view.h"

namespace phx::collectives {

/// Which collective a piece belongs to, so that the library can match it with the call. The last
/// two are no pieces, but go their ways: the root asks how far its receivers have come.
enum class Purpose : std::uint8_t {
  kApplication = 0,
  kAllreduce = 1,
  kReduced = 2,   ///< No message: reductions towards the root, up to number `tag`, are complete.
  kQuestion = 3,  ///< All below `number` left for you, `tag` more will: what have you got?
  kRepair = 4,    ///< The same, and what was on its way may be lost.
};
[[nodiscard]] inline bool is_question(Purpose purpose) {
  return purpose == Purpose::kQuestion || purpose == Purpose::kRepair;
}

/// One piece of a broadcast. All pieces of a root vnode are numbered 0, 1, 2, ...; a vnode takes
/// them in order and drops those below the next: order and filter in one counter [Saito08 G13].
struct BroadcastPiece {
  VnodeId root;
  std::uint64_t number = 0;
  std::uint32_t tag = 0;
  Purpose purpose = Purpose::kApplication;
  std::uint8_t rest_bits = 0;  ///< std::bit_width() of the bytes still to come; 0: the last one.
  Payload payload;
  SizeClass size = 0;  ///< Of the whole broadcast: which tree its root begins with.
  friend bool operator==(const BroadcastPiece&, const BroadcastPiece&) = default;
};

/// Vnodes still to be served, all reached by following ownership up to `epoch` (0: not looked up).
struct Tokens {
  VnodeSet vnodes;
  Epoch epoch = 0;
  friend bool operator==(const Tokens&, const Tokens&) = default;
};

/// A copy of a piece that travels down a tree and must serve exactly `vnodes` [Saito08 E1, G9].
struct TreeCopy {
  TreeId tree;
  std::uint32_t hops_left = 0;  ///< At 0 the rest goes point-to-point [Saito08 G10].
  VnodeSet vnodes;
  BroadcastPiece piece;
  Drawing drawing = 0;  ///< Of the tree, when the root sent it.
  friend bool operator==(const TreeCopy&, const TreeCopy&) = default;
};

/// A copy outside the tree. `mine` is for vnodes whose believed owner is the receiver; `onward` is
/// for the receiver to pass on, halving the list of owners [Saito08 G11]. Never returns to a tree.
struct FallbackCopy {
  struct Onward {
    ProcessorId owner;
    std::vector<Tokens> tokens;
    friend bool operator==(const Onward&, const Onward&) = default;
  };
  std::vector<Tokens> mine;
  std::vector<Onward> onward;
  BroadcastPiece piece;
  friend bool operator==(const FallbackCopy&, const FallbackCopy&) = default;
};

enum class ReduceOp : std::uint8_t {
  kSum,
  kMin,
  kMax,
  kProduct,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kBitAnd,
  kBitOr,
  kBitXor,
  kUser,    ///< Bundled: never combined on the way; the target folds in vnode order.
  kGather,  ///< Bundled, too; the target takes the values as they are.
};
enum class ReduceType : std::uint8_t {
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kBytes,  ///< Only with kUser and kGather.
};

/// The number of the learned tree that it goes along, or goes by the turn of. The same for all
/// tokens of one reduction, if programs are right; else it goes to the target by itself in the end.
using ReductionWay = std::uint8_t;
inline constexpr ReductionWay kShortWay = 0;
inline constexpr ReductionWay kWays = kLearnedTrees;
/// `size`: of the whole value, of which reduction `number` is a piece.
[[nodiscard]] constexpr ReductionWay way_of(std::uint64_t number, SizeClass size, bool ordered) {
  return static_cast<ReductionWay>(learned_number(size, number, ordered));
}

/// One reduction: the `number`-th towards `target` (every vnode counts its own calls).
struct ReductionId {
  VnodeId target;
  std::uint64_t number = 0;
  friend constexpr auto operator<=>(const ReductionId&, const ReductionId&) = default;
};

struct ReductionKind {
  ReduceOp op = ReduceOp::kSum;
  ReduceType type = ReduceType::kInt64;
  bool to_all = false;   ///< The target broadcasts the result (allreduce).
  bool ordered = false;  ///< Floating-point: the same bits in any tree [README, "Ordered"].
  std::uint64_t whole_bytes = 0;  ///< Of a value that comes in several reductions, all; else 0.
  friend bool operator==(const ReductionKind&, const ReductionKind&) = default;
};

/// A value and the vnodes whose contributions are in it. Sets of different parts are disjoint.
struct ReductionPart {
  VnodeSet covered;
  Payload value;
  friend bool operator==(const ReductionPart&, const ReductionPart&) = default;
};

/// Contributions on their way to the target: tokens, passed on once [Saito08 G16]. Operators keep
/// one part, or one per block if they are ordered, or one per vnode if they are bundled.
struct ReductionToken {
  ReductionId id;
  ReductionKind kind;
  std::vector<ReductionPart> parts;
  /// The sender has passed on all it waited for: the receiver need not wait for it any more.
  bool complete = false;
  /// Deaths that the contributors knew of. A vnode contributes once under each line until the
  /// reduction is complete, and nothing of two lines is combined [README, "Lines"].
  std::uint64_t line = 0;
  ReductionWay way = kShortWay;  ///< Which tree of the target's owner it takes.
  friend bool operator==(const ReductionToken&, const ReductionToken&) = default;
};

/// What the collectives of one job send between processors.
using Message = std::variant<TreeCopy, FallbackCopy, ReductionToken>;

}  // namespace phx::collectives
