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
#include "overlay/base/queue.h"
#include "runtime/messages/flow_messages.h"
#include "runtime/messages/reduction_ends.h"
#include "runtime/messages/stream_table.h"

namespace phx::runtime {

/// Anything a daemon hands to an application process for vnodes it holds.
using Delivery = std::variant<PointToPoint, BroadcastDelivery, collectives::ReductionToken,
                              FlowCredit, FlowQuestion, CastCredit>;

/// A complete message in a vnode's mailbox, in the order of arrival.
struct Message {
  enum class Kind : std::uint8_t { kPointToPoint, kBroadcast, kReduced, kAllreduced };
  Kind kind = Kind::kPointToPoint;
  VnodeId from;              ///< Sender, root of the broadcast, or target of the reduction.
  std::uint64_t number = 0;  ///< Of the reduction; of a broadcast's last piece.
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
    // In weights of pieces; 0: as at the beginning.
    std::uint64_t offset = 0;  ///< Of piece `next`.
    std::uint64_t limit = 0;   ///< Granted to the source.
    std::uint64_t window = 0;  ///< How far `limit` goes beyond what the program has taken.
    /// The source is to hear when all pieces below have come. 0: it has not asked.
    std::uint64_t asked = 0;

    [[nodiscard]] bool is_quiet() const { return begun.empty() && early.empty() && asked == 0; }
    [[nodiscard]] AtRest at_rest() const { return {next, offset, limit, window}; }
    void wake(const AtRest& numbers) {
      next = numbers.next;
      offset = numbers.offset;
      limit = numbers.limit;
      window = numbers.window;
    }
    friend bool operator==(const Inbound&, const Inbound&) = default;
  };
  /// The source's end of a flow to one vnode.
  struct Outbound {
    std::uint64_t next = 0;      ///< Number of the next piece.
    std::uint64_t received = 0;  ///< The receiver has the pieces below; kFlowClosed: wants none.
    std::uint64_t emitted = 0;   ///< The pieces below were handed to the daemon.
    std::uint64_t offset = 0;    ///< Of piece `emitted`.
    std::uint64_t limit = 0;     ///< Granted; 0: as at the beginning.
    Queue<PointToPoint> kept;    ///< Pieces `received` ... `next - 1`.

    [[nodiscard]] bool is_quiet() const { return kept.empty(); }
    [[nodiscard]] AtRest at_rest() const {
      return {received == kFlowClosed ? kFlowClosed : next, offset, limit, 0};
    }
    void wake(const AtRest& numbers) {
      received = numbers.next;
      next = emitted = received == kFlowClosed ? 0 : received;
      offset = numbers.offset;
      limit = numbers.limit;
    }
    friend bool operator==(const Outbound&, const Outbound&) = default;
  };
  /// The root's end of its broadcasts.
  struct Casting {
    /// Consecutive vnodes that are equally far.
    struct Receivers {
      VnodeId first;
      VnodeId last;
      std::uint64_t received = 0;  ///< They have the pieces below; kFlowClosed: want none.
      std::uint64_t limit = 0;     ///< Granted; 0: as at the beginning.
      std::optional<std::uint64_t> position;  ///< Out of step: the next piece for them.
      friend bool operator==(const Receivers&, const Receivers&) = default;
    };
    std::uint64_t next = 0;    ///< Number of its next piece.
    std::uint64_t sent = 0;    ///< The pieces below have left for all that are in step.
    std::uint64_t offset = 0;  ///< Of the first piece kept.
    std::deque<collectives::BroadcastPiece> kept;  ///< Up to `next - 1`.
    std::vector<Receivers> receivers;              ///< By ascending vnodes.
    friend bool operator==(const Casting&, const Casting&) = default;
  };

  std::optional<Payload> state;                 ///< The application's; absent before its first run.
  std::vector<Message> mailbox;                 ///< Complete and not yet received.
  StreamTable<Outbound> to_vnodes;              ///< Per destination.
  StreamTable<Inbound> from_vnodes;             ///< Per sender.
  StreamTable<Inbound> from_roots;              ///< Per broadcasting root.
  Casting casting;                              ///< Its own broadcasts.
  std::map<VnodeId, std::uint64_t> reductions;  ///< Next number per target.
  std::map<VnodeId, Contributed> to_targets;    ///< Only those of which something is kept.
  AsTarget as_target;
  /// Deaths known where it was: its flows and roots have asked for what these took with them.
  std::uint64_t line = 0;
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
