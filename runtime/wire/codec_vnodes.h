#pragma once

#include "runtime/messages/messages.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

void write(const runtime::Route& in, pb::Route& out, Sink& sink);
void write(const runtime::Routes& in, pb::Routes& out, Sink& sink);
void write(const runtime::Pull& in, pb::Pull& out, Sink& sink);
void write(const runtime::Offer& in, pb::Offer& out, Sink& sink);
void write(const runtime::OfferReply& in, pb::OfferReply& out, Sink& sink);
void write(const runtime::OfferCancel& in, pb::OfferCancel& out, Sink& sink);
void write(const runtime::Migrate& in, pb::Migrate& out, Sink& sink);
void write(const runtime::StatePiece& in, pb::StatePiece& out, Sink& sink);
void write(const runtime::StateTaken& in, pb::StateTaken& out, Sink& sink);
void write(const runtime::VnodeMessage& in, pb::VnodeMessage& out, Sink& sink);
void write(const runtime::CollectiveMessage& in, pb::CollectiveMessage& out, Sink& sink);
[[nodiscard]] runtime::Route read(const pb::Route& in, Source& source);
[[nodiscard]] runtime::Routes read(const pb::Routes& in, Source& source);
[[nodiscard]] runtime::Pull read(const pb::Pull& in, Source& source);
[[nodiscard]] runtime::Offer read(const pb::Offer& in, Source& source);
[[nodiscard]] runtime::OfferReply read(const pb::OfferReply& in, Source& source);
[[nodiscard]] runtime::OfferCancel read(const pb::OfferCancel& in, Source& source);
[[nodiscard]] runtime::Migrate read(const pb::Migrate& in, Source& source);
[[nodiscard]] runtime::StatePiece read(const pb::StatePiece& in, Source& source);
[[nodiscard]] runtime::StateTaken read(const pb::StateTaken& in, Source& source);
[[nodiscard]] runtime::VnodeMessage read(const pb::VnodeMessage& in, Source& source);
[[nodiscard]] runtime::CollectiveMessage read(const pb::CollectiveMessage& in, Source& source);

}  // namespace phx::wire
