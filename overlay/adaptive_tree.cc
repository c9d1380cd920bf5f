#include "overlay/adaptive_tree.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/tree_rules.h"

namespace phx::overlay {
namespace {

/// More than a tenth of the old value [Saito08 G4].
template <class T>
bool differs(T before, T after) {
  const T change = before < after ? after - before : before - after;
  return change > before / 10;
}

}  // namespace

AdaptiveTree::AdaptiveTree(ProcessorId self, TreeId id, const AdaptiveTreeOptions& options,
                           std::uint64_t seq, std::uint64_t attachment, Rng rng)
    : self_(self),
      id_(id),
      options_(options),
      rng_(rng),
      label_{seq, kForever},
      below_{self},
      attachments_(attachment) {
  if (is_root()) {
    label_.feasible = Duration{0};
    distance_ = Duration{0};
    cost_ = Duration{0};
  }
  told_ = advert();
  view_.id = id_;
  view_.version = 1;
  view_.distance_to_root = distance_;
}

void AdaptiveTree::on_members(const Horizon& horizon, Outbox& out) {
  children_changed_ |= children_.keep_only(horizon.live);
  std::erase_if(waiting_, [&](const auto& w) { return !horizon.live.contains(w.first); });
  if (attempt_ && !horizon.live.contains(attempt_->to)) {
    attempt_.reset();
    if (!parent_) try_next(horizon, out);
  }
  if (parent_ && !horizon.live.contains(parent_->id)) {
    seek(horizon, parent_->advert.parent, out);
  }
  if (line_.up) line_.up->tries = 0;
  line_.compared = {};
  finish(horizon, out);
}

void AdaptiveTree::on_candidate(const Horizon& horizon, ProcessorId from, const TreeAdvert& m,
                                Outbox& out) {
  if (is_root() || from == self_ || !is_sane(m)) return;
  if (parent_ && parent_->id == from) {
    hear(horizon, m, out);
  } else if (m.connected) {
    is_for_bandwidth() ? weigh_width(horizon, from, m, out) : weigh(horizon, from, m, out);
  }
  finish(horizon, out);
}

void AdaptiveTree::on_round_over(const Horizon& horizon, Outbox& out) {
  if (!parent_) return;
  const std::optional<Duration> measured = horizon.links.round_trip(parent_->id);
  if (!measured) return;
  parent_->round_trip = *measured;
  if (!is_for_bandwidth()) parent_->provisional = false;
  recompute();
  finish(horizon, out);
}

void AdaptiveTree::on_rate(const Horizon& horizon, ProcessorId peer, Outbox& out) {
  const std::optional<std::uint64_t> rate = horizon.rates.rate(peer);
  if (!is_for_bandwidth() || !rate) return;
  if (parent() == peer) {
    parent_->mebibyte = mebibyte_time(*rate);
    parent_->provisional = false;
    recompute();
  }
  finish(horizon, out);
}

void AdaptiveTree::on_message(const Horizon& horizon, ProcessorId from, const Attach& m,
                              Outbox& out) {
  if (!horizon.live.contains(from)) {
    // It knows us before we know it: it will ask again.
    out.send(from, AttachReply{m.attachment, false, advert(), {}});
    return;
  }
  if (is_connected()) {
    reply(horizon, from, m, out);
  } else {
    waiting_[from] = m;  // one's later Attach replaces its earlier one
  }
  finish(horizon, out);
}

void AdaptiveTree::on_message(const Horizon& horizon, ProcessorId from, const AttachReply& m,
                              Outbox& out) {
  if (!attempt_ || attempt_->to != from || attempt_->attachment != m.attachment) {
    const bool is_ours = parent_ && parent_->id == from && parent_->attachment == m.attachment;
    if (m.accepted && !is_ours) out.send(from, Detach{id_, m.attachment});
    return;
  }
  // Both sides check the labels: ours may have fallen since we asked [Saito08 G7].
  const bool fits = is_sane(m.advert) && m.advert.connected && m.advert.label < label_;
  if (m.accepted && fits && is_fit(horizon, m.advert)) {
    adopt(horizon, m.advert, out);
  } else {
    if (m.accepted) out.send(from, Detach{id_, m.attachment});
    on_refused(horizon, from, m, out);
  }
  finish(horizon, out);
}

void AdaptiveTree::on_message(const Horizon& horizon, ProcessorId from, const Detach& m,
                              Outbox& out) {
  const auto at = waiting_.find(from);
  if (at != waiting_.end() && at->second.attachment == m.attachment) waiting_.erase(at);
  if (options_.linger == Duration{}) {
    children_changed_ |= children_.detach(from, m.attachment);
  } else {
    children_.let_linger(from, m.attachment, horizon.now);
    watch_lingering(out);
  }
  finish(horizon, out);
}

void AdaptiveTree::on_message(const Horizon& horizon, ProcessorId from, const Bye& m, Outbox& out) {
  if (!parent_ || parent_->id != from) return;
  seek(horizon, m.grandparent, out);
  finish(horizon, out);
}

void AdaptiveTree::on_message(const Horizon& horizon, ProcessorId from, const Update& m,
                              Outbox& out) {
  if (!parent_ || parent_->id != from || !is_sane(m.advert)) return;
  hear(horizon, m.advert, out);
  finish(horizon, out);
}

void AdaptiveTree::on_message(const Horizon& horizon, ProcessorId from, const UpdateSet& m,
                              Outbox& out) {
  children_changed_ |= children_.update(from, m);
  finish(horizon, out);
}

void AdaptiveTree::on_message(const Horizon& horizon, ProcessorId, const Relabel&, Outbox& out) {
  if (!is_root() || due_.relabel) return;
  if (!last_relabel_ || horizon.now >= *last_relabel_ + options_.relabel_period) {
    raise(horizon, out);
  } else {
    due_.relabel = *last_relabel_ + options_.relabel_period;
    out.arm(Timer::kRelabel, *due_.relabel);
  }
}

void AdaptiveTree::on_timer(const Horizon& horizon, Timer timer, Outbox& out) {
  const auto is_due = [&](const std::optional<Instant>& at) { return at && horizon.now >= *at; };
  switch (timer) {
    case Timer::kAttach:
      if (is_due(due_.attach)) on_attach_timer(horizon, out);
      break;
    case Timer::kUpdate:
      if (is_due(due_.update)) push_update(out);
      break;
    case Timer::kUpdateSet:
      if (is_due(due_.set)) push_set(out);
      break;
    case Timer::kRelabel:
      if (is_due(due_.relabel)) is_root() ? raise(horizon, out) : on_hold_over(horizon, out);
      break;
    case Timer::kLineUp:
      if (line_.up && is_due(line_.up->due)) line_up(horizon, out);
      break;
    case Timer::kLinger:
      children_changed_ |= children_.age(horizon.now, options_.linger);
      watch_lingering(out);
      break;
  }
  finish(horizon, out);
}

void AdaptiveTree::leave(Outbox& out) {
  for (const auto& [asker, attach] : waiting_) {
    out.send(asker, AttachReply{attach.attachment, false, TreeAdvert{.tree = id_}, {}});
  }
  const ProcessorId above = is_connected() && parent_ ? parent_->id : kNobody;
  const TreeAdvert advert = parent_ ? parent_->advert : TreeAdvert{.tree = id_};
  for (const ProcessorId child : children_.ids()) out.send(child, Bye{id_, above, advert});
  if (attempt_) out.send(attempt_->to, Detach{id_, attempt_->attachment});
  if (parent_) out.send(parent_->id, Detach{id_, parent_->attachment});
}

// --- Place and label ---

TreeAdvert AdaptiveTree::advert() const {
  return TreeAdvert{.tree = id_,
                    .connected = is_connected(),
                    .distance = distance_,
                    .label = label_,
                    .children = static_cast<std::uint32_t>(children_.size()),
                    .parent = parent_ ? parent_->id : kNobody,
                    .mebibyte_time = is_for_bandwidth() ? cost_ : Duration{}};
}

bool AdaptiveTree::is_connected() const {
  return is_root() || (parent_ && parent_->advert.connected);
}

std::optional<ProcessorId> AdaptiveTree::parent() const {
  if (!parent_) return std::nullopt;
  return parent_->id;
}

bool AdaptiveTree::is_settled() const {
  return !children_.next(options_.linger) && !attempt_ && !due_.attach && !due_.update &&
         !due_.set && !due_.relabel && !(line_.up && line_.up->due);
}

/// What the parent says now. A parent's label is always smaller than its child's, and its sequence
/// number grows: anything else is old news, or no news of a correct processor [Saito08 G5 R4].
void AdaptiveTree::hear(const Horizon& horizon, const TreeAdvert& advert, Outbox& out) {
  if (!(advert.label < label_) || advert.label.seq < parent_->advert.label.seq) return;
  if (holds_back(horizon, advert, out)) return;
  parent_->advert = advert;
  const std::uint64_t before = label_.seq;
  recompute();
  if (label_.seq != before && hold_.wish.parent != kNobody) {
    if (horizon.live.contains(hold_.wish.parent)) out.report(WorthProbing{hold_.wish.parent});
    hold_.wish = {};
  }
}

/// The own distance and cost from what the parent says; the label only falls [Saito08 G5 R1].
void AdaptiveTree::recompute() {
  if (is_root()) return;
  distance_ = cost_ = kForever;
  if (!is_connected()) return;
  distance_ = parent_->advert.distance + hop();
  cost_ = is_for_bandwidth()
              ? time_below(parent_->advert, parent_->mebibyte, parent_->advert.children, self_)
              : distance_;
  const std::uint64_t seq = parent_->advert.label.seq;
  if (seq > label_.seq) {
    label_ = Label{seq, cost_};
  } else if (seq == label_.seq) {
    label_.feasible = std::min(label_.feasible, cost_);
  }
}

/// What the hop to the parent counts. Not measured, it counts double, so that the label stays high
/// until the neighbourhood is known. The nanoseconds of the id break ties: on a network with equal
/// round trips, L1 would otherwise refuse everybody.
Duration AdaptiveTree::hop() const {
  const Duration round_trip = std::clamp(parent_->round_trip, Duration{1}, kDistanceMax / 4);
  const Duration tie_break{1 + self_.value % 1009};
  return round_trip * (parent_->provisional && !is_for_bandwidth() ? 2 : 1) + tie_break;
}

/// Only the root raises the sequence number [Saito08 G5 R5].
void AdaptiveTree::raise(const Horizon& horizon, Outbox& out) {
  last_relabel_ = horizon.now;
  due_.relabel.reset();
  ++label_.seq;
  push_update(out);
}

/// What every input ends with: waiting askers, news for the neighbours, the view.
void AdaptiveTree::finish(const Horizon& horizon, Outbox& out) {
  if (is_for_bandwidth()) {
    let_through(horizon, out);
    watch_line(horizon, out);
    watch_width(horizon, out);
  }
  if (is_connected() && !waiting_.empty()) {
    const auto waiting = std::exchange(waiting_, {});
    for (const auto& [asker, attach] : waiting) reply(horizon, asker, attach, out);
  }
  refresh_view(out);
  if (children_.size() == 0) {
    told_ = advert();
  } else if (!due_.update && is_news()) {
    due_.update = horizon.now + options_.update_delay;
    out.arm(Timer::kUpdate, *due_.update);
  }
  if (parent_ && !due_.set && parent_->told != below_) {
    due_.set = horizon.now + options_.set_delay;
    out.arm(Timer::kUpdateSet, *due_.set);
  }
}

void AdaptiveTree::reply(const Horizon& horizon, ProcessorId to, const Attach& m, Outbox& out) {
  std::size_t others = children_.size() - (children_.contains(to) ? 1 : 0);
  // In front of one of another site, which lines up behind it then [README, "Lines"].
  const bool is_beside = is_for_bandwidth() && !m.is_far && !children_.contains(to);
  if (is_beside && others == 1) others = children_.beside(to);
  const bool fits = label_ < m.own && (!parent_ || parent_->id != to) && !line_.is_slow;
  if (!fits) {
    out.send(to, AttachReply{m.attachment, false, advert(), {}});
    return;
  }
  const ProcessorId before = is_for_bandwidth() ? line_before(horizon, to, m) : kNobody;
  if (before != kNobody) {
    out.send(to, AttachReply{m.attachment, false, advert(), {before}});
  } else if (others > m.children_seen) {
    out.send(to, AttachReply{m.attachment, false, advert(), redirection(to, m.below)});
  } else if (children_.attach(to, m)) {
    children_changed_ = true;
    out.send(to, AttachReply{m.attachment, true, advert(), {}});
  }
}

/// Up to `fanout` children, drawn at random so that refused ones spread. In a line as many of those
/// further behind too: half of the way to its end at a time.
std::vector<ProcessorId> AdaptiveTree::redirection(ProcessorId asker, const ProcessorSet& below) {
  const auto thin_out = [this](std::vector<ProcessorId>& ids) {
    while (ids.size() > options_.fanout) {
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(rng_.below(ids.size())));
    }
  };
  std::vector<ProcessorId> ids = children_.ids();
  std::erase(ids, asker);
  thin_out(ids);
  if (!is_for_bandwidth()) return ids;
  ProcessorSet others = below_.minus(below);
  others.erase(self_);
  for (const ProcessorId id : ids) others.erase(id);
  std::vector<ProcessorId> behind = others.ids();
  thin_out(behind);
  ids.insert(ids.end(), behind.begin(), behind.end());
  return ids;
}

void AdaptiveTree::push_update(Outbox& out) {
  if (due_.update) out.disarm(Timer::kUpdate);
  due_.update.reset();
  told_ = advert();
  for (const ProcessorId child : children_.ids()) out.send(child, Update{told_});
}

void AdaptiveTree::push_set(Outbox& out) {
  due_.set.reset();
  if (!parent_ || parent_->told == below_) return;
  out.send(parent_->id, UpdateSet{id_, parent_->attachment, ++parent_->version,
                                  below_.minus(parent_->told), parent_->told.minus(below_)});
  parent_->told = below_;
}

bool AdaptiveTree::is_news() const {
  const TreeAdvert now = advert();
  if (now.connected != told_.connected || now.parent != told_.parent ||
      now.label.seq != told_.label.seq) {
    return true;
  }
  if (is_for_bandwidth()) {
    return now.children != told_.children || differs(told_.mebibyte_time, now.mebibyte_time);
  }
  const bool crowded = std::max(now.children, told_.children) > options_.fanout;
  return differs(told_.distance, now.distance) ||
         (crowded && differs(told_.children, now.children));
}

void AdaptiveTree::refresh_view(Outbox& out) {
  const std::optional<ProcessorId> above = is_connected() ? parent() : std::nullopt;
  if (!children_changed_ && above == view_.parent && distance_ == view_.distance_to_root) return;
  if (children_changed_) {
    view_.children = children_.children();
    below_ = children_.below();
    below_.insert(self_);
    children_changed_ = false;
  }
  view_.parent = above;
  view_.distance_to_root = distance_;
  ++view_.version;
  out.report(Changed{});
}

void AdaptiveTree::check_invariants() const {
  PHX_CHECK(view_.id == id_ && below_.contains(self_));
  PHX_CHECK(is_connected() == (distance_ != kForever));
  PHX_CHECK(!is_root() || (!parent_ && !attempt_ && label_.feasible == Duration{0}));
  PHX_CHECK(!parent_ || parent_->id != self_);
  PHX_CHECK(!parent_ || parent_->advert.label < label_);
  PHX_CHECK(!attempt_ || due_.attach);
  PHX_CHECK(!hold_.advert || (parent_ && (attempt_ || due_.relabel)));
  PHX_CHECK(is_root() || parent_ || due_.attach);
  PHX_CHECK(waiting_.empty() || !is_connected());
}

}  // namespace phx::overlay
