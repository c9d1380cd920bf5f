#include "runtime/channels/classes.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace phx::runtime {
namespace {

using Kind = FlowKey::Kind;

FlowKey job_of(JobId job) {
  return {Kind::kJob, job};
}

struct FlowOf {
  JobId job;

  FlowKey operator()(const PointToPoint& m) const { return {Kind::kPair, job, m.from, m.to}; }
  // Comes behind the pieces that left before it, so its answer says what of them was lost.
  FlowKey operator()(const FlowQuestion& m) const { return {Kind::kPair, job, m.from, m.to}; }
  FlowKey operator()(const collectives::ReductionToken& m) const {
    return {Kind::kReduction, job, m.id.target};
  }
  FlowKey operator()(const collectives::TreeCopy& m) const {
    return {Kind::kBroadcast, job, m.piece.root};
  }
  FlowKey operator()(const collectives::FallbackCopy& m) const {
    return {Kind::kBroadcast, job, m.piece.root};
  }
  template <class Other>
  FlowKey operator()(const Other& /*message*/) const {
    return job_of(job);
  }
};

Standpoint moves_of(JobId job) {
  return {Standpoint::Kind::kFlow, {Kind::kMoves, job}};
}

constexpr Standpoint kFence{Standpoint::Kind::kFence, {}};

struct StandpointOf {
  ProcessorId self;

  Standpoint operator()(const VnodeMessage& m) const {
    // All numbers of credit only grow, so it may overtake whatever there is.
    const bool is_credit = std::holds_alternative<FlowCredit>(m.delivery) ||
                           std::holds_alternative<CastCredit>(m.delivery);
    if (is_credit) return {};
    return {Standpoint::Kind::kFlow, std::visit(FlowOf{m.job}, m.delivery)};
  }
  Standpoint operator()(const CollectiveMessage& m) const {
    return {Standpoint::Kind::kFlow, std::visit(FlowOf{m.job}, m.message)};
  }
  // Its answer says that nothing comes behind it; and it says so of what was sent before.
  Standpoint operator()(const Flush&) const { return kFence; }
  // What is for the vnodes may overtake them: it waits for them there.
  Standpoint operator()(const StatePiece& m) const { return moves_of(m.job); }
  Standpoint operator()(const Migrate& m) const { return moves_of(m.job); }
  // Its numbers only grow, and what it says of a vnode was true for good when it was sent.
  Standpoint operator()(const StateTaken&) const { return {}; }
  Standpoint operator()(const JobEnd& m) const { return {Standpoint::Kind::kEnd, job_of(m.job)}; }
  // Nothing is taken from this processor that comes behind these.
  Standpoint operator()(const DownOrder&) const { return kFence; }
  Standpoint operator()(const ViewChange& m) const {
    const bool is_last = std::any_of(m.gone.begin(), m.gone.end(),
                                     [this](const auto& gone) { return gone.id == self; });
    return is_last ? kFence : Standpoint{};
  }
  Standpoint operator()(const ViewInstall& m) const {
    const bool is_brief = m.view.members.empty();  // Only members that stay get one.
    return is_brief || m.view.members.contains(self) ? Standpoint{} : kFence;
  }
  // A user waits, and perhaps because of what the job's other messages stand behind.
  Standpoint operator()(const StatusQuestion&) const { return {}; }
  // Nobody waits for it, and it is long.
  Standpoint operator()(const overlay::Message& m) const {
    if (!std::holds_alternative<overlay::Load>(m)) return {};
    return {Standpoint::Kind::kFlow, {Kind::kMeasure, JobId{}}};
  }
  // Before anything else of the job, and between the coordinator's views.
  Standpoint operator()(const JobStart&) const { return {}; }
  template <class Other>
  Standpoint operator()(const Other& m) const {
    if constexpr (requires {
                    requires std::is_same_v<std::remove_cvref_t<decltype(m.job)>, JobId>;
                  }) {
      return {Standpoint::Kind::kFlow, job_of(m.job)};
    } else {
      return {};
    }
  }
};

}  // namespace

Standpoint standpoint_of(const Envelope& envelope, ProcessorId self) {
  return std::visit(StandpointOf{self}, envelope);
}

}  // namespace phx::runtime
