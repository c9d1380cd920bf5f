#include "runtime/membership/solitude.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/membership/view_change.h"

namespace phx::runtime {
namespace {

/// Their members are in part the same: deaths are being declared, or what was asked is this part
/// itself. Ids alone say nothing, for parts give the same ones.
bool have_common_members(const View& a, const View& b) {
  return std::ranges::any_of(a.members, [&](const auto& member) {
    const auto found = b.members.find(member.first);
    return found != b.members.end() && found->second.incarnation == member.second.incarnation;
  });
}

/// Members are drawn by these. Ids come in an order that may follow the sites.
std::uint64_t lot_of(const Member& member) {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;
  return (member.incarnation ^ member.id.value) * kMix;
}

/// Nobody else has ever been in it.
bool is_unjoined(const View& view) {
  return view.members.size() == 1 && view.next_processor == coordinator_of(view).value + 1;
}

}  // namespace

Solitude::Solitude(ProcessorId self, Duration alone_max, std::vector<std::string> lost,
                   std::vector<std::string> elsewhere)
    : self_(self), alone_max_(alone_max), lost_(std::move(lost)), elsewhere_(std::move(elsewhere)) {
  lost_.resize(std::min(lost_.size(), kLostMax));
}

/// In front, so that they are asked next.
void Solitude::add_lost(const std::vector<std::string>& endpoints) {
  std::erase_if(lost_, [&](const std::string& one) {
    return std::ranges::find(endpoints, one) != endpoints.end();
  });
  lost_.insert(lost_.begin(), endpoints.begin(), endpoints.end());
  lost_.resize(std::min(lost_.size(), kLostMax));
}

/// Who comes may be one that was lost. Of the others nothing new is known.
void Solitude::note_joined(const View& view) {
  const ProcessorSet before = std::exchange(members_, ids_of(view));
  if (before.contains_all(members_)) return;
  // A founder's mesh is a part now, like any other.
  if (!before.empty()) add_lost(std::exchange(elsewhere_, {}));
  for (const auto& [id, member] : view.members) {
    if (before.contains(id)) continue;
    for (const std::string& endpoint : member.endpoints) std::erase(lost_, endpoint);
  }
}

bool Solitude::note_gone(const std::vector<ViewChange::Gone>& gone) {
  std::vector<std::string> more;
  for (const ViewChange::Gone& one : gone) {
    const auto known = known_.extract(one.id);
    if (known.empty() || one.why == Departure::kLeft) continue;
    std::ranges::copy(known.mapped(), std::back_inserter(more));
  }
  if (more.empty()) return false;
  add_lost(more);
  return true;
}

void Solitude::note_members(const View& view) {
  known_.clear();
  std::vector<std::pair<std::uint64_t, const Member*>> drawn;
  for (const auto& [id, member] : view.members) {
    if (id != self_ && !member.endpoints.empty()) drawn.emplace_back(lot_of(member), &member);
  }
  const std::size_t count = std::min(drawn.size(), kKnownMax);
  std::ranges::partial_sort(drawn, drawn.begin() + static_cast<std::ptrdiff_t>(count));
  drawn.resize(count);
  for (const auto& [lot, member] : drawn) known_.try_emplace(member->id, member->endpoints);
}

void Solitude::on_view(Instant now, const View& view, const std::vector<ViewChange::Gone>& gone,
                       Outbox& out) {
  const bool has_lost_more = note_gone(gone);
  note_joined(view);
  note_members(view);
  const bool is_alone = members_ == ProcessorSet{self_};
  if (!is_alone) alone_since_.reset();
  if (is_alone && has_lost_more) alone_since_ = now;
  const bool has_others = !lost_.empty() || !elsewhere_.empty();
  const bool asks = has_others && coordinator_of(view) == self_;
  const bool has_asked = std::exchange(is_asking_, asks);
  if (has_asked && !asks) return out.disarm(Timer{});
  if (!asks || (has_asked && !has_lost_more)) return;
  period_ = elsewhere_.empty() ? kPeriod : kFounderPeriod;
  asked_in_round_ = 0;
  out.arm(Timer{}, now + period_);
}

bool Solitude::stays(const View& other, const View& own) const {
  const Member& first = other.members.at(coordinator_of(other));
  const Member& self = own.members.at(self_);
  const std::uint64_t theirs = other.members.size();
  const std::uint64_t ours = own.members.size();
  if (elsewhere_.empty()) {
    // Of two parts as large as each other that with the older coordinator stays, but a founder
    // makes way for any.
    const bool is_older =
        std::pair(self.id, self.incarnation) < std::pair(first.id, first.incarnation);
    return theirs < ours || (theirs == ours && (is_older || is_unjoined(other)));
  }
  // Of two founders one stays. Any other mesh was there before this one.
  const bool may_be_founder = first.id == self_ && is_unjoined(other);
  return may_be_founder && self.incarnation < first.incarnation;
}

void Solitude::on_answer(const View& other, const View& own, bool is_idle, Outbox& out) {
  if (!is_asking_ || other.members.empty()) return;
  if (other.number == own.number && other.members == own.members) {
    // A member is there.
    std::erase(lost_, asked_);
    std::erase(elsewhere_, asked_);
    return;
  }
  // At an address of one that was lost there may be a processor of another mesh by now.
  const bool is_ours = other.origin == own.origin || !elsewhere_.empty();
  if (!is_ours || !is_idle || have_common_members(other, own) || stays(other, own)) return;
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
      ours == 1 ? "this processor" : "this part of " + std::to_string(ours) + " processors";
  out.report(GivenUp{"the mesh goes on without " + part + ", which could not be reached: " + mesh});
}

std::string Solitude::next_to_ask() {
  std::vector<std::string>& all = elsewhere_.empty() ? lost_ : elsewhere_;
  // A founder asks as often however long it takes.
  if (elsewhere_.empty() && asked_in_round_ >= all.size()) {
    period_ = std::min(2 * period_, kPeriodMax);
    asked_in_round_ = 0;
  }
  ++asked_in_round_;
  std::rotate(all.begin(), all.begin() + 1, all.end());
  return all.back();
}

void Solitude::on_timer(Instant now, bool is_idle, Outbox& out) {
  if (!is_asking_) return;
  const Duration alone = alone_since_ ? now - *alone_since_ : Duration{};
  if (alone_max_ > Duration{} && alone >= alone_max_ && is_idle) {
    return out.report(GivenUp{"alone for " + std::to_string(alone / 1s) +
                              " s, and no job runs here: none of the others has answered"});
  }
  if (lost_.empty() && elsewhere_.empty()) {
    is_asking_ = false;
    return;
  }
  asked_ = next_to_ask();
  out.report(Inquire{{asked_}});
  out.arm(Timer{}, now + period_);
}

}  // namespace phx::runtime
