#include "runtime/channels/channels.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {
namespace {

/// Nothing is before it, and the link takes it now.
bool is_next(const ChannelPeer& peer, const ChannelOptions& options) {
  return peer.waiting.empty() && peer.link && peer.link->ready && !peer.is_link_full(options) &&
         peer.link->next > peer.stream.last_sent();
}

}  // namespace

Channels::Channels(ProcessorId self, ProcessorSet gone, const ChannelOptions& options)
    : self_(self), options_(options), gone_(std::move(gone)) {}

// --- Sending -------------------------------------------------------------------------------------

void Channels::send(Instant now, ProcessorId peer, Envelope&& envelope) {
  PHX_CHECK(peer != self_ && peer != kNobody);
  if (gone_.contains(peer)) {
    ++counters_.to_gone;
    return;
  }
  enqueue(now, peer_at(peer), std::move(envelope));
}

void Channels::open(Instant now, ProcessorId id) {
  if (id == self_ || gone_.contains(id)) return;
  ChannelPeer& peer = peer_at(id);
  peer.used_at = now;
  if (!peer.link && !peer.is_dialling && peer.dial_pause == Duration::zero()) dial(now, peer);
}

void Channels::enqueue(Instant now, ChannelPeer& peer, Envelope&& envelope) {
  if (peer.has_all()) {  // else these timers run already
    peer.progress_at = now;
    arm(peer, Timer::kStall, now + options_.stall_timeout);
    arm(peer, Timer::kGiveUp, now + options_.peer_timeout);
  }
  peer.used_at = now;
  const Standpoint standpoint = standpoint_of(envelope, self_);
  const bool is_fence = standpoint.kind == Standpoint::Kind::kFence;
  if (is_fence) peer.number_all();
  if (is_fence || is_next(peer, options_)) {
    peer.stream.push(std::move(envelope));
  } else {
    const std::uint64_t bytes = weight_of(envelope).total();
    peer.waiting.push(standpoint, {std::move(envelope), bytes});
  }
  counters_.copies_most = std::max(counters_.copies_most, peer.waiting.copy_bytes());
  pump(now, peer);
  if (!peer.link) dial_soon(now, peer);
  const std::uint64_t bytes = peer.queued_bytes();
  if (bytes > options_.queued_bytes_high) congested_.insert(peer.id);
  // A long queue to a peer that makes progress is legal; to another one, kGiveUp sees to it.
  if (bytes <= 4 * options_.queued_bytes_high || peer.has_long_queue) return;
  peer.has_long_queue = true;
  ++counters_.long_queues;
  outputs_.emplace_back(
      Note{Note::Level::kWarn, "queue-long",
           "peer=" + to_string(peer.id) + " queued_bytes=" + std::to_string(bytes)});
}

/// Puts on the link what was not yet sent on it, as long as it takes something; `is_last`: all of
/// it. What waits gets its number at this moment.
void Channels::pump(Instant now, ChannelPeer& peer, bool is_last) {
  if (!peer.link || !peer.link->ready) return;
  std::uint64_t& next = peer.link->next;
  next = std::max(next, peer.stream.acknowledged() + 1);
  while (is_last || !peer.is_link_full(options_)) {
    if (next > peer.stream.last_sent()) {
      if (peer.waiting.empty()) return;
      peer.stream.push(peer.waiting.pop().envelope);
    }
    put_on_link(now, peer);
  }
}

/// The next one.
void Channels::put_on_link(Instant now, ChannelPeer& peer) {
  ChannelLink& link = *peer.link;
  const bool is_detour = link.id.via != kNobody;
  const std::uint64_t bytes = peer.stream.bytes(link.next);
  const bool tell = !is_detour && link.share.give(now, bytes, counters_.given_bytes, options_);
  counters_.given_bytes += bytes;
  outputs_.emplace_back(Transmit{link.id, peer.stream.frame(link.next), tell});
  if (link.next <= peer.sent) ++counters_.resent;
  if (peer.timed == 0 && link.next > peer.sent) {
    peer.timed = link.next;
    peer.timed_at = now;
  }
  peer.sent = std::max(peer.sent, link.next);
  ++link.next;
  if (!peer.surplus) peer.owed_frames = peer.owed_bytes = 0;  // it carries the acknowledgement
}

void Channels::on_drained(Instant now, LinkId id, std::size_t parts) {
  ChannelPeer* peer = find(id.peer);
  ChannelLink* link = peer != nullptr ? peer->find(id) : nullptr;
  if (link == nullptr) return;
  const LinkShare::Left left = link->share.on_drained(now, parts, counters_.given_bytes, options_);
  if (left.bytes > 0) share_told_ = link->share.bytes();
  const auto pace = link->pace.on_left(now, left, counters_.given_bytes, options_);
  const bool is_late = late_at_ && now - *late_at_ < options_.pace_together;
  if (pace && !is_late) outputs_.emplace_back(channel::Paced{peer->id, pace->one, pace->all});
  if (link == &*peer->link) pump(now, *peer);
}

// --- Receiving -----------------------------------------------------------------------------------

void Channels::on_frame(Instant now, LinkId link, Frame&& frame) {
  if (strangers_.contains(link)) {
    on_stranger_frame(link, frame);
    return;
  }
  ChannelPeer* peer = find(link.peer);
  ChannelLink* found = peer != nullptr ? peer->find(link) : nullptr;
  if (found == nullptr) return;  // came before the driver took note of a Hangup
  found->heard_at = peer->heard_at = now;
  if (!peer->is_heard) peer->progress_at = now;  // How long a way is its connection does not say.
  peer->is_heard = true;
  if (!found->stated) {
    take_first_frame(now, *peer, *found, frame);
    return;
  }
  if (!take_confirmation(now, *peer, frame.received)) {
    on_violation(now, *peer, link, "confirms what was never sent");
  } else if ((frame.seq != 0) != frame.envelope.has_value()) {
    on_violation(now, *peer, link, "number without envelope or the reverse");
  } else if (frame.envelope) {
    take_envelope(now, *peer, link, std::move(frame));
  }
  if (peer->link && peer->link->id.via != kNobody) pump(now, *peer);
}

void Channels::take_first_frame(Instant now, ChannelPeer& peer, ChannelLink& link,
                                const Frame& frame) {
  if (frame.seq != 0 && link.id.via != kNobody) return hang_up(now, peer, link.id);
  if (frame.seq != 0 || frame.envelope || !take_confirmation(now, peer, frame.received)) {
    on_violation(now, peer, link.id, "the first frame is no statement, or a false one");
    return;
  }
  link.stated = link.ready = true;
  peer.note_answer(now, now - link.up_at, options_);  // The statement of who dialled needs so long.
  peer.used_at = now;
  arm(peer, Timer::kIdle, now + options_.idle_timeout);
  peer.trouble.clear();
  renew_up(peer);
  pump(now, peer);
}

bool Channels::take_confirmation(Instant now, ChannelPeer& peer, std::uint64_t received) {
  const std::uint64_t before = peer.stream.acknowledged();
  if (!peer.stream.on_acknowledged(received)) return false;
  const bool is_progress = peer.stream.acknowledged() > before;
  if (peer.timed != 0 && peer.timed <= received) {
    peer.timed = 0;
    peer.note_answer(now, now - peer.timed_at, options_);
  }
  if (is_progress) {
    peer.progress_at = now;
    peer.dial_pause = Duration::zero();
    peer.refusals = 0;
    peer.doubted_since.reset();
    peer.trouble.clear();
    if (peer.queued_bytes() <= options_.queued_bytes_high) {
      congested_.erase(peer.id);
      peer.has_long_queue = false;
    }
  }
  if (peer.is_reported && (is_progress || peer.has_all())) {
    peer.is_reported = false;
    ++counters_.false_alarms;
    outputs_.emplace_back(Reachable{peer.id});
  }
  return true;
}

void Channels::take_envelope(Instant now, ChannelPeer& peer, LinkId link, Frame&& frame) {
  const Stream::Arrival arrival = peer.stream.on_arrived(frame.seq);
  if (arrival == Stream::Arrival::kGap && link.via != kNobody) {
    return hang_up(now, peer, link);  // The relay's own connection broke in between.
  }
  if (arrival == Stream::Arrival::kGap) {
    on_violation(now, peer, link, "left out an envelope");
    return;
  }
  const auto* beat = std::get_if<Heartbeat>(&*frame.envelope);
  const bool is_beat = beat != nullptr;
  if (peer.owed_frames++ == 0) {
    peer.owed_since = now;
    owed_.insert(peer.id);
    if (!is_beat) arm(peer, Timer::kAck, now + options_.ack_delay);
  }
  peer.used_at = now;
  const std::uint64_t bytes = weight_of(*frame.envelope).total();
  peer.owed_bytes += bytes;
  counters_.taken_bytes += bytes;
  if (is_beat && beat->late > Duration::zero()) {
    peer.lateness.note(now, std::min(beat->late, options_.late_most));
  }
  if (is_beat && peer.is_watched) {
    // Nothing else happens here as long as nothing else is said, so no timer should fire for it.
    deadlines_.disarm({peer.id, Timer::kBeat});
    arm(peer, Timer::kBeat, now + options_.heartbeat_period);
  }
  if (is_beat || peer.owed_frames >= options_.ack_frames || peer.owed_bytes >= options_.ack_bytes) {
    confirm(peer);
  }
  if (arrival == Stream::Arrival::kDuplicate) {
    ++counters_.duplicates;
    return;
  }
  peer.dial_pause = Duration::zero();
  if (!is_beat) outputs_.emplace_back(Received{peer.id, std::move(*frame.envelope)});
}

void Channels::on_violation(Instant now, ChannelPeer& peer, LinkId link, const char* what) {
  ++counters_.violations;
  outputs_.emplace_back(Note{Note::Level::kWarn, "protocol-violation",
                             "peer=" + to_string(peer.id) + " what=\"" + what + "\""});
  if (++peer.violations >= options_.violations) {
    peer.violations = 0;
    report(now, peer, Departure::kSilent, std::string("breaks the protocol: ") + what);
  }
  // The next dial waits, or two such peers would go round at the speed of the network.
  peer.dial_pause = std::max(peer.dial_pause, options_.dial_pause_min);
  hang_up(now, peer, link);
}

// --- Links ---------------------------------------------------------------------------------------

void Channels::on_link_up(Instant now, LinkId link, bool dialled) {
  ++counters_.links;
  if (!gone_.contains(link.peer)) {
    ChannelPeer& peer = peer_at(link.peer);
    if (dialled) peer.is_dialling = false;
    add_link(now, peer,
             ChannelLink{.id = link,
                         .dialled = dialled,
                         .share = LinkShare(share_told_),
                         .up_at = now,
                         .heard_at = now});
    return;
  }
  if (dialled) {
    outputs_.emplace_back(Hangup{link});
    return;
  }
  ++counters_.strangers;
  strangers_.try_emplace(link);
  outputs_.emplace_back(Transmit{link, Frame{}});
  deadlines_.arm({link.peer, Timer::kLinger}, now + options_.linger);
}

/// At most one link survives; see the README, "Two links at once".
void Channels::add_link(Instant now, ChannelPeer& peer, const ChannelLink& fresh) {
  std::optional<ChannelLink> other;  // dialled by the other side than `fresh`
  const bool is_detour = fresh.id.via != kNobody;
  for (std::optional<ChannelLink>* old : {&peer.link, &peer.surplus}) {
    if (!*old) continue;
    const bool is_alike = is_detour == ((*old)->id.via != kNobody);
    if (is_alike && (*old)->dialled != fresh.dialled) {
      other = *old;
    } else {
      ++counters_.crossed;
      outputs_.emplace_back(Hangup{(*old)->id});  // its dialler has given it up
    }
    old->reset();
  }
  if (other && self_ > peer.id) {
    const LinkId loser = fresh.dialled ? fresh.id : other->id;
    ++counters_.crossed;
    outputs_.emplace_back(Hangup{loser});
    if (fresh.dialled) {
      peer.link = other;
      return;
    }
    other.reset();
  }
  peer.link = fresh;
  peer.surplus = other;
  peer.timed = 0;  // what is sent again says nothing of the way
  outputs_.emplace_back(Transmit{fresh.id, peer.stream.acknowledgement()});
  peer.owed_frames = peer.owed_bytes = 0;
  peer.refusals = 0;
  if (other) arm(peer, Timer::kSurplus, now + options_.stall_timeout);
  if (peer.is_needed()) arm(peer, Timer::kStall, now + options_.stall_timeout);
  renew_up(peer);
  // The statement of who dialled comes at once. Detours of both sides may cross.
  const bool is_known = peer.stream.acknowledged() == peer.sent;
  peer.link->ready = fresh.dialled && !is_detour && is_known;
  pump(now, peer);
}

void Channels::on_link_down(Instant now, LinkId link) {
  strangers_.erase(link);
  ChannelPeer* peer = find(link.peer);
  if (peer != nullptr && peer->find(link) != nullptr) lose(now, *peer, link);
}

void Channels::hang_up(Instant now, ChannelPeer& peer, LinkId link) {
  outputs_.emplace_back(Hangup{link});
  lose(now, peer, link);
}

/// `link` is no more: goes on with the surplus one, or dials if there is a need.
void Channels::lose(Instant now, ChannelPeer& peer, LinkId link) {
  if (peer.surplus && peer.surplus->id == link) {
    peer.surplus.reset();
    renew_up(peer);
    return;
  }
  if (now - peer.link->up_at >= options_.dial_pause_max && peer.violations == 0) {
    peer.dial_pause = Duration::zero();
  }
  peer.timed = 0;  // what is sent again says nothing of the way
  const Instant lost_up_at = peer.link->up_at;
  peer.link = std::exchange(peer.surplus, std::nullopt);
  renew_up(peer);
  if (peer.link) {
    // Not heard since the peer dialled another one: it is probably dead, and must prove itself
    // soon.
    const bool is_doubtful = peer.link->stated && peer.link->heard_at < lost_up_at;
    const Duration grace = options_.stall_timeout / (is_doubtful ? 4 : 1);
    peer.link->up_at = now - (options_.stall_timeout - grace);
    peer.link->next = 0;
    confirm(peer);  // the last one may have gone down with the other link
    pump(now, peer);
    arm(peer, Timer::kStall, now + grace);
  } else if (peer.is_needed()) {
    dial_soon(now, peer);
  }
}

void Channels::renew_up(ChannelPeer& peer) {
  const bool is_up = (peer.link && peer.link->stated) || (peer.surplus && peer.surplus->stated);
  if (is_up == peer.is_up) return;
  peer.is_up = is_up;
  if (is_up) {
    outputs_.emplace_back(Up{peer.id});
  } else {
    outputs_.emplace_back(Down{peer.id});
  }
}

void Channels::on_dial_failed(Instant now, ProcessorId id, DialFailure how,
                              const std::string& why) {
  ChannelPeer* peer = find(id);
  if (peer == nullptr) return;
  peer->is_dialling = false;
  if (peer->link || !peer->is_needed()) {  // That says nothing of a need that comes later.
    peer->dial_pause = Duration::zero();
    peer->refusals = 0;
    return;
  }
  peer->trouble = why;
  if (how == DialFailure::kNoWay) {
    peer->refusals = 0;
  } else if (!peer->note_refusal(now, how == DialFailure::kGone, options_)) {
    arm(*peer, Timer::kDial, peer->refused_since + options_.refusals_last);
  } else if (peer->refusals >= options_.refusals) {
    // Where nobody is heard meanwhile the firewall of this machine may be the one that refuses.
    const bool is_witnessed = how == DialFailure::kGone || !options_.refusals_need_others ||
                              is_heard_outside(peer->doubtful_since());
    if (is_witnessed) peer->refusals = 0;
    if (is_witnessed) report(now, *peer, Departure::kConnectionLost, why);
  }
  dial_soon(now, *peer);
}

/// Since then a frame came from another machine, by a link that is still there.
bool Channels::is_heard_outside(Instant since) const {
  const auto is_heard = [&](const std::optional<ChannelLink>& link) {
    return link && link->stated && link->heard_at >= since;
  };
  return std::ranges::any_of(peers_, [&](const auto& one) {
    const ChannelPeer& peer = one.second;
    return !fellows_.contains(peer.id) && (is_heard(peer.link) || is_heard(peer.surplus));
  });
}

void Channels::doubt(Instant now, ProcessorId id) {
  if (gone_.contains(id)) return;
  ChannelPeer& peer = peer_at(id);
  if (peer.doubted_since) return;
  if (peer.refusals > 0) arm(peer, Timer::kDial, now);
  peer.doubted_since = now;
}

void Channels::dial_soon(Instant now, ChannelPeer& peer) {
  if (peer.link || peer.is_dialling) return;
  if (peer.dial_pause == Duration::zero()) {
    dial(now, peer);
  } else {
    arm(peer, Timer::kDial, now + peer.dial_pause);
  }
}

void Channels::dial(Instant now, ChannelPeer& peer) {
  ++counters_.dials;
  peer.is_dialling = true;
  peer.dialled_at = now;
  peer.dial_pause =
      std::clamp(2 * peer.dial_pause, options_.dial_pause_min, options_.dial_pause_max);
  outputs_.emplace_back(Connect{peer.id});
}

void Channels::on_activity(Instant now, LinkId link) {
  ChannelPeer* peer = find(link.peer);
  if (peer == nullptr || peer->find(link) == nullptr) return;
  peer->heard_at = peer->progress_at = now;
}

void Channels::on_service(Instant now, LinkId link) {
  ChannelPeer* peer = find(link.peer);
  if (peer != nullptr && peer->find(link) != nullptr) peer->used_at = now;
}

// --- Members and strangers -----------------------------------------------------------------------

void Channels::watch(Instant now, const ProcessorSet& peers) {
  if (peers == watched_) return;
  for (const ProcessorId id : watched_.minus(peers).ids()) {
    if (ChannelPeer* peer = find(id)) peer->is_watched = false;
  }
  for (const ProcessorId id : peers.minus(watched_).ids()) {
    if (gone_.contains(id)) continue;
    ChannelPeer& peer = peer_at(id);
    peer.is_watched = true;
    peer.heard_at = now;
    arm(peer, Timer::kBeat, now + options_.heartbeat_period);
    arm(peer, Timer::kGiveUp, now + options_.peer_timeout);
  }
  watched_ = peers;
}

void Channels::expect(Instant now, ProcessorId last) {
  newcomers_.add(now, now + options_.newcomer_factor * options_.peer_timeout, last);
}

std::vector<Envelope> Channels::forget(Instant now, ProcessorId id) {
  gone_.insert(id);
  congested_.erase(id);
  owed_.erase(id);
  watched_.erase(id);
  ChannelPeer* peer = find(id);
  if (peer == nullptr) return {};
  if (peer->owed_frames > 0) confirm(*peer);
  for (const std::optional<ChannelLink>& link : {peer->link, peer->surplus}) {
    if (!link) continue;
    strangers_.try_emplace(link->id);
    deadlines_.arm({id, Timer::kLinger}, now + options_.linger);
  }
  for (const Timer timer : {Timer::kAck, Timer::kDial, Timer::kStall, Timer::kBeat, Timer::kGiveUp,
                            Timer::kSurplus, Timer::kIdle}) {
    deadlines_.disarm({id, timer});
  }
  peer->number_all();
  pump(now, *peer, true);  // its last word may be among it: that it is out
  if (peer->link && peer->link->next > 0) strangers_.at(peer->link->id).last = peer->link->next - 1;
  std::vector<Envelope> unconfirmed = peer->stream.take_unacknowledged();
  peers_.erase(id);
  return unconfirmed;
}

void Channels::on_stranger_frame(LinkId link, const Frame& frame) {
  std::optional<std::uint64_t>& received = strangers_.at(link).received;
  if (frame.envelope) {
    // Nobody takes it, and nobody must wait for that: a leaver's last word may have come here
    // from another one before.
    outputs_.emplace_back(Transmit{link, Frame{0, frame.seq, std::nullopt}});
    return;
  }
  // Only a statement tells with which number the stranger will take an answer.
  if (received || frame.seq != 0) return;
  received = frame.received;
  outputs_.emplace_back(Stranger{link.peer, link});
}

void Channels::refuse(Instant now, LinkId link, Fenced fenced) {
  const auto stranger = strangers_.find(link);
  if (stranger == strangers_.end() || !stranger->second.received) return;
  // What was put there before is on its way still, and has lower numbers.
  const std::uint64_t before = std::max(*stranger->second.received, stranger->second.last);
  outputs_.emplace_back(Transmit{link, Frame{before + 1, 0, std::move(fenced)}});
  deadlines_.disarm({link.peer, Timer::kLinger});
  deadlines_.arm({link.peer, Timer::kLinger}, now + options_.linger);
}

// --- Queries -------------------------------------------------------------------------------------

ChannelPeer& Channels::peer_at(ProcessorId id) {
  ChannelPeer& peer = peers_[id];
  peer.id = id;
  return peer;
}

ChannelPeer* Channels::find(ProcessorId id) {
  const auto found = peers_.find(id);
  return found == peers_.end() ? nullptr : &found->second;
}

std::uint64_t Channels::queued_bytes(ProcessorId id) const {
  const auto found = peers_.find(id);
  return found == peers_.end() ? 0 : found->second.queued_bytes();
}

std::uint64_t Channels::queued_copies(ProcessorId id) const {
  const auto found = peers_.find(id);
  return found == peers_.end() ? 0 : found->second.waiting.copy_bytes();
}

bool Channels::all_acknowledged() const {
  return std::ranges::all_of(peers_, [](const auto& entry) {
    const ChannelPeer& peer = entry.second;  // without link, the next statement confirms
    return peer.has_all() && (peer.owed_frames == 0 || !peer.link);
  });
}

ChannelMarks Channels::marks() {
  ChannelMarks marks;
  for (auto& [id, peer] : peers_) {
    peer.number_all();
    marks[id] = peer.stream.last_sent();
  }
  return marks;
}

bool Channels::has_acknowledged(ChannelMarks& marks) const {
  for (auto mark = marks.begin(); mark != marks.end(); mark = marks.erase(mark)) {
    const auto found = peers_.find(mark->first);
    const bool is_reached =
        found == peers_.end() || found->second.stream.acknowledged() >= mark->second;
    if (!is_reached) return false;
  }
  return true;
}

std::uint64_t Channels::links_up() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(peers_, [](const auto& entry) { return entry.second.is_up; }));
}

}  // namespace phx::runtime
