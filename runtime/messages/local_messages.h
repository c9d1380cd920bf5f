#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "collectives/messages.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/one_of.h"
#include "runtime/messages/delivery.h"
#include "runtime/messages/network_messages.h"
#include "runtime/messages/wait_messages.h"

namespace phx::runtime {

// --- Application process to its daemon -------------------------------------------------------

/// First message of an application process. `job` 0: an embedded application that takes part in
/// the mesh's first job, which is created with `vnodes` if there is none.
struct AppAttach {
  JobId job;
  std::uint64_t vnodes = 0;
  std::int64_t process = 0;  ///< Its process id, to match it with the process the daemon started.
  friend bool operator==(const AppAttach&, const AppAttach&) = default;
};
/// `from` is a vnode held now.
struct AppSend {
  PointToPoint message;
  friend bool operator==(const AppSend&, const AppSend&) = default;
};
/// For the source, or the receiving end, of a flow; for the root of broadcasts.
struct AppFlow {
  std::variant<FlowCredit, FlowQuestion, CastCredit> message;
  friend bool operator==(const AppFlow&, const AppFlow&) = default;
};
/// A piece for these vnodes, down the tree of this processor; `is_direct`: outside of it.
struct AppBroadcast {
  collectives::BroadcastPiece piece;
  VnodeSet to;
  bool is_direct = false;
  friend bool operator==(const AppBroadcast&, const AppBroadcast&) = default;
};
struct AppContribute {
  collectives::ReductionToken token;
  friend bool operator==(const AppContribute&, const AppContribute&) = default;
};
/// The answer to AppRelease, given at a safe point (or at once for vnodes not yet installed).
/// `received` is the number of the last AppDeliver taken into account by these bundles.
struct AppReleased {
  std::uint64_t received = 0;
  std::vector<std::pair<VnodeId, VnodeBundle>> vnodes;
  friend bool operator==(const AppReleased&, const AppReleased&) = default;
};
/// Cumulative acknowledgement of AppDeliver: the daemon may forget up to here.
struct AppAck {
  std::uint64_t received = 0;
  friend bool operator==(const AppAck&, const AppAck&) = default;
};
/// Low-level calls of the Phoenix papers: hold these from now on / hold them no more.
struct AppAssume {
  VnodeSet vnodes;
  friend bool operator==(const AppAssume&, const AppAssume&) = default;
};
/// The application is done with the job (the session ended in the regular way). `abort`: the job
/// must end everywhere, for `reason`.
struct AppFinish {
  bool abort = false;
  std::int32_t code = 0;
  std::string reason;
  friend bool operator==(const AppFinish&, const AppFinish&) = default;
};
/// The program takes nothing any more, but what it sent has not all been received: AppFinish
/// follows. What nobody holds at its processor will not be taken by it either.
struct AppClosing {
  friend bool operator==(const AppClosing&, const AppClosing&) = default;
};
/// Lines about this process for the tool that follows the job [runtime/api/README.md, "Reports"].
struct AppReport {
  Payload lines;
  friend bool operator==(const AppReport&, const AppReport&) = default;
};
/// What vnodes keep for receivers: these are heavy to move, the others here are not.
struct AppKeeps {
  struct One {
    VnodeId vnode;
    std::uint64_t bytes = 0;
    friend bool operator==(const One&, const One&) = default;
  };
  std::vector<One> vnodes;
  friend bool operator==(const AppKeeps&, const AppKeeps&) = default;
};
using ToDaemon = OneOf<AppAttach, AppSend, AppBroadcast, AppContribute, AppReleased, AppAck,
                       AppAssume, AppFinish, AppWaiting, AppFlow, AppClosing, AppReport, AppWaited,
                       AppKeeps, AppNetworkQuestion>;

// --- Daemon to application process -----------------------------------------------------------

struct AppAttached {
  JobId job;
  ProcessorId processor;
  std::uint64_t vnodes = 0;
  std::string refusal;     ///< Not empty: not attached.
  std::uint64_t line = 0;  ///< Of the daemon: see AppRepair.
  CastCut cast_cut = {};   ///< Of the JobStart.
  friend bool operator==(const AppAttached&, const AppAttached&) = default;
};
/// The application holds these from its next safe point on.
struct AppGrant {
  std::vector<VnodeParcel> parcels;
  friend bool operator==(const AppGrant&, const AppGrant&) = default;
};
/// Deliveries are numbered 1, 2, ... for the lifetime of the attachment.
struct AppDeliver {
  std::uint64_t seq = 0;
  Delivery delivery;
  friend bool operator==(const AppDeliver&, const AppDeliver&) = default;
};
/// Give these up at the next safe point.
struct AppRelease {
  VnodeSet vnodes;
  friend bool operator==(const AppRelease&, const AppRelease&) = default;
};
/// The answer to AppAssume when some of the vnodes are held by others.
struct AppRefused {
  VnodeSet vnodes;
  std::string why;
  friend bool operator==(const AppRefused&, const AppRefused&) = default;
};
/// This process will get no vnodes any more and should end: its processor leaves, or the job is
/// about to end well (others have finished).
struct AppRetire {
  friend bool operator==(const AppRetire&, const AppRetire&) = default;
};
/// Processors died that may have had something on its way: ask, send again what was lost, and
/// contribute again under this line [collectives/README.md, "Lines"].
struct AppRepair {
  std::uint64_t line = 0;
  friend bool operator==(const AppRepair&, const AppRepair&) = default;
};
/// The job is over; calls fail with this reason from now on.
struct AppEnd {
  std::int32_t code = 0;
  std::string reason;
  friend bool operator==(const AppEnd&, const AppEnd&) = default;
};
using ToApplication = OneOf<AppAttached, AppGrant, AppDeliver, AppRelease, AppRefused, AppRetire,
                            AppEnd, AppRepair, AppNetwork, AppRedrawn, AppPlace>;

}  // namespace phx::runtime
