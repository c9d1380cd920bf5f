#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "runtime/messages/job_outbox.h"
#include "runtime/vnodes/app_port.h"
#include "runtime/vnodes/dropped_casts.h"
#include "runtime/vnodes/parking.h"
#include "runtime/vnodes/vnode_map.h"

namespace phx::runtime {

/// One job's vnodes at one processor: which of them the application here holds, and where
/// everything that is addressed to a vnode goes.
///
/// A vnode whose owner is this processor is *held* (by the attached application) or *kept* (by the
/// daemon: no application yet, or released by it). For a message that followed ownership up to
/// epoch f: held -> delivered; a known owner elsewhere at an epoch above f -> forwarded there;
/// otherwise this processor was named owner and the vnode is on its way (or kept): parked until it
/// is installed or a newer route is heard [Saito08 G12].
///
/// Guarantees: every delivery is at one place at a time and is never dropped while the job lives,
/// but for pieces of flows and of broadcasts: what does not fit, or is for a vnode whose process
/// has finished, is dropped, and its source hears of that (when there is room again).
/// Does not guarantee order: FIFO per pair is restored by the numbers at the destination vnode.
class Router {
 public:
  /// `flow_bytes_max`: with so many bytes delivered or parked, no pieces of flows are taken.
  Router(ProcessorId self, JobId job, VnodeMap map, std::uint64_t flow_bytes_max);

  // Inputs.
  void on_attached(ApplicationId application, JobOutbox& out);
  /// The application will take no more: what is addressed to its vnodes is dropped from now on.
  void on_finished(JobOutbox& out);
  /// The application will assume nothing any more: pieces for kept vnodes are not waited for.
  void on_closing(JobOutbox& out);
  void on_acknowledged(std::uint64_t received, JobOutbox& out);
  void on_routes(const std::vector<Route>& routes, JobOutbox& out);
  void on_parcels(std::vector<VnodeParcel> parcels, JobOutbox& out);
  /// They are for a process that takes nothing more: the daemon keeps them, bound, for somebody
  /// else. Returns them, but for those that were known to be elsewhere.
  [[nodiscard]] VnodeSet keep_late(std::vector<VnodeParcel> parcels);
  /// This processor leaves, and its process has finished: what it owns is nobody's from now on.
  /// Returns that, for all to know.
  [[nodiscard]] std::vector<Route> on_leaving();

  // Commands.
  void route(VnodeMessage&& message, JobOutbox& out);
  /// Serves exactly these tokens: here, parked, or onward outside the tree.
  void serve(const collectives::BroadcastPiece& piece,
             const std::vector<collectives::Tokens>& tokens, JobOutbox& out);
  void deliver(Delivery&& delivery, JobOutbox& out);
  /// What was dropped on the way to others, and may come again.
  void tell(std::vector<CastCredit> credits, JobOutbox& out);
  /// The application holds these no more, but nobody else does yet: the daemon keeps them.
  void keep(AppReleased released, JobOutbox& out);
  /// Sends on what waits here for vnodes that have another owner now.
  void reroute(const VnodeSet& vnodes, JobOutbox& out);
  /// Parcels for `to` of kept vnodes; those that are not kept are left out. To be followed by
  /// reroute(), when the parcels are sent.
  [[nodiscard]] std::vector<VnodeParcel> give_kept(const VnodeSet& vnodes, ProcessorId to);
  /// These kept vnodes are on their way out: they are not granted, and what comes for them waits,
  /// even if the process here has finished. Until they are given, or taken back.
  void bind(const VnodeSet& vnodes) { bound_ = bound_.united(vnodes.common(kept())); }
  /// They stay: in the hands of the application, if it is there and shall have them.
  void take_back(const VnodeSet& vnodes, bool to_application, JobOutbox& out);
  /// Grants kept vnodes to the application (assume). Returns those granted.
  VnodeSet grant_kept(const VnodeSet& vnodes, JobOutbox& out);

  // Queries.
  [[nodiscard]] const VnodeMap& map() const { return map_; }
  [[nodiscard]] const VnodeSet& held() const { return held_; }
  [[nodiscard]] VnodeSet kept() const { return map_.owned_by(self_).minus(held_); }
  /// Of a kept vnode; null: it has no past. Valid until the next input or command.
  [[nodiscard]] const VnodeBundle* bundle(VnodeId vnode) const;
  /// All runs here that have vnodes of `vnodes`.
  [[nodiscard]] VnodeSet runs_of(const VnodeSet& vnodes) const;
  /// Said to be given to this processor, and not here yet.
  [[nodiscard]] const VnodeSet& coming() const { return coming_; }
  /// Where the vnodes are that this processor gave away and has not got back.
  [[nodiscard]] std::vector<Route> given() const { return map_.routes(given_); }
  [[nodiscard]] bool is_attached() const { return port_.has_value(); }
  [[nodiscard]] bool is_finished() const { return finished_; }
  /// The application takes nothing more.
  [[nodiscard]] bool is_closing() const { return closing_ || finished_; }
  /// REQUIRES is_attached().
  [[nodiscard]] ApplicationId application() const { return port_->application(); }
  [[nodiscard]] std::uint64_t parked() const { return parking_.count(); }
  /// Times that something was for vnodes which the job does not have, and was dropped.
  [[nodiscard]] std::uint64_t unknown() const { return unknown_; }
  [[nodiscard]] std::uint64_t parked_bytes() const { return parking_.bytes(); }
  [[nodiscard]] std::uint64_t undelivered_bytes() const { return port_ ? port_->bytes() : 0; }
  void check_invariants() const;

 private:
  struct Way {
    enum class Kind { kHere, kForward, kPark, kClosed } kind;
    VnodeMap::Owner owner;
  };

  [[nodiscard]] Way way(VnodeId vnode, Epoch followed) const;
  void park(VnodeId vnode, Delivery delivery, Epoch followed, JobOutbox& out);
  [[nodiscard]] bool drop_if_full(const Delivery& delivery, std::uint64_t bytes);
  void ask_again(const VnodeSet& vnodes, JobOutbox& out);
  [[nodiscard]] bool has_dropped() const { return !dropped_.empty() || !dropped_casts_.empty(); }
  bool answer_closed(const Delivery& delivery, JobOutbox& out);
  void install(std::vector<VnodeParcel> parcels, JobOutbox& out);
  /// Whether the process here, which takes nothing more, would have to take what is for `vnode`.
  [[nodiscard]] bool is_untaken(VnodeId vnode) const {
    return map_.owner(vnode).first == self_ && !bound_.contains(vnode);
  }
  /// They are here now. Those that are known to be elsewhere are left out.
  [[nodiscard]] VnodeSet own(std::vector<VnodeParcel>& parcels);
  [[nodiscard]] VnodeParcel kept_parcel(VnodeId vnode, Epoch epoch);
  void remember_given(const std::vector<VnodeParcel>& parcels, ProcessorId to);

  ProcessorId self_;
  JobId job_;
  std::uint64_t flow_bytes_max_;
  VnodeMap map_;
  VnodeSet held_;
  VnodeSet given_;  ///< Had been owned here, and are not.
  VnodeSet coming_;
  VnodeSet bound_;  ///< Of those kept: on their way out.
  std::optional<AppPort> port_;
  bool closing_ = false;
  bool finished_ = false;
  std::map<VnodeId, VnodeParcel> kept_;  ///< Only kept vnodes that have a past.
  Parking parking_;
  /// Flows of which pieces were dropped here: by receiver and source, the first such piece.
  std::map<VnodeId, std::map<VnodeId, std::uint64_t>> dropped_;
  DroppedCasts dropped_casts_;  ///< The same of broadcasts.
  std::uint64_t unknown_ = 0;
};

}  // namespace phx::runtime
