#include "runtime/messages/local_messages.h"

#include "overlay/base/one_of_members.h"

namespace phx {

using namespace runtime;

template class OneOf<AppAttach, AppSend, AppBroadcast, AppContribute, AppReleased, AppAck,
                     AppAssume, AppFinish, AppWaiting, AppFlow, AppClosing, AppReport, AppWaited,
                     AppKeeps, AppNetworkQuestion>;

template class OneOf<AppAttached, AppGrant, AppDeliver, AppRelease, AppRefused, AppRetire, AppEnd,
                     AppRepair, AppNetwork, AppRedrawn, AppPlace>;
}  // namespace phx
