#include "runtime/membership/solitude.h"

#include <algorithm>
#include <utility>

#include "runtime/membership/view_change.h"

namespace phx::runtime {

void Solitude::on_view(Instant now, const View& view, const std::vector<ViewChange::Gone>& gone,
                       Outbox& out) {
  for (const ViewChange::Gone& one : gone) {
    auto known = known_.extract(one.id);
    if (!known.empty() && one.why != Departure::kLeft && lost_.size() < kOthersMax) {
      lost_.insert(std::move(known));
    }
  }
  for (const auto& [id, member] : view.members) {
    if (known_.size() >= kOthersMax) break;
    if (id != self_ && !member.endpoints.empty()) known_.try_emplace(id, member.endpoints);
  }
  const bool is_alone = view.members.size() == 1 && view.members.contains(self_);
  if (!is_alone) {
    if (alone_since_) {  // Somebody joined: this is the mesh.
      lost_.clear();
      out.disarm(Timer{});
    }
    alone_since_.reset();
  } else if (!lost_.empty() && !alone_since_) {
    alone_since_ = now;
    period_ = kPeriod;
    out.arm(Timer{}, now + period_);
  }
}

void Solitude::on_answer(const View& other, bool is_idle, Outbox& out) {
  const bool is_out = !other.members.empty() && !other.members.contains(self_) &&
                      self_.value < other.next_processor;
  // Of two that are alone the older one stays.
  const bool goes_on = is_out && (other.members.size() > 1 || coordinator_of(other) < self_);
  if (!alone_since_ || !goes_on || !is_idle) return;
  const std::size_t more = other.members.size() - 1;
  out.report(GivenUp{"the mesh goes on without this processor, which could not be reached: " +
                     to_string(coordinator_of(other)) +
                     (more > 0 ? " and " + std::to_string(more) + " more" : "") + " in view " +
                     std::to_string(other.number)});
}

void Solitude::on_timer(Instant now, bool is_idle, Outbox& out) {
  if (!alone_since_ || lost_.empty()) return;
  const Duration alone = now - *alone_since_;
  if (alone_max_ > Duration{} && alone >= alone_max_ && is_idle) {
    return out.report(GivenUp{"alone for " + std::to_string(alone / 1s) +
                              " s, and no job runs here: none of the others has answered"});
  }
  auto next = lost_.upper_bound(asked_);
  if (next == lost_.end()) {
    next = lost_.begin();
    if (asked_ != ProcessorId{}) period_ = std::min(2 * period_, kPeriodMax);
  }
  asked_ = next->first;
  out.report(Inquire{next->second});
  out.arm(Timer{}, now + period_);
}

}  // namespace phx::runtime
