#pragma once

#include "overlay/network/known_network.h"
#include "runtime/messages/flow_messages.h"
#include "runtime/messages/member_messages.h"

namespace phx::runtime {

/// How broadcasts and long reductions are cut, for a job that starts now.
/// Each hop waits for a whole piece, and each piece costs its daemons time. So pieces are so short
/// that filling a tree takes a tenth of the longest way, 4 to 16 KiB; 16 if not all of that is
/// known. They are long where the wire is not what takes the time: where interfaces pass 4 Gbit/s;
/// and longer on one machine, where all hops share its processors, so that none waits for another
/// one in vain. The cost of a piece goes by the rate of interfaces [runtime/endpoint/README.md,
/// "Broadcasts"].
[[nodiscard]] CastCut cast_cut(const View& view, const overlay::KnownNetwork& network);

}  // namespace phx::runtime
