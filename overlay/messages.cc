#include "overlay/messages.h"

#include "overlay/base/one_of_members.h"

namespace phx {

using namespace overlay;

template class OneOf<Probe, ProbeReply, TreeOpen, TreeClose, Attach, AttachReply, Detach, Bye,
                     Update, UpdateSet, Relabel, Ping, SurveyTask, SurveyReport, NetworkUpdate,
                     Fetch, Load>;

}  // namespace phx
