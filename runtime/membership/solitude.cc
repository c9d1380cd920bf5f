#include "runtime/membership/solitude.h"

#include <algorithm>
#include <utility>

#include "runtime/membership/view_change.h"

namespace phx::runtime {

bool Solitude::note_members(const View& view, const std::vector<ViewChange::Gone>& gone) {
  const ProcessorSet before = std::exchange(members_, {});
  for (const auto& [id, member] : view.members) members_.insert(id);
  // Somebody joined: whoever lets newcomers in is the mesh.
  if (!before.empty() && !before.contains_all(members_)) {
    lost_.clear();
    elsewhere_.clear();
  }
  bool has_lost_more = false;
  for (const ViewChange::Gone& one : gone) {
    auto known = known_.extract(one.id);
    if (known.empty() || one.why == Departure::kLeft) continue;
    if (lost_.size() == kLostMax) lost_.erase(lost_.begin());
    lost_.insert(std::move(known));
    has_lost_more = true;
  }
  known_.clear();
  const std::size_t step = view.members.size() / kKnownMax + 1;
  std::size_t place = 0;
  for (const auto& [id, member] : view.members) {
    const bool is_taken = place++ % step == 0 && id != self_ && !member.endpoints.empty();
    if (is_taken) known_.try_emplace(id, member.endpoints);
  }
  return has_lost_more;
}

void Solitude::on_view(Instant now, const View& view, const std::vector<ViewChange::Gone>& gone,
                       Outbox& out) {
  const bool has_lost_more = note_members(view, gone);
  const bool is_alone = members_ == ProcessorSet{self_} && !lost_.empty();
  if (!is_alone) alone_since_.reset();
  if (is_alone && !alone_since_) alone_since_ = now;
  const bool has_others = !lost_.empty() || !elsewhere_.empty();
  const bool asks = has_others && coordinator_of(view) == self_;
  const bool has_asked = std::exchange(is_asking_, asks);
  if (has_asked && !asks) return out.disarm(Timer{});
  if (!asks || (has_asked && !has_lost_more)) return;
  period_ = elsewhere_.empty() ? kPeriod : kFounderPeriod;
  out.arm(Timer{}, now + period_);
}

bool Solitude::stays(const View& other, const View& own) const {
  const std::uint64_t theirs = other.members.size();
  const std::uint64_t ours = own.members.size();
  const ProcessorId first = coordinator_of(other);
  if (elsewhere_.empty()) {
    // Of two parts as large as each other that with the older coordinator stays.
    return theirs < ours || (theirs == ours && self_ < first);
  }
  // Of two founders one stays. Any other mesh was there before this one.
  const bool may_be_founder = first == self_ && other.next_processor == self_.value + 1;
  return may_be_founder && own.members.at(self_).incarnation < other.members.at(first).incarnation;
}

void Solitude::on_answer(const View& other, const View& own, bool is_idle, Outbox& out) {
  const bool is_out = !other.members.empty() && self_.value < other.next_processor;
  // It still counts some of this part: their deaths are being declared. Meshes that began apart
  // give the same ids, but not to the same processes.
  const bool is_changing = std::ranges::any_of(other.members, [&](const auto& member) {
    const auto found = own.members.find(member.first);
    return found != own.members.end() && found->second.incarnation == member.second.incarnation;
  });
  if (!is_asking_ || !is_out || is_changing || !is_idle || stays(other, own)) return;
  const std::uint64_t theirs = other.members.size();
  const std::uint64_t ours = own.members.size();
  const std::string mesh = to_string(coordinator_of(other)) +
                           (theirs > 1 ? " and " + std::to_string(theirs - 1) + " more" : "") +
                           " in view " + std::to_string(other.number);
  if (!elsewhere_.empty()) {
    return out.report(
        GivenUp{"the mesh that this processor should have joined is there after "
                "all: " +
                mesh});
  }
  const std::string part =
      ours == 1 ? "this processor"
                : "this part of " + std::to_string(ours) + " processors, which end one by one";
  out.report(GivenUp{"the mesh goes on without " + part + ", which could not be reached: " + mesh});
}

std::vector<std::string> Solitude::next_to_ask() {
  if (!elsewhere_.empty()) return {elsewhere_[asked_elsewhere_++ % elsewhere_.size()]};
  auto next = lost_.upper_bound(asked_);
  if (next == lost_.end()) {
    next = lost_.begin();
    if (asked_ != ProcessorId{}) period_ = std::min(2 * period_, kPeriodMax);
  }
  asked_ = next->first;
  return next->second;
}

void Solitude::on_timer(Instant now, bool is_idle, Outbox& out) {
  if (!is_asking_) return;
  const Duration alone = alone_since_ ? now - *alone_since_ : Duration{};
  if (alone_max_ > Duration{} && alone >= alone_max_ && is_idle) {
    return out.report(GivenUp{"alone for " + std::to_string(alone / 1s) +
                              " s, and no job runs here: none of the others has answered"});
  }
  out.report(Inquire{next_to_ask()});
  out.arm(Timer{}, now + period_);
}

}  // namespace phx::runtime
