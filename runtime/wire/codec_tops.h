#pragma once

#include "runtime/messages/client_messages.h"
#include "runtime/messages/local_messages.h"
#include "runtime/messages/messages.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

/// The five families. Named differently from the parts: a message that no write() knows would
/// otherwise convert into the variant that contains it, and compile.
namespace phx::wire {

void write_top(const runtime::Frame& in, pb::Frame& out, Sink& sink);
void write_top(const runtime::ToDaemon& in, pb::ToDaemon& out, Sink& sink);
void write_top(const runtime::ToApplication& in, pb::ToApplication& out, Sink& sink);
void write_top(const runtime::ClientRequest& in, pb::ClientRequest& out, Sink& sink);
void write_top(const runtime::ClientReply& in, pb::ClientReply& out, Sink& sink);
[[nodiscard]] runtime::Frame read_top(const pb::Frame& in, Source& source);
[[nodiscard]] runtime::ToDaemon read_top(const pb::ToDaemon& in, Source& source);
[[nodiscard]] runtime::ToApplication read_top(const pb::ToApplication& in, Source& source);
[[nodiscard]] runtime::ClientRequest read_top(const pb::ClientRequest& in, Source& source);
[[nodiscard]] runtime::ClientReply read_top(const pb::ClientReply& in, Source& source);

}  // namespace phx::wire
