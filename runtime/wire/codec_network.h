#pragma once

#include "overlay/network/known_network.h"
#include "runtime/wire/codec_parts.h"
#include "runtime/wire/phoenix.pb.h"

namespace phx::wire {

void write_network(const overlay::KnownNetwork& in, pb::KnownNetwork* out);
/// May be an impossible one: KnownNetwork::check() tells.
[[nodiscard]] overlay::KnownNetwork read(const pb::KnownNetwork& in, Source& source);

}  // namespace phx::wire
