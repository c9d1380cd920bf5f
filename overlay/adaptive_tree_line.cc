// What only bandwidth trees do: weigh bandwidths, form lines, hold sequence numbers back.

#include <algorithm>
#include <utility>

#include "overlay/adaptive_tree.h"
#include "overlay/tree_rules.h"

namespace phx::overlay {
namespace {

/// Who is so near is of the same site, whatever was measured.
constexpr Duration kNear = 1ms;
constexpr Duration::rep kMuchSlower = 2;
/// Waiting for a number counts for so many redirections.
constexpr std::uint32_t kHoldSteps = 3;
constexpr std::uint32_t kPauseDoublings = 3;

bool is_farther(Duration edge, Duration than) {
  return edge > kNear && edge > than * 2;
}

/// Of the others of this site that were measured, the fastest.
std::optional<std::uint64_t> rate_beside(const Horizon& horizon,
                                         const std::optional<TreeParent>& parent) {
  return horizon.rates.best_of(
      [&](ProcessorId id) { return (!parent || parent->id != id) && horizon.links.is_beside(id); });
}

}  // namespace

/// A MiB from there, as far as it was measured; else as if it was as fast as the fastest.
Duration AdaptiveTree::time_from(const Horizon& horizon, ProcessorId from, const TreeAdvert& m,
                                 std::uint32_t children) const {
  std::optional<std::uint64_t> rate = horizon.rates.rate(from);
  if (!rate) rate = horizon.rates.best();
  return time_below(m, rate ? mebibyte_time(*rate) : Duration{}, children, self_);
}

/// Whether the connected processor `from`, just probed, should become the parent.
void AdaptiveTree::weigh_width(const Horizon& horizon, ProcessorId from, const TreeAdvert& m,
                               Outbox& out) {
  if (attempt_ || !is_connected() || hold_.advert || hold_.wish.holds || below_.contains(from))
    return;
  if (parent_->provisional) {
    out.report(WorthProbing{parent_->id, true});
    return;
  }
  if (cost_ >= mebibyte_time(options_.unmeasured)) return;  // Somebody above is not measured yet.
  const Duration then = time_from(horizon, from, m, m.children + 1);
  const Duration edge = horizon.links.estimate(from).value_or(kDistanceMax);
  // Ways between sites carry all edges that cross them, of which est knows nothing: a farther
  // parent has to be much better, and a nearer one need not be better.
  const bool is_nearer = is_farther(parent_->round_trip, edge) && m.children < options_.fanout;
  const bool wanted = is_farther(edge, parent_->round_trip) ? then <= cost_ / 4
                      : is_nearer ? is_as_wide(then, cost_ * options_.fanout)
                                  : is_wider(then, cost_);
  if (!wanted) return;
  if (!horizon.rates.rate(from)) {
    out.report(WorthProbing{from, true});
  } else if (m.label < label_) {
    attach(horizon, {.to = from, .children_seen = m.children}, out);
  } else {
    starve(horizon, {.parent = from, .children_seen = m.children}, out);
  }
}

/// Whether a place in a line, which has not been weighed before, is as good as the present one.
bool AdaptiveTree::is_fit(const Horizon& horizon, const TreeAdvert& m) const {
  if (attempt_->fit == TreeFit::kAny || !is_connected()) return true;
  const Duration waited = horizon.now - attempt_->sent;
  const Duration edge = horizon.links.estimate(attempt_->to).value_or(waited);
  const Duration then = time_from(horizon, attempt_->to, m, m.children);
  const bool is_wide =
      attempt_->fit == TreeFit::kWider ? is_wider(then, cost_) : is_as_wide(then, cost_);
  return is_wide && !is_farther(edge, parent_->round_trip);
}

/// Those who come first to a processor, one soon after the other, form a line behind it: each is
/// sent to the one before. Those of other sites form another one, or it would go to and fro.
/// kNobody: there is no line.
ProcessorId AdaptiveTree::line_before(const Horizon& horizon, ProcessorId asker, const Attach& m) {
  if (m.children_seen + 1 != options_.fanout) return kNobody;
  TreeLine::End& end = m.is_far ? line_.far : line_.near;
  const bool is_line = end.id != kNobody && horizon.now < end.at + options_.line_time;
  const bool is_other = end.id != asker && !m.below.contains(end.id);
  const bool is_there = children_.size() > 0 && horizon.live.contains(end.id);
  end.at = horizon.now;
  const ProcessorId before = std::exchange(end.id, asker);
  return is_line && is_other && is_there ? before : kNobody;
}

/// It sends much slower than somebody else of this site; who is above it may not.
bool AdaptiveTree::has_slow_parent(const Horizon& horizon) const {
  const std::optional<std::uint64_t> others = rate_beside(horizon, parent_);
  return is_connected() && hangs_beside(horizon, parent_) && !parent_->provisional && others &&
         parent_->mebibyte > mebibyte_time(*others) * kMuchSlower;
}

/// Where the way gets narrow, the parent is slow, or the way between two sites, or this processor.
/// A download from a child of this site tells. Whoever is slow itself keeps no children.
void AdaptiveTree::watch_width(const Horizon& horizon, Outbox& out) {
  line_.is_slow = false;
  if (!parent_ || !is_connected() || parent_->provisional) return;
  const auto compare_with = [&](ProcessorId peer) {
    if (line_.compared.contains(peer)) return;
    line_.compared.insert(peer);
    out.report(WorthProbing{peer, true});
  };
  const ProcessorId above = parent_->advert.parent;
  if (above == id_.root && horizon.rates.size() < 2) compare_with(above);
  const Duration above_time = parent_->advert.mebibyte_time;
  if (parent_->id == id_.root || parent_->mebibyte <= above_time * kMuchSlower) return;
  const std::optional<std::uint64_t> others = rate_beside(horizon, parent_);
  if (others) {
    line_.is_slow = parent_->mebibyte <= mebibyte_time(*others) * kMuchSlower;
  } else {
    for (const ProcessorId child : children_.ids()) {
      if (horizon.links.is_beside(child)) compare_with(child);
    }
  }
  if (!line_.is_slow) return;
  for (const ProcessorId child : children_.ids()) {
    out.send(child, Bye{id_, parent_->id, parent_->advert});
    children_.let_linger(child, horizon.now);
  }
  watch_lingering(out);
}

/// Whoever shares its parent's interface tries to find a place at the end of a line; and whose
/// parent is slow tries to pass it.
void AdaptiveTree::watch_line(const Horizon& horizon, Outbox& out) {
  const bool is_crowded = parent_ && is_connected() && parent_->advert.children > 1;
  if (!is_crowded && !has_slow_parent(horizon)) {
    if (line_.up && line_.up->due) out.disarm(Timer::kLineUp);
    line_.up.reset();
    return;
  }
  if (!line_.up) line_.up.emplace();
  if (line_.up->due || line_.up->tries >= options_.line_ups) return;
  const Duration most = options_.line_up_delay * (1U << std::min(line_.up->tries, kPauseDoublings));
  const auto drawn = rng_.below(static_cast<std::uint64_t>(most.count()) + 1);
  line_.up->due = horizon.now + Duration{static_cast<Duration::rep>(drawn)};
  out.arm(Timer::kLineUp, *line_.up->due);
}

/// The parent is asked for the place of an only child; it names the others, and those behind them.
void AdaptiveTree::line_up(const Horizon& horizon, Outbox& out) {
  line_.up->due.reset();
  ++line_.up->tries;
  if (attempt_ || hold_.advert || hold_.wish.holds) return;
  const ProcessorId above = parent_->advert.parent;
  if (has_slow_parent(horizon) && horizon.live.contains(above)) {
    attach(horizon, {.to = above, .children_seen = options_.fanout - 1, .fit = TreeFit::kWider},
           out);
    return;
  }
  attach(horizon, {.to = parent_->id, .steps = options_.line_steps, .fit = TreeFit::kAsWide}, out);
}

/// Who has found another parent is served here for a while: copies are under way that were sent
/// when it was still below this processor.
void AdaptiveTree::watch_lingering(Outbox& out) {
  if (const auto due = children_.next(options_.linger)) out.arm(Timer::kLinger, *due);
}

/// Refused, but not without a parent.
void AdaptiveTree::walk_on(const Horizon& horizon, const AttachReply& m, const TreeAttempt& was,
                           Outbox& out) {
  if (was.steps == 0 || m.accepted) return;
  if (m.advert.connected && !(m.advert.label < label_)) {
    const TreeWish again{.parent = was.to,
                         .children_seen = {},
                         .steps = was.steps - std::min(was.steps, kHoldSteps),
                         .fit = TreeFit::kAsWide};
    hold_.advert ? hold_on(horizon, again, out) : starve(horizon, again, out);
    return;
  }
  std::vector<ProcessorId> next = m.redirect;
  std::erase_if(next, [&](ProcessorId id) {
    return id == self_ || below_.contains(id) || !horizon.live.contains(id) || parent() == id;
  });
  if (next.empty()) return;
  ProcessorId to = next[static_cast<std::size_t>(rng_.below(next.size()))];
  if (hangs_beside(horizon, parent_)) {
    // Along the part of the line that is in this site: it goes on to other sites behind that.
    std::vector<ProcessorId> beside = next;
    std::erase_if(beside, [&](ProcessorId id) { return !horizon.links.is_beside(id); });
    to =
        beside.empty() ? next.front() : beside[static_cast<std::size_t>(rng_.below(beside.size()))];
  }
  attach(horizon, {.to = to, .steps = was.steps - 1, .fit = TreeFit::kAsWide}, out);
}

/// The labels forbid a move: it needs a sequence number that reaches the wanted parent before it
/// reaches this processor. Every second one that starves goes, and the others stay where they are:
/// if all held the number back, it would reach nobody [README, "Holding back"].
void AdaptiveTree::starve(const Horizon& horizon, TreeWish wish, Outbox& out) {
  if (hold_.advert || hold_.wish.holds || below_.contains(wish.parent) || rng_.below(2) == 0)
    return;
  wish.holds = true;
  on_starved(horizon, wish, out);
}

/// Whether this news of the parent has to wait.
bool AdaptiveTree::holds_back(const Horizon& horizon, const TreeAdvert& advert, Outbox& out) {
  if ((!hold_.wish.holds && !hold_.advert) || advert.label.seq <= label_.seq) return false;
  if (hold_.advert && advert.label.seq < hold_.advert->label.seq) return true;
  if (!hold_.advert) hold_on(horizon, hold_.wish, out);
  hold_.advert = advert;
  return true;
}

/// The number has not come to the end of the line yet.
void AdaptiveTree::hold_on(const Horizon& horizon, const TreeWish& wish, Outbox& out) {
  hold_.wish = wish;
  due_.relabel = horizon.now + options_.hold;
  out.arm(Timer::kRelabel, *due_.relabel);
}

void AdaptiveTree::on_hold_over(const Horizon& horizon, Outbox& out) {
  due_.relabel.reset();
  const TreeWish wish = std::exchange(hold_.wish, {});
  const bool is_possible = hold_.advert && !attempt_ && parent_ &&
                           horizon.live.contains(wish.parent) && !below_.contains(wish.parent);
  if (!is_possible) return;
  attach(horizon,
         {.to = wish.parent,
          .children_seen = wish.children_seen,
          .steps = wish.steps,
          .fit = wish.fit},
         out);
}

/// The attempt that it was held back for is over.
void AdaptiveTree::let_through(const Horizon& horizon, Outbox& out) {
  if (is_root() || attempt_) return;
  if (!hold_.advert) {
    // The parent was lost meanwhile.
    if (due_.relabel) out.disarm(Timer::kRelabel);
    due_.relabel.reset();
    return;
  }
  if (due_.relabel) return;
  const TreeAdvert advert = *std::exchange(hold_.advert, std::nullopt);
  hold_.wish = {};
  hear(horizon, advert, out);
}

}  // namespace phx::overlay
