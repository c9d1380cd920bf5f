#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "runtime/messages/job_outbox.h"
#include "runtime/vnodes/policy.h"
#include "runtime/vnodes/router.h"

namespace phx::runtime {

/// One job's moves of vnodes at one processor: who asks whom for how many, and the hand-over
/// Pull -> Offer -> OfferReply -> AppRelease -> AppReleased -> Migrate. Only the owner gives away,
/// nothing is released before the receiver accepted, and a donor never goes below its fair share
/// because of a Pull. Not thread-safe.
class Mover {
 public:
  Mover(ProcessorId self, JobId job, Duration balance_period);

  // Commands.
  /// Asks for vnodes if this processor has less than its share; gives all away if it leaves.
  void balance(Instant now, Router& router, const Standing& standing, JobOutbox& out);
  /// The application wants to hold these (low-level). It gets each, or a refusal of it.
  void assume(const VnodeSet& vnodes, Router& router, const Standing& standing, JobOutbox& out);
  /// ... but this processor takes none any more, for this reason.
  void refuse_all(const std::string& why, const Router& router, JobOutbox& out);
  /// The application is done: offers that wait for it are withdrawn.
  void cancel_all(JobOutbox& out);

  // Inputs. `from` is the processor that sent the message.
  void on_timer(Instant now, Router& router, const Standing& standing, JobOutbox& out);
  void on_pull(ProcessorId from, const Pull& pull, Router& router, const Standing& standing,
               JobOutbox& out);
  void on_offer(ProcessorId from, const Offer& offer, const Router& router,
                const Standing& standing, JobOutbox& out);
  void on_offer_reply(ProcessorId from, const OfferReply& reply, Router& router,
                      const Standing& standing, JobOutbox& out);
  void on_offer_cancel(ProcessorId from, const OfferCancel& cancel, const Router& router,
                       const Standing& standing, JobOutbox& out);
  void on_released(AppReleased released, Router& router, const Standing& standing, JobOutbox& out);
  void on_migrate(ProcessorId from, Migrate migrate, Router& router, JobOutbox& out);
  /// It is no member any more: neither it nor this processor waits for the other.
  void on_gone(ProcessorId gone, const Router& router, const Standing& standing, JobOutbox& out);
  /// Something changed that makes another attempt worth while at once.
  void on_news() {
    attempts_ = 0;
    asked_ = false;
  }

  // Queries.
  /// No vnode is on its way to this processor, and none is promised away.
  [[nodiscard]] bool is_quiet() const { return incoming_.empty() && outgoing_.empty(); }
  [[nodiscard]] std::uint64_t incoming() const;
  /// What the moves wait for, for people; empty: for nothing.
  [[nodiscard]] std::string waiting(const Router& router, const Standing& standing) const;

 private:
  struct Outgoing {
    ProcessorId to;
    VnodeSet vnodes;  ///< Not yet migrated.
    bool accepted = false;
  };

  void push_all(Router& router, const Standing& standing, JobOutbox& out);
  void offer(VnodeSet vnodes, ProcessorId to, const Router& router, JobOutbox& out);
  void migrate(std::vector<VnodeParcel> parcels, ProcessorId to, Router& router,
               const Standing& standing, JobOutbox& out);
  /// Asks the owners of these, which the application wants, but not `refuser` again.
  void ask(const VnodeSet& vnodes, ProcessorId refuser, const std::string& why,
           const Router& router, const Standing& standing, JobOutbox& out);
  /// Those of `vnodes` that `asked` was asked for; they are not waited for any more.
  [[nodiscard]] VnodeSet stop_assuming(ProcessorId asked, const VnodeSet& vnodes);
  void refuse(const VnodeSet& vnodes, const std::string& why, const Router& router, JobOutbox& out);
  void retry_later(Instant now, JobOutbox& out);
  [[nodiscard]] VnodeSet promised() const;

  ProcessorId self_;
  JobId job_;
  Duration balance_period_;
  std::uint32_t attempts_ = 0;  ///< Rounds of balance() since something changed.
  std::uint64_t next_offer_ = 1;
  std::map<std::uint64_t, Outgoing> outgoing_;
  std::map<std::pair<ProcessorId, std::uint64_t>, VnodeSet> incoming_;  ///< Accepted, not arrived.
  bool asked_ = false;  ///< A round of Pulls is out, and its timer runs.
  VnodeSet withdrawn_;  ///< The application was told to release these for one who is gone.
  std::map<ProcessorId, VnodeSet> assuming_;  ///< Wanted by the application; and who was asked.
};

}  // namespace phx::runtime
