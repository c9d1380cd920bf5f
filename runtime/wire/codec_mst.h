#pragma once

#include "overlay/mst/messages.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

void write_spanning(const mst::Message& in, pb::SpanningMessage* out, Sink& sink);
[[nodiscard]] mst::Message read(const pb::SpanningMessage& in, Source& source);

// Found by the templates of codec_parts.h.
void write(const mst::EdgeKey& in, pb::MstEdge& out, Sink& sink);
[[nodiscard]] mst::EdgeKey read(const pb::MstEdge& in, Source& source);

}  // namespace phx::wire
