#include "runtime/channels/detours.h"

#include <algorithm>
#include <iterator>

#include "overlay/base/check.h"

namespace phx::runtime {

using Step = Passage::Step;

void Detours::on_members(const ProcessorSet& members) {
  members_ = members;
  const auto is_gone = [&](const auto& entry) {
    return !members.contains(entry.first) && entry.second.waiting.empty();
  };
  std::erase_if(favours_, is_gone);
  std::erase_if(hard_to_reach_, [&](ProcessorId id) { return !members.contains(id); });
  std::erase_if(rounds_, [&](const auto& entry) { return !members.contains(entry.first); });
  std::erase_if(pauses_, [&](const auto& entry) { return !members.contains(entry.first); });
  std::erase_if(offers_, [&](const auto& entry) { return !members.contains(entry.first); });
}

// --- Seeking a link ------------------------------------------------------------------------------

void Detours::connect(Instant now, ProcessorId peer) {
  if (is_connected(peer) || has_detour(peer)) {
    outputs_.emplace_back(DialFailed{peer, DialFailure::kNoWay, "there is a link already"});
    return;
  }
  Seek& seek = seeks_[peer];
  if (seek.is_wanted) return;
  seek.is_wanted = true;
  seek.how = DialFailure::kNoWay;
  seek.why.clear();
  if (!seek.is_dialling) dial(peer, seek);
  if (hard_to_reach_.contains(peer) && !offers_.contains(peer)) {
    seek_detour(now, peer);
  } else {
    deadlines_.arm({peer, Timer::kSeek}, now + options_.dial_patience);
  }
}

void Detours::dial(ProcessorId peer, Seek& seek) {
  seek.is_dialling = true;
  outputs_.emplace_back(Connect{peer});
}

/// Asks others whether they reach the peer, a few at first. The first that does becomes the relay:
/// it is the nearest one, measured by this very race.
void Detours::seek_detour(Instant now, ProcessorId peer) {
  Seek& seek = seeks_.at(peer);
  deadlines_.disarm({peer, Timer::kSeek});
  const bool is_refused = seek.how != DialFailure::kNoWay;
  if (seek.number == 0) {
    seek.number = rng_.next() | 1U;
    deadlines_.arm({peer, Timer::kGiveUp},
                   now + (is_refused ? options_.refused_patience : options_.ask_patience));
    DetourRound& round = rounds_[peer];
    round.most = std::max(round.most, options_.asked);
    if (!round.tried.empty() && candidates(peer).empty()) round = {{}, options_.asked, true};
    ask_more(now, peer);
  } else if (!is_refused) {  // Else its machine answers fast, and relays do as well.
    widen(rounds_[peer]);
    ask_more(now, peer);
  }
}

void Detours::widen(DetourRound& round) const {
  if (!round.is_repeated) round.most = std::min(round.most * options_.widening, members_.size());
}

void Detours::ask_more(Instant now, ProcessorId peer) {
  Seek& seek = seeks_.at(peer);
  DetourRound& round = rounds_.at(peer);
  std::vector<ProcessorId> relays = candidates(peer);
  const auto is_near = [&](ProcessorId id) { return is_connected(id); };
  const auto near = static_cast<std::size_t>(std::ranges::count_if(relays, is_near));
  const std::size_t most = std::min(round.most, near + options_.dialled_most);
  if (relays.size() > most) {
    relays.resize(most);
    if (!round.is_repeated) deadlines_.arm({peer, Timer::kSeek}, now + options_.widen_after);
  }
  const std::uint64_t number = seek.number;
  for (const ProcessorId relay : relays) {
    round.tried.insert(relay);
    seek.asked.insert(relay);
    if (is_connected(relay)) {
      ask(relay, peer, number);
    } else {
      seek.unconnected.insert(relay);
      Seek& first = seeks_[relay];
      if (!first.is_dialling) dial(relay, first);
    }
  }
  fail_if_over(peer);
}

void Detours::ask(ProcessorId relay, ProcessorId peer, std::uint64_t number) {
  tell(relay, {self_, peer, number, Step::kOpen});
}

/// Whom to ask about `peer` who was not asked yet, the most promising first: those that are relays
/// now; those with a connection to this processor before others; and the peer's neighbours in the
/// ring of ids, which watch it or are watched by it, before others.
std::vector<ProcessorId> Detours::candidates(ProcessorId peer) const {
  std::vector<ProcessorId> ring = members_.ids();
  const auto middle = std::ranges::lower_bound(ring, peer);
  std::rotate(ring.begin(), middle, ring.end());  // the peer, those after it ... those before it
  std::vector<ProcessorId> near;
  constexpr std::size_t kSides = 2;
  for (std::size_t i = 0; i < ring.size(); ++i) {  // alternately from both ends
    near.push_back(i % kSides == 0 ? ring[i / kSides] : ring[ring.size() - 1 - i / kSides]);
  }
  const auto round = rounds_.find(peer);
  std::erase_if(near, [&](ProcessorId id) {
    const bool is_tried = round != rounds_.end() && round->second.tried.contains(id);
    return id == peer || id == self_ || is_tried;
  });
  std::set<ProcessorId> relays;
  for (const LinkId& link : detours_) relays.insert(link.via);
  std::stable_partition(near.begin(), near.end(), [&](ProcessorId id) { return is_connected(id); });
  std::stable_partition(near.begin(), near.end(),
                        [&](ProcessorId id) { return relays.contains(id); });
  return near;
}

/// `relay` cannot help, or does not answer.
void Detours::on_no(ProcessorId relay, ProcessorId peer, std::uint64_t number) {
  const auto found = seeks_.find(peer);
  if (found == seeks_.end() || found->second.number != number) return;
  found->second.asked.erase(relay);
  found->second.unconnected.erase(relay);
  fail_if_over(peer);
}

void Detours::fail_if_over(ProcessorId peer) {
  const auto found = seeks_.find(peer);
  if (found == seeks_.end()) return;
  const Seek& seek = found->second;
  if (seek.number != 0 && seek.asked.empty() && !seek.is_dialling) fail(peer);
}

void Detours::fail(ProcessorId peer) {
  Seek& seek = seeks_.at(peer);
  const Seek over = std::exchange(seek, Seek{});
  seek.is_dialling = over.is_dialling;
  if (!seek.is_dialling) seeks_.erase(peer);
  deadlines_.disarm({peer, Timer::kSeek});
  deadlines_.disarm({peer, Timer::kGiveUp});
  if (!over.is_wanted) return;
  if (over.number != 0 && over.how == DialFailure::kNoWay) widen(rounds_[peer]);
  outputs_.emplace_back(DialFailed{
      peer, over.how, over.why.empty() ? "no answer, and no way through others" : over.why});
}

void Detours::on_dial_failed(Instant now, ProcessorId peer, DialFailure how,
                             const std::string& why) {
  for (const Passage& passage : std::exchange(favours_[peer].waiting, {})) {
    tell(passage.from, {peer, passage.from, passage.number, Step::kClose});
  }
  favours_[peer].failed_at = now;
  const auto found = seeks_.find(peer);
  if (found == seeks_.end()) return;
  Seek& seek = found->second;
  seek.is_dialling = false;
  seek.how = how;
  seek.why = why;
  hard_to_reach_.insert(peer);
  // Others that are asked about wait for this one as a relay no more.
  std::vector<std::pair<ProcessorId, std::uint64_t>> waiting;
  for (const auto& [other, theirs] : seeks_) {
    if (theirs.unconnected.contains(peer)) waiting.emplace_back(other, theirs.number);
  }
  for (const auto& [other, number] : waiting) on_no(peer, other, number);
  if (!seek.is_wanted) {
    seeks_.erase(peer);
    if (has_detour(peer)) retry_later(now, peer);
    return;
  }
  if (how == DialFailure::kGone) {
    fail(peer);
  } else if (seek.number == 0) {
    seek_detour(now, peer);
  } else {
    const bool is_refused = how == DialFailure::kRefused;
    if (is_refused) deadlines_.arm({peer, Timer::kGiveUp}, now + options_.refused_patience);
    fail_if_over(peer);
  }
}

// --- Connections ---------------------------------------------------------------------------------

void Detours::on_connection_up(LinkId link, bool dialled) {
  const ProcessorId peer = link.peer;
  connections_[peer].push_back(link);
  hard_to_reach_.erase(peer);
  pauses_.erase(peer);
  rounds_.erase(peer);
  offers_.erase(peer);  // The peer has this connection as well, or will soon.
  const auto ended = seeks_.extract(peer);
  for (const Timer timer : {Timer::kSeek, Timer::kGiveUp, Timer::kRetry}) {
    deadlines_.disarm({peer, timer});
  }
  outputs_.emplace_back(LinkUp{link, dialled});
  if (!dialled && !ended.empty() && ended.mapped().is_wanted) {
    outputs_.emplace_back(DialFailed{peer, DialFailure::kNoWay, "the peer was faster"});
  }
  const auto favour = favours_.extract(peer);
  if (!favour.empty()) {
    for (const Passage& passage : favour.mapped().waiting) tell(peer, passage);
  }
  std::vector<std::pair<ProcessorId, std::uint64_t>> waiting;
  for (auto& [other, seek] : seeks_) {
    if (seek.unconnected.erase(peer) > 0) waiting.emplace_back(other, seek.number);
  }
  for (const auto& [other, number] : waiting) ask(peer, other, number);
}

void Detours::on_connection_down(LinkId link) {
  const auto found = connections_.find(link.peer);
  if (found != connections_.end()) {
    std::erase(found->second, link);
    if (found->second.empty()) {
      connections_.erase(found);
      lose_relay(link.peer);
    }
  }
  outputs_.emplace_back(LinkDown{link});
}

/// Nothing comes through `relay` any more.
void Detours::lose_relay(ProcessorId relay) {
  std::vector<LinkId> lost;
  for (const LinkId& link : detours_) {
    if (link.via == relay) lost.push_back(link);
  }
  for (const LinkId& link : lost) go_down(link);
  std::erase_if(offers_, [&](const auto& entry) { return entry.second.via == relay; });
  std::vector<std::pair<ProcessorId, std::uint64_t>> waiting;
  for (const auto& [peer, seek] : seeks_) {
    if (seek.asked.contains(relay) && !seek.unconnected.contains(relay)) {
      waiting.emplace_back(peer, seek.number);
    }
  }
  for (const auto& [peer, number] : waiting) on_no(relay, peer, number);
}

void Detours::hang_up(LinkId link) {
  if (link.via == kNobody) {
    const auto found = connections_.find(link.peer);
    if (found == connections_.end()) return;
    std::erase(found->second, link);
    if (!found->second.empty()) return;
    connections_.erase(found);
    lose_relay(link.peer);
  } else if (detours_.erase(link) > 0) {
    tell(link.via, {self_, link.peer, link.incarnation, Step::kClose});
  }
}

// --- Detours -------------------------------------------------------------------------------------

void Detours::come_up(Instant now, LinkId link, bool dialled) {
  ++counters_.made;
  detours_.insert(link);
  outputs_.emplace_back(Note{Note::Level::kInfo, "detour",
                             "peer=" + to_string(link.peer) + " via=" + to_string(link.via)});
  outputs_.emplace_back(LinkUp{link, dialled});
  if (!deadlines_.is_armed({link.peer, Timer::kRetry})) retry_later(now, link.peer);
}

void Detours::go_down(LinkId link) {
  if (detours_.erase(link) > 0) outputs_.emplace_back(LinkDown{link});
}

bool Detours::has_detour(ProcessorId peer) const {
  const auto first = detours_.lower_bound(LinkId{peer, 0});
  return first != detours_.end() && first->peer == peer;
}

void Detours::transmit(LinkId link, Frame frame) {
  const auto found = connections_.find(link.via);
  if (found == connections_.end() || !detours_.contains(link)) return;
  frame.passage = Passage{self_, link.peer, link.incarnation, Step::kCarry};
  outputs_.emplace_back(Transmit{found->second.back(), std::move(frame)});
}

void Detours::tell(ProcessorId via, const Passage& passage) {
  const auto found = connections_.find(via);
  if (found == connections_.end()) return;
  outputs_.emplace_back(Transmit{found->second.back(), Frame{0, 0, std::nullopt, passage}});
}

void Detours::on_passage(Instant now, LinkId link, Frame frame) {
  const Passage passage = *frame.passage;
  if (passage.from == self_ || link.via != kNobody) return;
  if (!is_connected(link.peer)) return;  // It was hung up here, with this on its way.
  if (passage.to == self_) {
    take(now, link.peer, std::move(frame));
  } else if (passage.from == link.peer) {  // Else it has passed a relay already.
    relay(now, link, std::move(frame));
  }
}

/// For two others. Keeps nothing: what cannot go on is lost, and its sender is told.
void Detours::relay(Instant now, LinkId link, Frame frame) {
  const Passage passage = *frame.passage;
  const auto found = connections_.find(passage.to);
  if (found != connections_.end()) {
    ++counters_.relayed;
    outputs_.emplace_back(Transmit{found->second.back(), std::move(frame)});
    return;
  }
  if (passage.step == Step::kClose) return;
  Favour& favour = favours_[passage.to];
  const bool is_hopeless =
      favour.failed_at != Instant{} && now - favour.failed_at < options_.favour_memory;
  if (passage.step != Step::kOpen || is_hopeless || !members_.contains(passage.to) ||
      favour.waiting.size() >= options_.favours_max) {
    ++counters_.unrelayed;
    tell(link.peer, {passage.to, passage.from, passage.number, Step::kClose});
    return;
  }
  favour.waiting.push_back(passage);
  Seek& seek = seeks_[passage.to];
  if (!seek.is_dialling) dial(passage.to, seek);
}

/// For this processor, from `relay`.
void Detours::take(Instant now, ProcessorId relay, Frame frame) {
  const Passage passage = *frame.passage;
  const LinkId link{passage.from, passage.number, relay};
  switch (passage.step) {
    case Step::kOpen:
      return accept(relay, passage);
    case Step::kAccept: {
      const auto seek = seeks_.find(passage.from);
      const bool is_asked = seek != seeks_.end() && seek->second.number == passage.number;
      if (!is_asked || !seek->second.is_wanted) {
        return tell(relay, {self_, passage.from, passage.number, Step::kClose});
      }
      seek->second.is_wanted = false;
      fail(passage.from);  // Ends the search; a dial goes on beside, for whatever comes of it.
      rounds_.erase(passage.from);
      return come_up(now, link, true);
    }
    case Step::kCarry:
      if (const auto offer = offers_.find(link.peer);
          offer != offers_.end() && offer->second == link) {
        offers_.erase(offer);
        come_up(now, link, false);
      }
      if (!detours_.contains(link)) {
        return tell(relay, {self_, passage.from, passage.number, Step::kClose});
      }
      frame.passage.reset();
      outputs_.emplace_back(Arrived{link, std::move(frame)});
      return;
    case Step::kClose:
      std::erase_if(offers_, [&](const auto& entry) { return entry.second == link; });
      go_down(link);
      return on_no(relay, passage.from, passage.number);
  }
}

/// The peer cannot dial this processor. Perhaps the reverse is possible: it is tried at once. The
/// link comes up when the peer uses it: until then it may have got a connection, and this one too.
void Detours::accept(ProcessorId relay, const Passage& passage) {
  const auto same = [&](const LinkId& link) {
    return link.peer == passage.from && link.incarnation == passage.number;
  };
  if (std::ranges::any_of(detours_, same)) return;  // Another relay was faster.
  const auto offer = offers_.find(passage.from);
  if (offer != offers_.end() && same(offer->second)) return;
  tell(relay, {self_, passage.from, passage.number, Step::kAccept});
  offers_[passage.from] = {passage.from, passage.number, relay};
  deadlines_.disarm({passage.from, Timer::kRetry});
  if (!is_connected(passage.from)) retry(passage.from);
}

// --- Time ----------------------------------------------------------------------------------------

void Detours::retry_later(Instant now, ProcessorId peer) {
  Duration& pause = pauses_[peer];
  pause = std::clamp(2 * pause, options_.retry_min, options_.retry_max);
  deadlines_.arm({peer, Timer::kRetry}, now + pause);
}

/// A connection is better than a detour.
void Detours::retry(ProcessorId peer) {
  Seek& seek = seeks_[peer];
  if (!seek.is_dialling) dial(peer, seek);
}

void Detours::on_deadline(Instant now) {
  while (const std::optional<Key> key = deadlines_.take_due(now)) {
    const auto [peer, timer] = *key;
    const auto seek = seeks_.find(peer);
    if (timer == Timer::kRetry) {
      if (has_detour(peer) && !is_connected(peer)) retry(peer);
    } else if (seek == seeks_.end()) {
      continue;
    } else if (timer == Timer::kSeek) {
      if (seek->second.is_wanted) seek_detour(now, peer);
    } else {
      hard_to_reach_.insert(peer);
      fail(peer);
    }
  }
}

// --- Queries -------------------------------------------------------------------------------------

std::map<ProcessorId, ProcessorId> Detours::in_use() const {
  std::map<ProcessorId, ProcessorId> result;
  for (const LinkId& link : detours_) {
    if (!is_connected(link.peer)) result[link.peer] = link.via;
  }
  return result;
}

void Detours::check_invariants() const {
  for (const LinkId& link : detours_) {
    PHX_CHECK(link.via != kNobody && link.via != link.peer && link.via != self_);
    PHX_CHECK(is_connected(link.via));
  }
  for (const auto& [peer, link] : offers_) {
    PHX_CHECK(link.peer == peer && is_connected(link.via) && !detours_.contains(link));
  }
  for (const auto& [peer, links] : connections_) PHX_CHECK(!links.empty());
  for (const auto& [peer, seek] : seeks_) {
    // Whatever is sought ends: by the dial, by answers, or by the time.
    if (seek.is_wanted) {
      PHX_CHECK(seek.is_dialling || deadlines_.is_armed({peer, Timer::kGiveUp}));
    }
  }
}

}  // namespace phx::runtime
