#include "runtime/sim/network.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"

namespace phx::sim {
namespace {

constexpr Duration kDialTimeout = 3s;
constexpr Duration kDialRepeat = 1s;    // Systems repeat a SYN after so long, and drivers wait.
constexpr Duration kRefusedHere = 50us;  // By this machine itself.
constexpr Duration kDialAgain = 5ms;    // A machine that is becoming a member is asked again.
constexpr Duration kNoticeMax = 400ms;  // How much later than the other one an end notices a break.
constexpr Duration kRowMost = 20ms;     // In front of a narrow place: longer ones hold senders up.
constexpr std::uint32_t kLastSegment = 1U << 31U;
constexpr std::uint32_t kTellSegment = 1U << 30U;  // Its sender wants to hear that it has left.
constexpr std::uint32_t kSizeOfSegment = kTellSegment - 1;
constexpr std::uint64_t kWindowSegment = 8192;  // Where there are windows.

}  // namespace

MachineId Network::add_machine(std::size_t site) {
  machines_.emplace_back();
  return model_.add_machine(site);
}

void Network::open(MachineId machine, ProcessorId self) {
  Machine& it = machines_[machine.value];
  it.self = self;
  it.answer = Answer::kAccepted;
  it.is_running = true;
}

void Network::close(MachineId machine) {
  Machine& it = machines_[machine.value];
  it.answer = Answer::kRefusal;
  it.is_running = false;
  const auto links = std::exchange(it.links, {});
  for (const auto& [link, end] : links) close_end(end);
}

void Network::kill(MachineId machine, bool lost) {
  Machine& it = machines_[machine.value];
  it.answer = lost ? Answer::kNothing : Answer::kRefusal;
  it.is_running = false;
  const auto links = std::exchange(it.links, {});
  for (const auto& [link, end] : links) {
    end_at(end).is_open = false;
    break_connection(end / 2, lost ? Break::kSilent : Break::kBoth);
  }
}

// --- Connecting --------------------------------------------------------------------------------

void Network::dial(MachineId from, ProcessorId peer, MachineId to) {
  if (!machines_[from.value].dialling.insert(peer).second) return;
  if (is_shut_in(from, to)) return fail_dial(from, peer, true, kRefusedHere);
  const Instant give_up = agenda_.now() + kDialTimeout;
  agenda_.schedule_in(model_.travel_time(agenda_.now(), from, to),
                      [=, this] { on_dial_arrived(from, peer, to, give_up); });
}

void Network::on_dial_arrived(MachineId from, ProcessorId peer, MachineId to, Instant give_up) {
  const Machine& target = machines_[to.value];
  const Duration left = give_up - agenda_.now();
  const Duration back = model_.latency(from, to);
  if (left <= Duration{}) return fail_dial(from, peer, false, Duration{});
  const auto in_between = barrier(from, to);
  if (target.answer == Answer::kNothing || is_cut(from, to) || in_between == Barrier::kDrop) {
    const bool is_repeated = left <= kDialTimeout - kDialRepeat;
    if (is_repeated) return fail_dial(from, peer, false, left);
    agenda_.schedule_in(kDialRepeat, [=, this] { on_dial_arrived(from, peer, to, give_up); });
    return;
  }
  if (target.answer == Answer::kRefusal || in_between == Barrier::kRefusal)
    return fail_dial(from, peer, true, back);
  if (target.answer == Answer::kLater) {
    agenda_.schedule_in(kDialAgain, [=, this] { on_dial_arrived(from, peer, to, give_up); });
    return;
  }
  if (target.self != peer) return fail_dial(from, peer, true, back);
  // Hello and proofs of both sides go forth and back once more, and the last one forth.
  agenda_.schedule_in(3 * back, [=, this] { connect(from, peer, to); });
}

void Network::fail_dial(MachineId from, ProcessorId peer, bool refused, Duration after) {
  agenda_.schedule_in(after, [=, this] {
    Machine& dialler = machines_[from.value];
    dialler.dialling.erase(peer);
    if (dialler.is_running) inputs_.on_dial_failed(from, peer, refused);
  });
}

void Network::connect(MachineId from, ProcessorId peer, MachineId to) {
  Machine& a = machines_[from.value];
  Machine& b = machines_[to.value];
  const bool is_closed_off = closed_off_.contains(from) || closed_off_.contains(to);
  const bool is_refused = b.answer == Answer::kRefusal || is_closed_off || is_shut_in(from, to);
  if (!a.is_running || !b.is_running || is_cut(from, to) || is_refused || is_shut_in(to, from)) {
    return fail_dial(from, peer, is_refused, model_.latency(from, to));
  }
  const auto first = static_cast<std::uint32_t>(connections_.size() * 2);
  connections_.emplace_back();
  Connection& made = connections_.back();
  made.ends[0].link = {peer, a.next_link++};
  made.ends[1].link = {a.self, b.next_link++};
  made.lanes[0].from = made.lanes[1].to = from;
  made.lanes[0].to = made.lanes[1].from = to;
  if (const std::uint64_t window = model_.topology().window_bytes;
      window > 0 && model_.has_link(from, to)) {
    for (Lane& lane : made.lanes) lane.window = std::make_unique<Window>(Window{window, 0, {}});
  }
  // What the dialler says now arrives later than its proof.
  const Instant proved = agenda_.now() + model_.latency(from, to);
  made.lanes[0].last_arrival = proved;
  agenda_.schedule(proved, [this, first] { come_up(first + 1); });
  a.dialling.erase(peer);
  come_up(first);
}

void Network::come_up(std::uint32_t end) {
  const MachineId at = lane_at(end).from;
  Machine& machine = machines_[at.value];
  End& it = end_at(end);
  if (!machine.is_running) {
    const bool is_silent = machine.answer == Answer::kNothing;
    return break_connection(end / 2, is_silent ? Break::kSilent : Break::kBoth);
  }
  it.is_open = true;
  machine.links[it.link] = end;
  inputs_.on_link_up(at, it.link, end % 2 == 0);
  // Broken before it was known here: that is noticed at once.
  if (connections_[end / 2].is_broken && end_at(end).is_open) go_down(end);
}

void Network::go_down(std::uint32_t end) {
  End& it = end_at(end);
  if (!it.is_open) return;
  it.is_open = false;
  const MachineId at = lane_at(end).from;
  machines_[at.value].links.erase(it.link);
  inputs_.on_link_down(at, it.link);
}

void Network::close_end(std::uint32_t end) {
  end_at(end).is_open = false;
  push(end, InFlight{{}, 1, true}, 0);
}

void Network::hang_up(MachineId from, LinkId link) {
  const auto found = machines_[from.value].links.find(link);
  if (found == machines_[from.value].links.end()) return;
  const std::uint32_t end = found->second;
  machines_[from.value].links.erase(found);
  close_end(end);
}

// --- Frames ------------------------------------------------------------------------------------

void Network::transmit(MachineId from, LinkId link, runtime::Frame frame, bool tell) {
  const auto found = machines_[from.value].links.find(link);
  if (found == machines_[from.value].links.end()) return;
  const std::uint64_t bytes = encoder_.size(frame);
  meter_.on_frame(from, lane_at(found->second).to, frame, bytes);
  push(found->second, InFlight{std::move(frame), 1, false, tell}, bytes);
}

void Network::push(std::uint32_t lane, InFlight item, std::uint64_t bytes) {
  if (connections_[lane / 2].is_broken) return;
  Lane& it = lane_at(lane);
  const std::uint64_t segment = it.window ? kWindowSegment : NetworkModel::kSegmentBytes;
  item.segments =
      static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (bytes + segment - 1) / segment));
  const std::uint32_t segments = item.segments;
  const std::uint32_t last = kLastSegment | (item.tell ? kTellSegment : 0);
  it.frames.push_back(std::move(item));
  ++in_flight_;
  Instant at = model_.leave_processor(agenda_.now(), it.from);
  for (std::uint32_t i = 0; i < segments; ++i) {
    const std::uint64_t part = std::min(bytes, segment);
    bytes -= part;
    const auto size = static_cast<std::uint32_t>(part) | (i + 1 == segments ? last : 0);
    if (it.window) {
      it.window->waiting.push_back(size);
    } else {
      at = send_segment(at, lane, size);
    }
  }
  if (it.window) send_waiting(lane, at);
}

/// When it has left the interface.
Instant Network::send_segment(Instant at, std::uint32_t lane, std::uint32_t bytes) {
  const Lane& it = lane_at(lane);
  const Instant left = model_.leave_interface(at, it.from, bytes & kSizeOfSegment);
  if (model_.has_link(it.from, it.to)) {
    agenda_.schedule(left, [this, lane, bytes] { on_link_stage(lane, bytes); });
  } else {
    agenda_.schedule(left, [this, lane, bytes] { on_travel(lane, bytes); });
  }
  return left;
}

/// As far as its window goes; one segment is always allowed.
void Network::send_waiting(std::uint32_t lane, Instant at) {
  Window& window = *lane_at(lane).window;
  while (!window.waiting.empty()) {
    const std::uint32_t next = window.waiting.front();
    const std::uint64_t bytes = next & kSizeOfSegment;
    if (window.under_way > 0 && window.under_way + bytes > window.bytes) return;
    window.waiting.pop_front();
    window.under_way += bytes;
    at = send_segment(at, lane, next);
  }
}

void Network::on_confirmed(std::uint32_t lane, std::uint32_t bytes) {
  Window& window = *lane_at(lane).window;
  window.under_way -= bytes;
  window.bytes += bytes;
  send_waiting(lane, agenda_.now());
}

void Network::on_link_stage(std::uint32_t lane, std::uint32_t bytes) {
  Lane& it = lane_at(lane);
  const Instant at = model_.pass_link(agenda_.now(), it.from, it.to, bytes & kSizeOfSegment);
  if (at == agenda_.now()) return on_travel(lane, bytes);
  if ((bytes & kTellSegment) != 0) {
    tell_left(lane, std::max(at - agenda_.now(), model_.takes_from(it.to) - at));
    bytes &= ~kTellSegment;
  }
  agenda_.schedule(at, [this, lane, bytes] { on_travel(lane, bytes); });
}

void Network::on_travel(std::uint32_t lane, std::uint32_t bytes) {
  Lane& it = lane_at(lane);
  const Instant at = agenda_.now() + model_.travel_time(agenda_.now(), it.from, it.to);
  it.last_arrival = std::max(it.last_arrival, at);
  agenda_.schedule(it.last_arrival, [this, lane, bytes] { on_arrival(lane, bytes); });
  if ((bytes & kTellSegment) != 0) tell_left(lane, model_.takes_from(it.to) - it.last_arrival);
}

/// As soon as the row that it stands in is short.
void Network::tell_left(std::uint32_t end, Duration row) {
  if (row <= kRowMost) return on_left(end);
  agenda_.schedule_in(row - kRowMost, [this, end] { on_left(end); });
}

void Network::on_left(std::uint32_t end) {
  const End it = end_at(end);
  if (it.is_open && inputs_.on_drained) inputs_.on_drained(lane_at(end).from, it.link);
}

void Network::on_arrival(std::uint32_t lane, std::uint32_t bytes) {
  Lane& it = lane_at(lane);
  if (is_cut(it.from, it.to) || !it.stopped.empty()) {
    it.stopped.push_back(bytes);
    return;
  }
  const Instant at = model_.enter_interface(agenda_.now(), it.to, bytes & kSizeOfSegment);
  if (at == agenda_.now()) return on_inside(lane, bytes);
  // Until then the processor is free for what it has already.
  agenda_.schedule(at, [this, lane, bytes] { on_inside(lane, bytes); });
}

void Network::on_inside(std::uint32_t lane, std::uint32_t bytes) {
  Instant at = agenda_.now();
  if (const Lane& it = lane_at(lane); it.window) {
    const std::uint32_t size = bytes & kSizeOfSegment;
    agenda_.schedule_in(model_.latency(it.to, it.from),
                        [this, lane, size] { on_confirmed(lane, size); });
  }
  if ((bytes & kLastSegment) != 0) at = model_.enter_processor(at, lane_at(lane).to);
  agenda_.schedule(at, [this, lane] { on_segment(lane); });
}

/// Segments are alike: whichever event comes, the oldest frame is one segment nearer to complete.
void Network::on_segment(std::uint32_t lane) {
  Lane& it = lane_at(lane);
  if (it.frames.empty() || --it.frames.front().segments > 0) return;
  InFlight item = std::move(it.frames.front());
  it.frames.pop_front();
  --in_flight_;
  const std::uint32_t receiver = lane ^ 1U;
  if (item.is_end) {
    connections_[lane / 2].is_broken = true;
    go_down(receiver);
    return;
  }
  const End& end = end_at(receiver);
  if (end.is_open) inputs_.on_frame(it.to, end.link, std::move(item.frame));
}

// --- Disturbances ------------------------------------------------------------------------------

void Network::break_connection(std::uint32_t connection, Break how,
                               std::optional<std::uint32_t> blind_end) {
  Connection& it = connections_[connection];
  if (it.is_broken) return;
  it.is_broken = true;
  const std::uint32_t blind = blind_end.value_or(static_cast<std::uint32_t>(rng_.below(2)));
  for (std::uint32_t i = 0; i < 2; ++i) {
    Lane& lane = it.lanes[i];
    const std::size_t kept = static_cast<std::size_t>(rng_.below(lane.frames.size() + 1));
    in_flight_ -= lane.frames.size() - kept;
    lane.frames.resize(kept);
    const bool notices = how == Break::kBoth || (how == Break::kHalfOpen && i != blind);
    if (!notices) continue;
    const auto late = Duration{
        static_cast<Duration::rep>(rng_.below(static_cast<std::uint64_t>(kNoticeMax.count())))};
    const std::uint32_t end = connection * 2 + i;
    agenda_.schedule_in(model_.latency(lane.from, lane.to) + late, [this, end] { go_down(end); });
  }
}

void Network::break_one(Break how) {
  std::vector<std::uint32_t> whole;
  for (const Machine& machine : machines_) {
    for (const auto& [link, end] : machine.links) {
      if (end % 2 == 0 && !connections_[end / 2].is_broken) whole.push_back(end / 2);
    }
  }
  if (whole.empty()) return;
  break_connection(whole[static_cast<std::size_t>(rng_.below(whole.size()))], how);
}

void Network::cut_off(std::set<MachineId> side) {
  cut_off_ = std::move(side);
}

bool Network::is_cut(MachineId a, MachineId b) const {
  if (barrier(a, b) == Barrier::kCut || barrier(b, a) == Barrier::kCut) return true;
  return !cut_off_.empty() && cut_off_.contains(a) != cut_off_.contains(b);
}

std::optional<Network::Barrier> Network::barrier(MachineId from, MachineId to) const {
  if (closed_off_.contains(from) || closed_off_.contains(to)) return Barrier::kRefusal;
  if (is_shut_in(to, from)) return Barrier::kDrop;
  const auto found = barriers_.find({from, to});
  if (found == barriers_.end()) return std::nullopt;
  return found->second;
}

void Network::set_barrier(MachineId from, MachineId to, Barrier barrier) {
  barriers_[{from, to}] = barrier;
}

void Network::close_off(MachineId machine) {
  closed_off_.insert(machine);
  const auto links = machines_[machine.value].links;
  for (const auto& [link, end] : links) break_connection(end / 2, Break::kBoth);
}

void Network::shut_in(std::set<MachineId> side) {
  shut_in_ = std::move(side);
  for (std::uint32_t i = 0; i < connections_.size(); ++i) {
    const Lane& lane = connections_[i].lanes[0];
    if (is_shut_in(lane.from, lane.to)) break_connection(i, Break::kHalfOpen, 1);
    if (is_shut_in(lane.to, lane.from)) break_connection(i, Break::kHalfOpen, 0);
  }
}

/// `from` is behind the firewall, and `to` is not.
bool Network::is_shut_in(MachineId from, MachineId to) const {
  return shut_in_.contains(from) && !shut_in_.contains(to);
}

void Network::lift_barriers(MachineId a, MachineId b) {
  barriers_.erase({a, b});
  barriers_.erase({b, a});
  go_on();
}

void Network::heal() {
  cut_off_.clear();
  go_on();
}

/// What stood still and may pass now arrives.
void Network::go_on() {
  for (std::uint32_t lane = 0; lane < connections_.size() * 2; ++lane) {
    const auto stopped = std::exchange(lane_at(lane).stopped, {});
    for (const std::uint32_t bytes : stopped) on_arrival(lane, bytes);
  }
}

}  // namespace phx::sim
