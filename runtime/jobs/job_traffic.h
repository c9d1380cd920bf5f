#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "collectives/reduction.h"
#include "overlay/base/ids.h"
#include "overlay/base/interval_set.h"
#include "overlay/base/time.h"
#include "overlay/planners/tree_styles.h"
#include "runtime/jobs/given_elsewhere.h"
#include "runtime/jobs/surroundings.h"
#include "runtime/jobs/traffic_counters.h"
#include "runtime/messages/config.h"
#include "runtime/messages/job_outbox.h"
#include "runtime/vnodes/mover.h"
#include "runtime/vnodes/router.h"

namespace phx::runtime {

/// What flows for one job at one processor: point-to-point messages, collectives over the trees,
/// moves of vnodes: the joint of router, mover and reductions. Not thread-safe.
class JobTraffic {
 public:
  JobTraffic(ProcessorId self, const JobStart& start, const DaemonConfig& config);

  // Inputs from the application.
  void on_attached(const Surroundings& around, ApplicationId application, JobOutbox& out);
  void on_app(const Surroundings& around, AppSend message, JobOutbox& out);
  void on_app(const Surroundings& around, AppFlow message, JobOutbox& out);
  void on_app(const Surroundings& around, const AppClosing& message, JobOutbox& out);
  void on_app(const Surroundings& around, AppBroadcast message, JobOutbox& out);
  void on_app(const Surroundings& around, AppContribute message, JobOutbox& out);
  void on_app(const Surroundings& around, AppReleased message, JobOutbox& out);
  void on_app(const Surroundings& around, const AppAck& message, JobOutbox& out);
  void on_app(const Surroundings& around, const AppAssume& message, JobOutbox& out);
  void on_kept(const AppKeeps& message) { mover_.on_kept(message); }
  void on_finished(const Surroundings& around, JobOutbox& out);

  // Inputs from other processors.
  void on_message(const Surroundings& around, ProcessorId from, const Routes& m, JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, const Pull& m, JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, const Offer& m, JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, const OfferReply& m,
                  JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, const OfferCancel& m,
                  JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, const StatePiece& m,
                  JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, const StateTaken& m,
                  JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, Migrate m, JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, VnodeMessage&& m, JobOutbox& out);
  void on_message(const Surroundings& around, ProcessorId from, CollectiveMessage m,
                  JobOutbox& out);

  // Other inputs.
  void on_timer(const Surroundings& around, const JobTimer& timer, JobOutbox& out);
  void on_tree_changed(const Surroundings& around, TreeId tree, JobOutbox& out);
  /// Processors whose application takes part, and whether the job is about to end.
  void on_standing(const Surroundings& around, ProcessorSet ready, bool ending, JobOutbox& out);
  void on_home(const Surroundings& around, ProcessorId home, JobOutbox& out);  ///< Hears owners.
  void on_leaving(const Surroundings& around, JobOutbox& out);
  void on_gone(const Surroundings& around, ProcessorId gone, JobOutbox& out);
  /// If somebody has died who may have had something of the job on its way: its ends repair that.
  void on_line(const Surroundings& around, JobOutbox& out);
  void on_relieved(std::vector<CastCredit> credits, JobOutbox& out);  ///< Copies may come again.

  // Queries.
  [[nodiscard]] const Router& router() const { return router_; }
  [[nodiscard]] bool is_empty() const;  ///< Nothing of the job is here: a leaver may go.
  [[nodiscard]] bool is_ending() const { return ending_; }  ///< Its program is done somewhere.
  /// No vnodes are on their way from here or to here, or may come back.
  [[nodiscard]] bool is_quiet() const { return mover_.is_quiet(); }
  [[nodiscard]] std::string waiting(const Surroundings& around) const;
  [[nodiscard]] bool is_over_limit() const {
    return router_.undelivered_bytes() > config_.undelivered_bytes_max ||
           parked_bytes() > config_.parked_bytes_max;
  }
  /// Not empty: a limit was reached, the job cannot go on.
  [[nodiscard]] std::string limit_reached() const;
  [[nodiscard]] TrafficCounters counters() const {
    TrafficCounters all = counters_;
    all.dropped += router_.unknown();
    return all;
  }
  void check_invariants(const std::function<bool(const JobTimer&)>& is_armed,
                        const ProcessorSet& there) const;

 private:
  using Along = std::pair<collectives::ReductionId, collectives::ReductionWay>;  ///< And its tree.

  [[nodiscard]] Standing standing(const Surroundings& around) const;
  void handle(const Surroundings& around, ProcessorId from, collectives::TreeCopy m,
              JobOutbox& out);
  void handle(const Surroundings& around, ProcessorId from, collectives::FallbackCopy m,
              JobOutbox& out);
  void handle(const Surroundings& around, ProcessorId from, collectives::ReductionToken m,
              JobOutbox& out);
  void spread(const Surroundings& around, collectives::TreeCopy copy, JobOutbox& out);
  [[nodiscard]] std::uint64_t parked_bytes() const { return router_.parked_bytes() + ahead_bytes_; }
  /// A token of this line. If not it was dropped, or waits for its line.
  template <class M>
  [[nodiscard]] bool admits(ProcessorId from, const collectives::ReductionToken& token, M& message);
  void give(const Surroundings& around, std::optional<ProcessorId> from,
            collectives::ReductionToken token, JobOutbox& out);
  void announce_contributed(const Surroundings& around, const GivenElsewhere& given,
                            JobOutbox& out);
  /// Makes known that these vnodes are here.
  void report_owned(const Surroundings& around, const VnodeSet& vnodes, JobOutbox& out);
  void announce_later(const Surroundings& around, const VnodeSet& vnodes, JobOutbox& out);
  void announce_routes(const Surroundings& around, JobOutbox& out);
  void reconsider_reductions(const Surroundings& around, JobOutbox& out);
  void carry_out(collectives::Reduction::Outbox& reduced, JobOutbox& out);
  /// Calls `step(situation, reduction outbox)` for the reduction and carries out what it wants.
  template <class Step>
  void reduce(const Surroundings& around, Along along, Step step, JobOutbox& out);
  [[nodiscard]] TreeId tree_of(const Surroundings& around, ProcessorId owner,
                               collectives::ReductionWay way) const;

  ProcessorId self_;
  JobId job_;
  DaemonConfig config_;
  Router router_;
  Mover mover_;
  bool balance_;
  bool fixed_;                 ///< No vnode moves.
  planners::TreeStyle style_;  ///< Of the trees of its collectives.
  bool ending_ = false;
  bool has_cast_ = false;         ///< The process has, since it was told of other trees.
  bool announces_later_ = false;  ///< A statement was made so lately that the next one waits.
  bool has_told_given_ = false;   ///< As one who leaves.
  ProcessorSet ready_;
  ProcessorId home_;
  VnodeSet unannounced_;  ///< At the home: whose owners have changed since the last statement.
  VnodeSet given_back_;   ///< Told by a home that is not, or not yet; for the next one.
  collectives::Reduction reduction_;
  /// Tokens of lines not heard of here, and who sent them.
  std::vector<std::pair<ProcessorId, std::variant<VnodeMessage, CollectiveMessage>>> ahead_;
  std::uint64_t ahead_bytes_ = 0;
  TrafficCounters counters_;  ///< But for what the router has dropped.
  std::string immovable_;     ///< Why a vnode could not move, or came without state; or empty.
};

}  // namespace phx::runtime
