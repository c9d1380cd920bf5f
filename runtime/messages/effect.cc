#include "runtime/messages/effect.h"

#include "overlay/base/one_of_members.h"

namespace phx {

using namespace runtime;

template class OneOf<Dial, Hangup, Transmit, ToApp, DropApp, Reply, DropClient, Spawn,
                     SignalProcess, HoldOutput, FeedProcess, Inquire, Note, Stop>;

}  // namespace phx
