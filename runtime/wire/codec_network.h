#pragma once

#include "overlay/survey_messages.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

void write(const overlay::NetworkUpdate& in, pb::NetworkUpdate& out);
/// May be of an impossible network: KnownNetwork::check() tells.
[[nodiscard]] overlay::NetworkUpdate read(const pb::NetworkUpdate& in, Source& source);

}  // namespace phx::wire
