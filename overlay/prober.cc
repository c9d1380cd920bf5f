#include "overlay/prober.h"

#include <algorithm>
#include <utility>

namespace phx::overlay {
namespace {

bool contains(const std::vector<ProcessorId>& ids, ProcessorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

Prober::Prober(ProcessorId self, const ProberOptions& options, Rng rng)
    : self_(self), options_(options), rng_(rng) {}

void Prober::on_members(Instant now, const ProcessorSet& live, bool again, Outbox& out) {
  live_ = live;
  std::erase_if(queue_, [&](ProcessorId id) { return !live_.contains(id); });
  std::erase_if(suggestions_, [&](ProcessorId id) { return !live_.contains(id); });
  if (flight_ && !live_.contains(flight_->peer)) {
    flight_.reset();
    next(now, out);
  }
  if (again) request(now, out);
}

void Prober::on_reply(Instant now, ProcessorId from, ProbeReply reply, LinkStats& links,
                      Outbox& out) {
  if (!flight_ || flight_->peer != from || flight_->seq != reply.seq) return;  // stale
  links.add(from, now - flight_->sent);
  flight_.reset();
  if (links.samples(from) < LinkStats::kEnough) {
    ping(now, from, out);
    return;
  }
  out.report(Probed{from, std::move(reply.adverts), std::move(reply.recommended)});
  next(now, out);
}

void Prober::on_timer(Instant now, Timer timer, const LinkStats& links, Outbox& out) {
  if (timer == Timer::kLost) {
    if (!flight_ || now < flight_->sent + options_.timeout) return;
    flight_.reset();
    next(now, out);
    return;
  }
  if (!due_ || now < *due_) return;
  due_.reset();
  std::vector<ProcessorId> chosen;
  if (wanted_) {
    wanted_ = false;
    last_round_ = now;
    looks_left_ = options_.looks;
    extra_looks_left_ = options_.extra_looks;
    chosen = draw(links);
  } else {
    take_suggestions(options_.suggestions, chosen);
    take_nearest(links, chosen);
    // Nobody of the own site is known yet: go on searching.
    if (!links.knows_near()) take_uniform(options_.candidates, links, chosen);
  }
  queue_.assign(chosen.rbegin(), chosen.rend());
  if (!flight_) next(now, out);
}

void Prober::request(Instant now, Outbox& out) {
  if (wanted_) return;
  wanted_ = true;
  const Instant earliest = last_round_ ? *last_round_ + options_.event_window : now;
  const auto jitter =
      static_cast<std::uint64_t>(std::max(options_.jitter.count(), Duration::rep{1}));
  const Instant at =
      std::max(now, earliest) + Duration{static_cast<Duration::rep>(rng_.below(jitter))};
  // A look that is due earlier is replaced by the round: suggestions wait for it.
  if (queue_.empty() && !flight_)
    schedule(at, out);
  else
    due_ = at;
}

void Prober::suggest(Instant now, ProcessorId peer, Outbox& out) {
  if (options_.suggestions == 0 || peer == self_ || !live_.contains(peer) ||
      contains(suggestions_, peer))
    return;
  if (suggestions_.size() >= 2 * options_.suggestions) suggestions_.erase(suggestions_.begin());
  suggestions_.push_back(peer);
  if (is_idle() && extra_looks_left_ > 0) {
    --extra_looks_left_;
    schedule(now + options_.look_delay, out);
  }
}

void Prober::stop(Outbox& out) {
  if (flight_) out.disarm(Timer::kLost);
  if (due_) out.disarm(Timer::kRound);
  queue_.clear();
  suggestions_.clear();
  flight_.reset();
  due_.reset();
  wanted_ = false;
  looks_left_ = 0;
  extra_looks_left_ = 0;
  live_ = {};
}

void Prober::schedule(Instant at, Outbox& out) {
  due_ = at;
  out.arm(Timer::kRound, at);
}

// The five nearest as far as they are known, three recommended ones, and at least two uniform ones,
// which keep the paper's argument for convergence and find new sites [README, sampling rule].
std::vector<ProcessorId> Prober::draw(const LinkStats& links) {
  std::vector<ProcessorId> chosen;
  take_suggestions(options_.recommended, chosen);
  take_nearest(links, chosen);
  if (chosen.size() < options_.candidates) {
    take_uniform(options_.candidates - chosen.size(), links, chosen);
  }
  return chosen;
}

void Prober::take_nearest(const LinkStats& links, std::vector<ProcessorId>& chosen) const {
  for (const ProcessorId id : links.nearest(options_.nearest)) {
    if (live_.contains(id) && id != self_ && !contains(chosen, id)) chosen.push_back(id);
  }
}

/// Uniform among those never measured, then among the others.
void Prober::take_uniform(std::size_t count, const LinkStats& links,
                          std::vector<ProcessorId>& chosen) {
  std::vector<ProcessorId> fresh;
  std::vector<ProcessorId> known;
  for (const ProcessorId id : live_.ids()) {
    if (id == self_ || contains(chosen, id)) continue;
    (links.round_trip(id) ? known : fresh).push_back(id);
  }
  for (std::vector<ProcessorId>* pool : {&fresh, &known}) {
    for (; count > 0 && !pool->empty(); --count) {
      const auto drawn = static_cast<std::size_t>(rng_.below(pool->size()));
      chosen.push_back((*pool)[drawn]);
      (*pool)[drawn] = pool->back();
      pool->pop_back();
    }
  }
}

void Prober::take_suggestions(std::size_t count, std::vector<ProcessorId>& chosen) {
  for (; count > 0 && !suggestions_.empty(); --count) {
    const ProcessorId id = suggestions_.back();
    suggestions_.pop_back();
    if (!contains(chosen, id)) chosen.push_back(id);
  }
}

void Prober::next(Instant now, Outbox& out) {
  if (!queue_.empty()) {
    const ProcessorId peer = queue_.back();
    queue_.pop_back();
    ping(now, peer, out);
    return;
  }
  out.disarm(Timer::kLost);
  out.report(RoundOver{});
  if (wanted_) {
    schedule(std::max(now, due_.value_or(now)), out);
  } else if (looks_left_ > 0) {
    --looks_left_;
    schedule(now + options_.look_delay, out);
  }
}

void Prober::ping(Instant now, ProcessorId peer, Outbox& out) {
  flight_ = Flight{peer, next_seq_++, now};
  out.send(peer, Probe{flight_->seq, {}});
  out.arm(Timer::kLost, now + options_.timeout);
}

}  // namespace phx::overlay
