#include "runtime/messages/messages.h"

#include "overlay/base/one_of_members.h"

namespace phx {

using namespace runtime;

template class OneOf<ViewChange, Admit, Admitted, Leave, Suspect, ViewQuery, ViewReport,
                     ViewInstall, Fenced, Heartbeat, LeaveRefused, Flush, Routes, Pull, Offer,
                     OfferReply, OfferCancel, Migrate, VnodeMessage, CollectiveMessage,
                     overlay::Message, JobRequest, JobStart, JobRefused, JobStage, JobEnd, Output,
                     OutputTaken, JobHome, JobSignal, StatusQuestion, StatusAnswer, DrainOrder,
                     DownOrder>;

}  // namespace phx
