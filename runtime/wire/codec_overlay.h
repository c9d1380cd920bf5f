#pragma once

#include "overlay/messages.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

void write(const TreeId& in, pb::TreeId* out);
[[nodiscard]] TreeId read(const pb::TreeId& in, Source& source);
void write_overlay(const overlay::Message& in, pb::OverlayMessage* out, Sink& sink);
[[nodiscard]] overlay::Message read(const pb::OverlayMessage& in, Source& source);

// Found by the templates of codec_parts.h.
void write(const overlay::TreeAdvert& in, pb::TreeAdvert& out, Sink& sink);
[[nodiscard]] overlay::TreeAdvert read(const pb::TreeAdvert& in, Source& source);

}  // namespace phx::wire
