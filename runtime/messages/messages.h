#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/one_of.h"
#include "overlay/messages.h"
#include "overlay/mst/messages.h"
#include "runtime/messages/delivery.h"
#include "runtime/messages/job_messages.h"
#include "runtime/messages/member_messages.h"
#include "runtime/messages/move_messages.h"
#include "runtime/messages/status_messages.h"

namespace phx::runtime {

/// A delivery for one vnode (of FlowCredit: the source of the flow; of CastCredit: the root), sent
/// to the processor that owns it as far as epoch `followed`.
struct VnodeMessage {
  JobId job;
  Epoch followed = 0;
  std::variant<PointToPoint, collectives::ReductionToken, FlowCredit, FlowQuestion, CastCredit>
      delivery;
  friend bool operator==(const VnodeMessage&, const VnodeMessage&) = default;
};
struct CollectiveMessage {
  JobId job;
  collectives::Message message;
  friend bool operator==(const CollectiveMessage&, const CollectiveMessage&) = default;
};
/// Of the spanning tree that the processors find themselves.
struct SpanningMessage {
  mst::Message message;
  friend bool operator==(const SpanningMessage&, const SpanningMessage&) = default;
};
/// The broadcast's piece that this is a copy of; null: none, or it has no contents to be dropped.
[[nodiscard]] const collectives::BroadcastPiece* copied_piece(const CollectiveMessage& message);
/// For whom this copy of a broadcast is.
[[nodiscard]] VnodeSet vnodes_of(const CollectiveMessage& copy);

/// Everything one daemon says to another.
using Envelope =
    OneOf<ViewChange, Admit, Admitted, Leave, Suspect, ViewQuery, ViewReport, ViewInstall, Fenced,
          Heartbeat, LeaveRefused, Flush, Routes, Pull, Offer, OfferReply, OfferCancel, Migrate,
          VnodeMessage, CollectiveMessage, overlay::Message, JobRequest, JobStart, JobRefused,
          JobStage, JobEnd, Output, OutputTaken, JobHome, JobSignal, StatusQuestion, StatusAnswer,
          DrainOrder, DownOrder, StatePiece, StateTaken, SpanningMessage>;

/// On a frame that takes a detour, and crosses a connection of others: for whom it is.
struct Passage {
  enum class Step : std::uint8_t {
    kOpen,    ///< `from` asks for a link, and could not connect.
    kAccept,  ///< There is one now.
    kCarry,   ///< The frame belongs to the stream between the two.
    kClose,   ///< There is no such link, or not any more.
  };
  ProcessorId from;
  ProcessorId to;
  std::uint64_t number = 0;  ///< Of the link; drawn by the one that asked for it.
  Step step = Step::kOpen;
  friend bool operator==(const Passage&, const Passage&) = default;
};

/// What crosses a link. Envelopes between two processors are numbered 1, 2, ... for the lifetime
/// of both, across links; `received` says up to where the sender has got the other direction.
/// Without an envelope it is an acknowledgement, or, as the first frame of every link, the
/// statement from where the peer has to send again.
struct Frame {
  std::uint64_t seq = 0;  ///< 0: no envelope.
  std::uint64_t received = 0;
  std::optional<Envelope> envelope;
  std::optional<Passage> passage = std::nullopt;  ///< None: between the ends of the connection.
  friend bool operator==(const Frame&, const Frame&) = default;
};

}  // namespace phx::runtime
