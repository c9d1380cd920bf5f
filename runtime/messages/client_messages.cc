#include "runtime/messages/client_messages.h"

#include "overlay/base/one_of_members.h"

namespace phx {

using namespace runtime;

template class OneOf<JoinRequest, StatusRequest, RunRequest, FollowRequest, SignalRequest,
                     DrainRequest, DownRequest, InputRequest, NetworkRequest>;

template class OneOf<JoinReply, StatusReply, RunStarted, RunOutput, RunEnded, RunMoved,
                     DrainProgress, Done, InputTaken, overlay::NetworkUpdate>;
}  // namespace phx
