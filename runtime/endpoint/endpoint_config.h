#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "overlay/base/tree_view.h"
#include "runtime/messages/flow_messages.h"

namespace phx::runtime {

/// Memory for so many bytes of a long message, without content.
using PayloadRoom = std::function<std::shared_ptr<std::byte[]>(std::size_t)>;

/// How much of the flows to this process may be on its way or wait here.
struct InflowOptions {
  /// May come before this end has said anything; the same in all processes of a job.
  std::uint64_t unasked_bytes = std::uint64_t{64} << 10U;
  /// So wide is the window of whoever sends more than a little and whose receiver takes all of it;
  /// wider ones have to make the flow faster.
  std::uint64_t window_free = std::uint64_t{1} << 20U;
  std::uint64_t window_max = std::uint64_t{16} << 20U;  ///< Of one flow [limit].
  /// Messages that the program has not taken: above it pieces are refused, to be sent again.
  std::uint64_t inbox_bytes = std::uint64_t{64} << 20U;
  /// The same for the flows a waiting call asks for: above it that call fails [limit].
  std::uint64_t inbox_bytes_max = std::uint64_t{1} << 30U;
  /// Of the broadcasts of one root [limit]. Less than a daemon queues for a link.
  std::uint64_t cast_window_max = std::uint64_t{3} << 20U;
  /// Who falls so far behind the others' broadcasts is served apart from them: further than any
  /// latency makes a receiver that is as fast as the others.
  std::uint64_t cast_slack_bytes = std::uint64_t{16} << 20U;
};

/// How far contributions to reductions may go ahead of their target. The same in all processes of
/// a job.
struct ContributionOptions {
  /// Of one vnode towards one target that are not known to be complete.
  std::uint64_t window_bytes = std::uint64_t{64} << 10U;
  std::uint64_t ahead = 16;  ///< So many fit, however long: long values keep the ways busy.

  /// So many bytes of long values fit, so that the longest ways are busy.
  std::uint64_t long_bytes = std::uint64_t{16} << 20U;

  /// What a contribution of this weight takes of the window. Those to a user-defined reduction are
  /// not combined on the way, so less of them may be on it.
  [[nodiscard]] std::uint64_t share_of(std::uint64_t weight, bool is_user) const {
    const std::uint64_t most = std::max<std::uint64_t>(ahead, 1);
    const std::uint64_t share = std::min(weight, (window_bytes + most - 1) / most);
    if (is_user || weight < kShortestPiece) return share;
    const std::uint64_t windows = long_bytes / std::max<std::uint64_t>(window_bytes, 1);
    return std::min(share, weight / std::max<std::uint64_t>(windows, 1) + 1);
  }
};

/// What a flow, or a root, has to keep so that its receivers are asked whether they have it.
struct WorthAsking {
  std::uint64_t flow_bytes = 0;  ///< More than that.
  std::uint64_t cast_bytes = 0;
};

/// How the receivers of flows, broadcasts and contributions are asked what they have.
struct Asking {
  bool is_lost = false;  ///< What they do not have may be lost.
  /// A question is remembered, and answered once more: only those are asked for whom half of what
  /// is kept is younger than the last one.
  bool once = false;
  WorthAsking least = {};
};

/// Knobs of an endpoint. All processes of a job must cut alike: the same `piece_bytes`, and what
/// begins with `cast_`.
struct EndpointConfig {
  std::size_t piece_bytes = std::size_t{256} << 10U;  ///< Longer messages travel in pieces.
  /// Broadcasts travel in pieces of so much at least: each hop of a tree waits for a whole piece,
  /// and each piece costs its daemons time. The job says what suits its network (cast_cut()).
  std::size_t cast_piece_least = std::size_t{64} << 10U;
  /// In so many at most; then in longer ones. Eight times as many where the wire is slower than the
  /// daemons: the job's least pieces are short there.
  std::size_t cast_pieces = 512;
  std::size_t cast_cost = 256;  ///< As CastCut has it.
  /// 0 leaves what is here; what is out of range is limited.
  void take(const CastCut& cut) {
    constexpr std::size_t kCostMost = 4096;
    if (cut.least != 0) cast_piece_least = std::max<std::size_t>(cut.least, kShortestPiece);
    if (cut.cost != 0) cast_cost = std::min<std::size_t>(cut.cost, kCostMost);
  }
  /// n bytes in pieces of s along a tree of depth d take (n/s + d) (s/rate + cost of a piece). That
  /// is least where s is the root of n cost rate / d: 16 KiB of 1 MiB where d is small and the wire
  /// as fast as 1 Gbit/s.
  [[nodiscard]] std::size_t root_piece(std::size_t message) const {
    return std::size_t{1} << ((std::bit_width(message * cast_cost + 1) - 1) / 2);
  }
  /// Of a message of so many bytes to so many vnodes.
  [[nodiscard]] std::size_t cast_piece(std::size_t message, std::uint64_t vnodes) const {
    if (message < kLongMessage) return std::min<std::size_t>(kLongMessage, piece_bytes);
    const std::uint64_t depth = std::bit_ceil(std::max<std::uint64_t>(vnodes, 32)) / 32;
    const bool is_wire_slow = cast_piece_least <= kShortPiece;
    constexpr std::size_t kCostOfLonger = 128;  // as at 500 Mbit/s
    const std::size_t longest = depth < 4 && cast_cost >= kCostOfLonger ? 2 : 1;
    const std::size_t root = std::min(root_piece(message / depth), longest * kShortPiece);
    const std::size_t least = is_wire_slow
                                  ? std::max(cast_piece_least, root)
                                  : std::max<std::size_t>(cast_piece_least / depth, kShortPiece);
    const std::size_t most = is_wire_slow ? 8 * cast_pieces : cast_pieces;
    const std::size_t wanted = std::bit_ceil(std::max<std::size_t>(message / most, 1));
    return std::min(std::max(wanted, least), piece_bytes);
  }
  /// All daemons are on this machine, as far as this process knows. Long pieces are lent from one
  /// to the next there, so what a piece costs is not its bytes.
  bool is_one_machine = false;
  static constexpr std::size_t kLentPiece = std::size_t{1} << 20U;
  static constexpr std::size_t kLentPieces = 64;  ///< Of a broadcast.
  /// As cast_piece(); the root alone decides on it, so it may go by what it has been told since.
  [[nodiscard]] std::size_t broadcast_piece(std::size_t message, std::uint64_t vnodes) const {
    EndpointConfig today = *this;
    // The job began on one machine, and others have come.
    const bool has_grown = !is_one_machine && cast_piece_least >= kLocalPiece;
    if (has_grown) today.cast_piece_least = kShortPiece;
    const std::size_t piece = today.cast_piece(message, vnodes);
    if (!is_one_machine) return piece;
    const std::size_t lent = std::bit_ceil(std::max<std::size_t>(message / kLentPieces, 1));
    return std::max(piece, std::min(lent, kLentPiece));
  }
  std::uint64_t ack_deliveries = 64;                    ///< Acknowledge after so many, or
  std::uint64_t ack_bytes = std::uint64_t{256} << 10U;  ///< after so many bytes.
  /// Of messages and broadcasts that their receivers do not have: further ones are refused above
  /// it; and contribute(), if they and the contributions to reductions that are not complete take
  /// more [limit].
  std::uint64_t outbox_bytes_max = std::uint64_t{1} << 30U;
  /// Of a vnode that is wanted elsewhere, and would have to take along what it keeps: a question
  /// and its answer cost the daemons on the way as much as some KiB, and a root asks everybody.
  WorthAsking worth_asking = {std::uint64_t{4} << 10U, std::uint64_t{64} << 10U};
  /// Of what is kept for receivers: the daemon is told of vnodes with so much. Less moves at once.
  std::uint64_t kept_worth_telling = std::uint64_t{4} << 20U;
  InflowOptions inflows = {};
  ContributionOptions contributions = {};
  PayloadRoom room = {};  ///< For long messages; by itself the heap.
};

}  // namespace phx::runtime
