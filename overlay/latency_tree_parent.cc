// How a processor finds, judges and changes its parent in one tree.

#include <algorithm>
#include <limits>
#include <utility>

#include "overlay/base/check.h"
#include "overlay/latency_tree.h"

namespace phx::overlay {
namespace {

/// In Attach::children_seen: take me, however many you have.
constexpr std::uint32_t kAnyNumber = std::numeric_limits<std::uint32_t>::max();
/// Of a redirection, only so many are asked in turn; the others get their share from others.
constexpr std::size_t kRedirectsTried = 4;
constexpr std::uint32_t kDoublings = 4;

}  // namespace

void LatencyTree::expect(const Horizon& horizon, Outbox& out) {
  attach_due_ = horizon.now + options_.attach_timeout;
  out.arm(Timer::kAttach, *attach_due_);
}

void LatencyTree::join(const Horizon& horizon, std::uint64_t seq, ProcessorId proposed,
                       Outbox& out) {
  if (is_root() || parent_) return;
  if (label_.seq < seq) label_ = Label{seq, kForever};  // an earlier life's parents are refused
  if (!attempt_) seek(horizon, proposed, out);
  finish(horizon, out);
}

/// Looks for a parent from nothing: `first`, then the root, whose label is the smallest of all
/// [Saito08 G6].
void LatencyTree::seek(const Horizon& horizon, ProcessorId first, Outbox& out) {
  parent_.reset();
  recompute();
  set_due_.reset();
  tries_ = {id_.root, first};
  tried_ = {};
  if (!attempt_) try_next(horizon, out);
}

void LatencyTree::try_next(const Horizon& horizon, Outbox& out) {
  while (!tries_.empty()) {
    const ProcessorId id = tries_.back();
    tries_.pop_back();
    if (id == kNobody || id == self_ || tried_.contains(id) || !horizon.live.contains(id)) continue;
    if (children_.contains(id)) continue;
    tried_.insert(id);
    attach(horizon, id, options_.fanout - 1, out);
    return;
  }
  if (horizon.live.contains(id_.root)) {
    attach(horizon, id_.root, kAnyNumber, out);  // the last resort never refuses for its children
  } else {
    pause(horizon, out);
  }
}

void LatencyTree::attach(const Horizon& horizon, ProcessorId to, std::uint32_t children_seen,
                         Outbox& out) {
  PHX_CHECK(!attempt_);
  refresh_view(out);  // below_ goes with the message
  attempt_ = Attempt{to, ++attachments_, children_seen, horizon.now, below_};
  out.send(to, Attach{id_, attempt_->attachment, children_seen, label_, below_});
  const Duration patience =
      std::max(options_.attach_timeout, horizon.links.estimate(to).value_or(Duration{0}) * 4);
  attach_due_ = horizon.now + patience * (1U << std::min(setbacks_, kDoublings));
  out.arm(Timer::kAttach, *attach_due_);
}

void LatencyTree::on_attach_timer(const Horizon& horizon, Outbox& out) {
  attach_due_.reset();
  if (attempt_) {
    // Perhaps we wait for each other in a circle: copied proposals can be cyclic [Saito08 G17].
    out.send(attempt_->to, Detach{id_, attempt_->attachment});
    attempt_.reset();
    ++setbacks_;
    if (!parent_) try_next(horizon, out);
  } else if (!parent_) {
    seek(horizon, kNobody, out);
  }
}

void LatencyTree::pause(const Horizon& horizon, Outbox& out) {
  attach_due_ = horizon.now + options_.retry_delay * (1U << std::min(setbacks_, kDoublings));
  ++setbacks_;
  out.arm(Timer::kAttach, *attach_due_);
}

void LatencyTree::on_refused(const Horizon& horizon, ProcessorId from, const AttachReply& m,
                             Outbox& out) {
  const bool was_last_resort = from == id_.root && attempt_->children_seen == kAnyNumber;
  attempt_.reset();
  attach_due_.reset();
  out.disarm(Timer::kAttach);
  std::vector<ProcessorId> redirect = m.redirect;
  while (redirect.size() > kRedirectsTried) {
    redirect.erase(redirect.begin() + static_cast<std::ptrdiff_t>(rng_.below(redirect.size())));
  }
  if (parent_) {
    for (const ProcessorId id : redirect) out.report(WorthProbing{id});
    return;
  }
  if (from == id_.root && !m.advert.connected) out.report(Gone{});
  tries_.insert(tries_.end(), redirect.begin(), redirect.end());
  if (was_last_resort) {
    pause(horizon, out);
  } else {
    try_next(horizon, out);
  }
}

/// The only writer of parent_ but seek(). Parent and label change in one step, and only then the
/// old parent is told: at any moment there is one parent pointer [Saito08 G7].
void LatencyTree::adopt(const Horizon& horizon, const TreeAdvert& advert, Outbox& out) {
  const std::optional<Parent> before = std::move(parent_);
  const Duration waited = horizon.now - attempt_->sent;
  const std::optional<Duration> measured = horizon.links.round_trip(attempt_->to);
  const Duration known = std::min(waited, horizon.links.estimate(attempt_->to).value_or(waited));
  parent_ = Parent{.id = attempt_->to,
                   .attachment = attempt_->attachment,
                   .advert = advert,
                   .round_trip = measured.value_or(known),
                   .provisional = !measured,
                   .told = std::move(attempt_->told)};
  attempt_.reset();
  attach_due_.reset();
  out.disarm(Timer::kAttach);
  tries_.clear();
  tried_ = {};
  setbacks_ = 0;
  recompute();
  if (before) out.send(before->id, Detach{id_, before->attachment});
  if (parent_->provisional) out.report(WorthProbing{parent_->id});
}

/// Whether the connected processor `from`, just probed, should become the parent.
void LatencyTree::weigh(const Horizon& horizon, ProcessorId from, const TreeAdvert& m,
                        Outbox& out) {
  const std::optional<Duration> round_trip = horizon.links.estimate(from);
  if (attempt_ || !round_trip) return;
  if (!parent_) {
    tries_.push_back(from);  // L0: whoever is connected
    tried_.erase(from);
    try_next(horizon, out);
    return;
  }
  if (parent_->provisional && is_connected()) {
    // What the present edge costs is only known once the parent was probed.
    const std::optional<Duration> edge = horizon.links.round_trip(parent_->id);
    if (!edge) {
      out.report(WorthProbing{parent_->id});
      return;
    }
    parent_->round_trip = *edge;
  }
  const bool wanted = is_better(m, *round_trip) || relieves(m, *round_trip);
  if (wanted && m.label < label_) {
    attach(horizon, from, kAnyNumber, out);
    return;
  }
  if (wanted) on_starved(horizon, from, m, out);
  // It is near, but may not be our parent: whoever is above it may.
  if (*round_trip * 2 <= parent_->round_trip && m.parent != parent_->id) {
    out.report(WorthProbing{m.parent});
  }
}

bool LatencyTree::is_better(const TreeAdvert& candidate, Duration round_trip) const {
  if (!is_connected()) return true;
  const Duration edge = parent_->round_trip;
  const Duration now = parent_->advert.distance + edge;
  const Duration then = candidate.distance + round_trip;
  // L1, with the hysteresis of [Saito08 G19]. Deviation: a little farther from the root is fine for
  // a much shorter edge; labels exclude cycles in any case.
  const bool shorter_edge = round_trip <= edge / 10 * 9;
  if (shorter_edge && (candidate.distance < distance_ || then <= now + edge / 4)) return true;
  // Deviation: clearly nearer to the root over an edge that is not longer. L1 alone never replaces
  // two long hops by one.
  return round_trip <= edge / 5 * 6 && then < now / 5 * 4;
}

/// Whether to move below a sibling because the parent serves too many: later children wait for the
/// sends to earlier ones [Saito08 s.6 (b)]. Only as many move as are too many, on average.
bool LatencyTree::relieves(const TreeAdvert& candidate, Duration round_trip) {
  const std::uint32_t children = parent_->advert.children;
  if (children <= options_.fanout || candidate.children >= options_.fanout) return false;
  const std::uint32_t excess = children - options_.fanout;
  const Duration longer =
      candidate.distance + round_trip - parent_->advert.distance - parent_->round_trip;
  return longer < options_.send_overhead * 2 * excess && rng_.below(children) < excess;
}

/// A move that we want is refused by the labels only. A new sequence number helps if it lets our
/// distances, instead of the smallest ones ever, decide [Saito08 G5 R5].
void LatencyTree::on_starved(const Horizon& horizon, ProcessorId wanted, const TreeAdvert& m,
                             Outbox& out) {
  if (m.distance >= distance_ || !is_connected()) return;
  if (last_relabel_ && horizon.now < *last_relabel_ + options_.relabel_period) return;
  last_relabel_ = horizon.now;
  wanted_ = wanted;
  out.send(id_.root, Relabel{id_});
}

}  // namespace phx::overlay
