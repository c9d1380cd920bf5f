// How a processor finds, judges and changes its parent in one tree.

#include <algorithm>
#include <limits>
#include <utility>

#include "overlay/adaptive_tree.h"
#include "overlay/base/check.h"
#include "overlay/tree_rules.h"

namespace phx::overlay {
namespace {

/// In Attach::children_seen: take me, however many you have.
constexpr std::uint32_t kAnyNumber = std::numeric_limits<std::uint32_t>::max();
/// Of a redirection, only so many are asked in turn; the others get their share from others.
constexpr std::size_t kRedirectsTried = 4;
constexpr std::uint32_t kDoublings = 4;

}  // namespace

void AdaptiveTree::expect(const Horizon& horizon, std::uint64_t seq, Outbox& out) {
  if (is_root() || parent_) return;
  if (label_.seq < seq) label_ = Label{seq, kForever};  // an earlier life's parents are refused
  if (due_.attach) return;
  due_.attach = horizon.now + options_.expect_timeout;
  out.arm(Timer::kAttach, *due_.attach);
}

void AdaptiveTree::join(const Horizon& horizon, std::uint64_t seq, ProcessorId proposed,
                        Outbox& out) {
  if (is_root() || parent_) return;
  if (label_.seq < seq) label_ = Label{seq, kForever};  // an earlier life's parents are refused
  if (!attempt_) seek(horizon, proposed, out);
  finish(horizon, out);
}

/// Looks for a parent from nothing: `first`, then the root, whose label is the smallest of all
/// [Saito08 G6].
void AdaptiveTree::seek(const Horizon& horizon, ProcessorId first, Outbox& out) {
  parent_.reset();
  hold_.advert.reset();
  hold_.wish = {};
  recompute();
  due_.set.reset();
  search_.tries = {id_.root, first};
  search_.tried = {};
  if (!attempt_) try_next(horizon, out);
}

void AdaptiveTree::try_next(const Horizon& horizon, Outbox& out) {
  while (!search_.tries.empty()) {
    const ProcessorId id = search_.tries.back();
    search_.tries.pop_back();
    if (id == kNobody || id == self_ || search_.tried.contains(id) || !horizon.live.contains(id))
      continue;
    if (children_.contains(id)) continue;
    search_.tried.insert(id);
    attach(horizon, {.to = id, .children_seen = options_.fanout - 1}, out);
    return;
  }
  if (horizon.live.contains(id_.root)) {
    // The last resort never refuses for its children.
    attach(horizon, {.to = id_.root, .children_seen = kAnyNumber}, out);
  } else {
    pause(horizon, out);
  }
}

/// What is to be known of the attempt later is filled in here.
void AdaptiveTree::attach(const Horizon& horizon, TreeAttempt attempt, Outbox& out) {
  PHX_CHECK(!attempt_);
  refresh_view(out);  // below_ goes with the message
  const ProcessorId to = attempt.to;
  attempt.attachment = ++attachments_;
  attempt.sent = horizon.now;
  attempt.told = below_;
  const bool is_unknown = !horizon.links.round_trip(to);
  const bool is_far = is_for_bandwidth() && !horizon.links.is_beside(to) &&
                      !(is_unknown && hangs_beside(horizon, parent_));
  out.send(to, Attach{id_, attempt.attachment, attempt.children_seen, label_, below_, is_far});
  attempt_ = std::move(attempt);
  const Duration patience =
      std::max(options_.attach_timeout, horizon.links.estimate(to).value_or(Duration{0}) * 4);
  due_.attach = horizon.now + patience * (1U << std::min(search_.setbacks, kDoublings));
  out.arm(Timer::kAttach, *due_.attach);
}

void AdaptiveTree::on_attach_timer(const Horizon& horizon, Outbox& out) {
  due_.attach.reset();
  if (attempt_) {
    // Perhaps we wait for each other in a circle: copied proposals can be cyclic [Saito08 G17].
    out.send(attempt_->to, Detach{id_, attempt_->attachment});
    attempt_.reset();
    ++search_.setbacks;
    if (!parent_) try_next(horizon, out);
  } else if (!parent_) {
    seek(horizon, kNobody, out);
  }
}

void AdaptiveTree::pause(const Horizon& horizon, Outbox& out) {
  due_.attach = horizon.now + options_.retry_delay * (1U << std::min(search_.setbacks, kDoublings));
  ++search_.setbacks;
  out.arm(Timer::kAttach, *due_.attach);
}

void AdaptiveTree::on_refused(const Horizon& horizon, ProcessorId from, const AttachReply& m,
                              Outbox& out) {
  const bool was_last_resort = from == id_.root && attempt_->children_seen == kAnyNumber;
  const TreeAttempt was = *std::exchange(attempt_, std::nullopt);
  due_.attach.reset();
  out.disarm(Timer::kAttach);
  if (parent_ && is_for_bandwidth()) {
    walk_on(horizon, m, was, out);
    return;
  }
  std::vector<ProcessorId> redirect = m.redirect;
  while (redirect.size() > kRedirectsTried) {
    redirect.erase(redirect.begin() + static_cast<std::ptrdiff_t>(rng_.below(redirect.size())));
  }
  if (parent_) {
    for (const ProcessorId id : redirect) out.report(WorthProbing{id});
    return;
  }
  if (from == id_.root && !m.advert.connected) out.report(Gone{});
  search_.tries.insert(search_.tries.end(), redirect.begin(), redirect.end());
  if (was_last_resort) {
    pause(horizon, out);
  } else {
    try_next(horizon, out);
  }
}

/// The only writer of parent_ but seek(). Parent and label change in one step, and only then the
/// old parent is told: at any moment there is one parent pointer [Saito08 G7].
void AdaptiveTree::adopt(const Horizon& horizon, const TreeAdvert& advert, Outbox& out) {
  const std::optional<TreeParent> before = std::move(parent_);
  const Duration waited = horizon.now - attempt_->sent;
  const std::optional<Duration> measured = horizon.links.round_trip(attempt_->to);
  const Duration known = std::min(waited, horizon.links.estimate(attempt_->to).value_or(waited));
  const std::optional<std::uint64_t> rate = horizon.rates.rate(attempt_->to);
  parent_ = TreeParent{.id = attempt_->to,
                       .attachment = attempt_->attachment,
                       .advert = advert,
                       .round_trip = measured.value_or(known),
                       .mebibyte = mebibyte_time(rate.value_or(options_.unmeasured)),
                       .provisional = is_for_bandwidth() ? !rate : !measured,
                       .told = std::move(attempt_->told)};
  attempt_.reset();
  due_.attach.reset();
  out.disarm(Timer::kAttach);
  search_.tries.clear();
  search_.tried = {};
  search_.setbacks = 0;
  hold_.advert.reset();
  hold_.wish = {};
  if (line_.up) line_.up->tries = 0;
  line_.compared = {};
  recompute();
  if (before) out.send(before->id, Detach{id_, before->attachment});
  if (parent_->provisional && is_for_bandwidth()) out.report(WorthProbing{parent_->id, true});
  if (parent_->provisional && !is_for_bandwidth()) out.report(WorthProbing{parent_->id});
}

/// Whether the connected processor `from`, just probed, should become the parent.
void AdaptiveTree::weigh(const Horizon& horizon, ProcessorId from, const TreeAdvert& m,
                         Outbox& out) {
  const std::optional<Duration> round_trip = horizon.links.estimate(from);
  if (attempt_ || !round_trip) return;
  if (!parent_) {
    search_.tries.push_back(from);  // L0: whoever is connected
    search_.tried.erase(from);
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
  const bool wanted =
      !is_connected() ||
      is_nearer({m, *round_trip}, {parent_->advert, parent_->round_trip}, distance_) ||
      relieves(m, *round_trip);
  if (wanted && m.label < label_) {
    attach(horizon, {.to = from, .children_seen = kAnyNumber}, out);
    return;
  }
  if (wanted && m.distance < distance_) on_starved(horizon, {.parent = from}, out);
  // It is near, but may not be our parent: whoever is above it may.
  if (*round_trip * 2 <= parent_->round_trip && m.parent != parent_->id) {
    out.report(WorthProbing{m.parent});
  }
}

/// Whether to move below a sibling because the parent serves too many: later children wait for the
/// sends to earlier ones [Saito08 s.6 (b)]. Only as many move as are too many, on average.
bool AdaptiveTree::relieves(const TreeAdvert& candidate, Duration round_trip) {
  const std::uint32_t children = parent_->advert.children;
  if (children <= options_.fanout || candidate.children >= options_.fanout) return false;
  const std::uint32_t excess = children - options_.fanout;
  const Duration longer =
      candidate.distance + round_trip - parent_->advert.distance - parent_->round_trip;
  return longer < options_.send_overhead * 2 * excess && rng_.below(children) < excess;
}

/// A move that we want is refused by the labels only. A new sequence number helps if it lets our
/// distances, instead of the smallest ones ever, decide [Saito08 G5 R5].
void AdaptiveTree::on_starved(const Horizon& horizon, const TreeWish& wish, Outbox& out) {
  if (!is_connected()) return;
  if (last_relabel_ && horizon.now < *last_relabel_ + options_.relabel_period) return;
  last_relabel_ = horizon.now;
  hold_.wish = wish;
  out.send(id_.root, Relabel{id_});
}

}  // namespace phx::overlay
