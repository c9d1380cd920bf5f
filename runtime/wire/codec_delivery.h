#pragma once

#include "collectives/messages.h"
#include "runtime/messages/delivery.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

// collectives/messages.h
void write(const collectives::BroadcastPiece& in, pb::BroadcastPiece& out, Sink& sink);
void write(const collectives::Tokens& in, pb::Tokens& out, Sink& sink);
void write(const collectives::TreeCopy& in, pb::TreeCopy& out, Sink& sink);
void write(const collectives::FallbackCopy::Onward& in, pb::FallbackCopy::Onward& out, Sink& sink);
void write(const collectives::FallbackCopy& in, pb::FallbackCopy& out, Sink& sink);
void write(const collectives::ReductionPart& in, pb::ReductionPart& out, Sink& sink);
void write(const collectives::ReductionToken& in, pb::ReductionToken& out, Sink& sink);
void write(const collectives::ReductionKind& in, pb::ReductionKind& out);
[[nodiscard]] collectives::BroadcastPiece read(const pb::BroadcastPiece& in, Source& source);
[[nodiscard]] SizeClass read_size(std::uint32_t size, Source& source);
[[nodiscard]] std::uint8_t read_rest_bits(std::uint32_t bits, Source& source);
[[nodiscard]] collectives::Tokens read(const pb::Tokens& in, Source& source);
[[nodiscard]] collectives::TreeCopy read(const pb::TreeCopy& in, Source& source);
[[nodiscard]] collectives::FallbackCopy::Onward read(const pb::FallbackCopy::Onward& in,
                                                     Source& source);
[[nodiscard]] collectives::FallbackCopy read(const pb::FallbackCopy& in, Source& source);
[[nodiscard]] collectives::ReductionPart read(const pb::ReductionPart& in, Source& source);
[[nodiscard]] collectives::ReductionToken read(const pb::ReductionToken& in, Source& source);
[[nodiscard]] collectives::ReductionKind read(const pb::ReductionKind& in, Source& source);

// runtime/delivery.h
void write(const runtime::PointToPoint& in, pb::PointToPoint& out, Sink& sink);
void write(const runtime::FlowCredit& in, pb::FlowCredit& out);
void write(const runtime::FlowQuestion& in, pb::FlowQuestion& out);
void write(const runtime::CastCredit& in, pb::CastCredit& out);
void write(const runtime::BroadcastDelivery& in, pb::BroadcastDelivery& out, Sink& sink);
void write(const runtime::Delivery& in, pb::Delivery& out, Sink& sink);
void write(const runtime::Message& in, pb::MailboxMessage& out, Sink& sink);
void write(const runtime::VnodeBundle& in, pb::VnodeBundle& out, Sink& sink);
void write(const runtime::VnodeParcel& in, pb::VnodeParcel& out, Sink& sink);
[[nodiscard]] runtime::PointToPoint read(const pb::PointToPoint& in, Source& source);
[[nodiscard]] runtime::FlowCredit read(const pb::FlowCredit& in, Source& source);
[[nodiscard]] runtime::FlowQuestion read(const pb::FlowQuestion& in, Source& source);
[[nodiscard]] runtime::CastCredit read(const pb::CastCredit& in, Source& source);
[[nodiscard]] runtime::BroadcastDelivery read(const pb::BroadcastDelivery& in, Source& source);
[[nodiscard]] runtime::Delivery read(const pb::Delivery& in, Source& source);
[[nodiscard]] runtime::Message read(const pb::MailboxMessage& in, Source& source);
/// Of `vnode`.
[[nodiscard]] runtime::VnodeBundle read(VnodeId vnode, const pb::VnodeBundle& in, Source& source);
[[nodiscard]] runtime::VnodeParcel read(const pb::VnodeParcel& in, Source& source);

}  // namespace phx::wire
