#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "runtime/messages/job_outbox.h"
#include "runtime/vnodes/arrivals.h"
#include "runtime/vnodes/departures.h"
#include "runtime/vnodes/policy.h"
#include "runtime/vnodes/router.h"

namespace phx::runtime {

/// One job's moves of vnodes at one processor: who asks whom for how many, and the hand-over
/// Pull -> Offer -> OfferReply -> AppRelease -> AppReleased -> StatePiece ... -> Migrate. Only the
/// owner gives away, nothing is released before the receiver accepted, what the vnode carries is
/// there before the vnode comes, and a donor never goes below its fair share because of a Pull.
/// Not thread-safe.
class Mover {
 public:
  Mover(ProcessorId self, JobId job, Duration balance_period, const TravelOptions& options);

  // Commands.
  /// Asks for vnodes if this processor has less than its share; gives all away if it leaves.
  void balance(Instant now, Router& router, const Standing& standing, JobOutbox& out);
  /// The application wants to hold these (low-level). It gets each, or a refusal of it.
  void assume(const VnodeSet& vnodes, Router& router, const Standing& standing, JobOutbox& out);
  /// The application is done. What it has released goes on; what was accepted is refused after all.
  void close(const std::string& why, const Router& router, JobOutbox& out);
  /// From now on this processor takes only what its application has asked for.
  void start_leaving(const Router& router, const Standing& standing, JobOutbox& out);

  // Inputs. `from` is the processor that sent the message.
  void on_timer(Instant now, Router& router, const Standing& standing, JobOutbox& out);
  void on_pull(ProcessorId from, const Pull& pull, Router& router, const Standing& standing,
               JobOutbox& out);
  /// From now on these are heavy; the others are not.
  void on_kept(const AppKeeps& keeps);
  void on_offer(ProcessorId from, const Offer& offer, const Router& router,
                const Standing& standing, JobOutbox& out);
  void on_offer_reply(ProcessorId from, const OfferReply& reply, Router& router,
                      const Standing& standing, JobOutbox& out);
  void on_offer_cancel(ProcessorId from, const OfferCancel& cancel, const Router& router,
                       const Standing& standing, JobOutbox& out);
  void on_released(AppReleased released, Router& router, const Standing& standing, JobOutbox& out);
  void on_piece(ProcessorId from, const StatePiece& piece, const Router& router,
                const Standing& standing, JobOutbox& out);
  void on_taken(ProcessorId from, const StateTaken& taken, Router& router, const Standing& standing,
                JobOutbox& out);
  /// Gives the parcels back what has gone ahead, to be followed by on_migrate(). Not empty: that is
  /// not here; a sentence why the job cannot go on.
  [[nodiscard]] std::string complete(ProcessorId from, Migrate& migrate);
  void on_migrate(ProcessorId from, Migrate migrate, Router& router, const Standing& standing,
                  JobOutbox& out);
  /// It is no member any more: neither it nor this processor waits for the other.
  void on_gone(ProcessorId gone, Router& router, const Standing& standing, JobOutbox& out);
  void on_news();  ///< Something changed that makes another attempt worth while at once.

  // Queries.
  /// No vnode is on its way to this processor or back to it, and none is promised away.
  [[nodiscard]] bool is_quiet() const;
  [[nodiscard]] std::uint64_t incoming() const;
  /// Nothing is promised twice, or to or by one who is none of `there`: it is gone.
  void check_invariants(const ProcessorSet& there) const;
  /// What the moves wait for, for people; empty: for nothing.
  [[nodiscard]] std::string waiting(const Router& router, const Standing& standing) const;

 private:
  struct Outgoing {
    ProcessorId to;
    VnodeSet vnodes;  ///< Not yet released.
    bool accepted = false;
  };

  [[nodiscard]] std::uint64_t pulled(Instant now);  ///< Asked for, and not answered yet.
  [[nodiscard]] bool waits_for_place(Instant now, const Standing& standing);
  void push_all(Router& router, const Standing& standing, JobOutbox& out);
  void offer(VnodeSet vnodes, ProcessorId to, const Router& router, JobOutbox& out);
  /// These, which the daemon keeps, are on their way to `to` from now on.
  void depart(ProcessorId to, std::uint64_t offer, const VnodeSet& vnodes, Router& router,
              JobOutbox& out);
  /// Sends on what may leave.
  void go_on(ProcessorId to, Router& router, const Standing& standing, JobOutbox& out);
  void migrate(const Departures::Handover& handover, ProcessorId to, Router& router,
               JobOutbox& out);
  /// A leaver has the home told where its vnodes have gone.
  void tell_moved(const Router& router, const Standing& standing, JobOutbox& out);
  /// They do not go where they were on their way to.
  void stay(const VnodeSet& vnodes, Router& router, const Standing& standing, JobOutbox& out);
  /// Nobody takes them now: the application has back what it has released of them in vain.
  void give_back(const VnodeSet& vnodes, Router& router, JobOutbox& out);
  /// What came for a process that takes nothing more goes to `first`, or to whoever takes it.
  void send_back(const VnodeSet& vnodes, ProcessorId first, Router& router,
                 const Standing& standing, JobOutbox& out);
  void on_refused(ProcessorId by, const OfferReply& reply, Router& router, const Standing& standing,
                  JobOutbox& out);
  void on_refused(ProcessorId by, const std::string& why);
  /// What was accepted of `from` does not come.
  void refuse(ProcessorId from, const StateTaken& taken, const Router& router, JobOutbox& out);
  void stop_awaiting(ProcessorId from, const VnodeSet& vnodes);
  /// Asks the owners of these, which the application wants, but not `refuser` again.
  void ask(const VnodeSet& vnodes, ProcessorId refuser, const std::string& why,
           const Router& router, const Standing& standing, JobOutbox& out);
  /// A leaver takes only what its application has asked `from` for, and as long as it holds
  /// something: in a program in step everybody waits until the one that asked has it.
  [[nodiscard]] bool may_take(ProcessorId from, const VnodeSet& vnodes, const Router& router,
                              const Standing& standing) const;
  /// Those of `vnodes` that `asked` was asked for; they are not waited for any more.
  [[nodiscard]] VnodeSet stop_assuming(ProcessorId asked, const VnodeSet& vnodes);
  void refuse(const VnodeSet& vnodes, const std::string& why, const Router& router, JobOutbox& out);
  void refuse_all(const std::string& why, const Router& router, JobOutbox& out);
  /// What has come in part is not taken, unless `is_taken` says so.
  void refuse_begun(const std::string& why, JobOutbox& out, const Router& router,
                    const std::function<bool(ProcessorId, const VnodeSet&)>& is_taken);
  void retry_later(Instant now, JobOutbox& out);
  [[nodiscard]] VnodeSet promised(std::optional<ProcessorId> to = {}) const;

  ProcessorId self_;
  JobId job_;
  Duration balance_period_;
  ShareRule share_rule_;
  std::uint32_t attempts_ = 0;  ///< Rounds of balance() since something changed.
  /// With this map (VnodeMap::changes()), so many on their way and so many ready nothing was
  /// wanted.
  std::optional<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> content_;
  std::uint64_t next_offer_ = 1;
  std::map<std::uint64_t, Outgoing> outgoing_;
  Departures departures_;
  Arrivals arrivals_;
  Kept kept_;        ///< Of the vnodes held here.
  VnodeSet untold_;  ///< Moved since a leaver said where to.
  std::map<std::pair<ProcessorId, std::uint64_t>, VnodeSet> incoming_;  ///< Accepted, not arrived.
  std::map<ProcessorId, std::pair<std::uint64_t, Instant>> pulled_;     ///< So many, and when.
  std::optional<Instant> unplaced_since_;  ///< It wants vnodes, and its site is not known.
  bool asked_ = false;     ///< A round of Pulls, or a leaver's of Offers, is out; its timer runs.
  ProcessorSet refusers_;  ///< In this round.
  std::string refusal_;    ///< The last of these, for people.
  VnodeSet late_;       ///< Came after the end of the process here: bound, and somebody's to take.
  VnodeSet withdrawn_;  ///< The application was told to release these for one who takes them not.
  std::map<ProcessorId, VnodeSet> assuming_;  ///< Wanted by the application; and who was asked.
};

}  // namespace phx::runtime
