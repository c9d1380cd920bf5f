// The timers of Channels. All may fire early (Deadlines): each looks whether its time has come, and
// sets itself again if there is still something to wait for.
#include <algorithm>
#include <string>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/channels/channels.h"

namespace phx::runtime {

void Channels::arm(const ChannelPeer& peer, Timer timer, Instant at) {
  deadlines_.arm({peer.id, timer}, at);
}

void Channels::on_deadline(Instant now) {
  const Instant due = deadlines_.next().value_or(now);
  const Duration pause = now - due;
  if (pause > options_.peer_timeout / 4) {
    // This processor did not run. What came meanwhile was not read yet, so that is nobody's
    // silence: one that the others took for dead would put them out, and never hear of it.
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(pause).count();
    outputs_.emplace_back(Note{Note::Level::kWarn, "stood-still", "ms=" + std::to_string(ms)});
    const auto shift = [&](Instant& at) { at = std::min(now, at + pause); };
    for (auto& [id, peer] : peers_) {
      for (Instant* at : {&peer.heard_at, &peer.progress_at, &peer.timed_at, &peer.refused_since}) {
        shift(*at);
      }
      if (peer.doubted_since) shift(*peer.doubted_since);
      for (std::optional<ChannelLink>* link : {&peer.link, &peer.surplus}) {
        if (!*link) continue;
        shift((*link)->up_at);
        shift((*link)->heard_at);
      }
    }
  }
  if (pause >= options_.pace_late) late_at_ = now;
  if (pause >= options_.late_least) on_late(now, std::min(pause, options_.late_most));
  while (const std::optional<Key> key = deadlines_.take_due(now + options_.slack())) {
    on_timer(now, key->first, key->second);
  }
}

/// What it could not hear it holds against nobody, and it asks others for the same. Not more often
/// than it changes.
void Channels::on_late(Instant now, Duration late) {
  ++counters_.standstills;
  lateness_.note(now, late);
  if (options_.late_factor > 0 && lateness_.take_news(now, late)) {
    outputs_.emplace_back(channel::Late{late});
  }
}

/// `peer_timeout`, and longer while timers are late here, or there.
Duration Channels::timeout(Instant now, const ChannelPeer& peer) const {
  const Duration late = std::max(lateness_.worst(now), peer.lateness.worst(now));
  return options_.peer_timeout + std::min(options_.late_factor * late, options_.late_most);
}

void Channels::on_timer(Instant now, ProcessorId id, Timer timer) {
  if (timer == Timer::kLinger) {
    on_linger_due(id);
    return;
  }
  ChannelPeer* peer = find(id);
  PHX_CHECK(peer != nullptr);  // forget() takes its timers along
  switch (timer) {
    case Timer::kAck:
      return on_ack_due(now, *peer);
    case Timer::kDial:
      return on_dial_due(now, *peer);
    case Timer::kStall:
      return on_stall_due(now, *peer);
    case Timer::kBeat:
      return on_beat_due(now, *peer);
    case Timer::kGiveUp:
      return on_give_up_due(now, *peer);
    case Timer::kSurplus:
      return on_surplus_due(now, *peer);
    case Timer::kIdle:
      return on_idle_due(now, *peer);
    case Timer::kLinger:
      return;
  }
}

void Channels::on_ack_due(Instant now, ChannelPeer& peer) {
  if (peer.owed_frames == 0) {
    owed_.erase(peer.id);
    return;
  }
  const Instant due = peer.owed_since + options_.ack_delay;
  if (options_.is_early(now, due)) {
    arm(peer, Timer::kAck, due);
  } else {
    confirm(peer);
  }
}

/// Sends an acknowledgement by itself, where the peer was heard last.
void Channels::confirm(ChannelPeer& peer) {
  if (!peer.link) return;  // the statement on the next link will say it
  const bool on_surplus = peer.surplus && peer.surplus->heard_at > peer.link->heard_at;
  const LinkId link = on_surplus ? peer.surplus->id : peer.link->id;
  outputs_.emplace_back(Transmit{link, peer.stream.acknowledgement()});
  peer.owed_frames = peer.owed_bytes = 0;
}

void Channels::confirm_all() {
  for (const ProcessorId id : std::exchange(owed_, {})) {
    ChannelPeer* peer = find(id);
    if (peer == nullptr || peer->owed_frames == 0) continue;
    confirm(*peer);
    if (peer->owed_frames > 0) owed_.insert(id);  // There is no link.
  }
}

void Channels::on_dial_due(Instant now, ChannelPeer& peer) {
  if (!peer.is_needed()) {  // They say nothing of a need that comes later.
    peer.refusals = 0;
    peer.doubted_since.reset();
  }
  if (!peer.link && !peer.is_dialling && peer.is_needed()) dial(now, peer);
}

/// `base`, and the time that the oldest envelope may take, and that answers took lately.
Duration Channels::patience(Instant now, const ChannelPeer& peer, Duration base) const {
  const std::uint64_t bytes = peer.stream.oldest_bytes();
  return base + peer.late_answers(now, options_) +
         std::chrono::milliseconds(bytes * 1000 / options_.slowest_bandwidth);
}

void Channels::on_stall_due(Instant now, ChannelPeer& peer) {
  if (!peer.link || !peer.is_needed()) return;
  // The statement has to come, and with it what was sent must be acknowledged.
  if (peer.link->stated && peer.has_all()) return;
  const Instant begin = std::max(peer.link->up_at, peer.progress_at);
  const Instant due = begin + patience(now, peer, options_.stall_timeout);
  if (options_.is_early(now, due)) {
    arm(peer, Timer::kStall, due);
    return;
  }
  ++counters_.stalls;
  outputs_.emplace_back(
      Note{Note::Level::kWarn, "link-stalled",
           "peer=" + to_string(peer.id) + " queued_bytes=" + std::to_string(peer.queued_bytes())});
  outputs_.emplace_back(Stalled{peer.id});
  hang_up(now, peer, peer.link->id);
}

void Channels::on_beat_due(Instant now, ChannelPeer& peer) {
  if (!peer.is_watched) return;
  const Instant due = peer.heard_at + options_.heartbeat_period;
  if (options_.is_early(now, due)) {
    arm(peer, Timer::kBeat, due);
    return;
  }
  // What is on its way already will be acknowledged as well.
  if (peer.has_all()) enqueue(now, peer, Heartbeat{});
  arm(peer, Timer::kBeat, now + options_.heartbeat_period);
}

void Channels::on_give_up_due(Instant now, ChannelPeer& peer) {
  if (!peer.is_needed()) return;
  Instant due = Instant::max();
  Duration timeout = this->timeout(now, peer);
  if (peer.is_watched) due = peer.heard_at + timeout + peer.late_answers(now, options_);
  if (!peer.has_all()) due = std::min(due, peer.progress_at + patience(now, peer, timeout));
  if (!peer.is_heard && newcomers_.until(peer.id) > due) {
    due = newcomers_.until(peer.id);
    timeout = options_.newcomer_factor * options_.peer_timeout;
  }
  if (peer.is_reported) due = std::max(due, peer.reported_at + options_.peer_timeout);
  if (options_.is_early(now, due)) {
    arm(peer, Timer::kGiveUp, due);
    return;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const std::string lasting = " for " + std::to_string(seconds.count()) + " s";
  if (peer.trouble.empty()) {
    report(now, peer, Departure::kSilent, "no answer" + lasting);
  } else {
    report(now, peer, Departure::kUnreachable, "no link" + lasting + ": " + peer.trouble);
  }
  arm(peer, Timer::kGiveUp, now + options_.peer_timeout);
  // A dial may have got lost in the driver; it ignores this one if it has not.
  if (!peer.link && peer.is_dialling) dial(now, peer);
}

void Channels::report(Instant now, ChannelPeer& peer, Departure why, std::string detail) {
  if (!peer.is_reported) ++counters_.accusations;
  peer.is_reported = true;
  peer.reported_at = now;
  outputs_.emplace_back(Unreachable{peer.id, why, std::move(detail)});
}

/// The peer (the greater id) has not hung up one of the two links, so it does not know of both:
/// the one on which it was not heard for longer is dead.
void Channels::on_surplus_due(Instant now, ChannelPeer& peer) {
  if (!peer.surplus) return;
  const Instant due = peer.link->up_at + options_.stall_timeout;
  if (options_.is_early(now, due)) {
    arm(peer, Timer::kSurplus, due);
    return;
  }
  const bool keep_link = peer.link->stated && peer.link->heard_at >= peer.surplus->heard_at;
  hang_up(now, peer, keep_link ? peer.surplus->id : peer.link->id);
}

/// Nothing went either way, nothing is kept or owed, and nobody watches: heartbeats are envelopes.
void Channels::on_idle_due(Instant now, ChannelPeer& peer) {
  if (!peer.link || !peer.link->stated) return;  // The next one sets the timer again.
  const Instant due = peer.used_at + options_.idle_timeout;
  const bool is_in_use = peer.is_needed() || peer.surplus || peer.owed_frames > 0;
  if (is_in_use || options_.is_early(now, due)) {
    arm(peer, Timer::kIdle, std::max(due, now + options_.heartbeat_period));
    return;
  }
  ++counters_.idles;
  hang_up(now, peer, peer.link->id);
}

void Channels::on_linger_due(ProcessorId id) {
  auto at = strangers_.lower_bound(LinkId{id, 0});
  while (at != strangers_.end() && at->first.peer == id) {
    outputs_.emplace_back(Hangup{at->first});
    at = strangers_.erase(at);
  }
}

std::vector<ProcessorId> Channels::peers() const {
  std::vector<ProcessorId> ids;
  for (const auto& [id, peer] : peers_) ids.push_back(id);
  return ids;
}

void Channels::check_invariants() const {
  for (const auto& [id, peer] : peers_) {
    PHX_CHECK(peer.id == id && id != self_ && !gone_.contains(id));
    PHX_CHECK(peer.link || !peer.surplus);
    PHX_CHECK(!peer.surplus || (self_ < id && peer.surplus->dialled != peer.link->dialled));
    PHX_CHECK(peer.is_watched == watched_.contains(id));
    PHX_CHECK(peer.is_up ==
              ((peer.link && peer.link->stated) || (peer.surplus && peer.surplus->stated)));
    if (peer.owed_frames > 0) PHX_CHECK(owed_.contains(id));
    if (peer.owed_frames > 0) PHX_CHECK(!peer.link || deadlines_.is_armed({id, Timer::kAck}));
    if (!peer.has_all()) {
      // Whatever waits either has a link that is observed, or somebody dials.
      PHX_CHECK(deadlines_.is_armed({id, Timer::kGiveUp}));
      PHX_CHECK(peer.link ? deadlines_.is_armed({id, Timer::kStall})
                          : peer.is_dialling || deadlines_.is_armed({id, Timer::kDial}));
    }
    if (peer.is_watched) PHX_CHECK(deadlines_.is_armed({id, Timer::kBeat}));
    peer.waiting.check_invariants();
  }
}

}  // namespace phx::runtime
