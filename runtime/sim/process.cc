#include "runtime/sim/process.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/sim/pattern.h"

namespace phx::sim {
namespace {

/// A message says at least who sent it.
constexpr std::size_t kLabel = 64;
/// The tag of the broadcast of the end; others have their numbers.
constexpr std::uint32_t kEndTag = ~std::uint32_t{0};

using collectives::ReduceOp;
using runtime::Endpoint;
using runtime::Message;

runtime::ContributionOptions contribution_options(const WorkloadOptions& options) {
  constexpr runtime::ContributionOptions kUsual;
  return {options.contribution_bytes, options.contributions_ahead,
          // Long values take as much of it as they take of the usual window.
          kUsual.long_bytes / kUsual.window_bytes * options.contribution_bytes};
}

runtime::EndpointConfig endpoint_config(const WorkloadOptions& options) {
  runtime::EndpointConfig config;
  config.piece_bytes = options.piece_bytes;
  config.inflows.unasked_bytes = options.unasked_bytes;
  config.inflows.window_max = std::max(options.unasked_bytes, options.window_bytes);
  config.inflows.inbox_bytes = options.inbox_bytes;
  config.inflows.cast_slack_bytes = options.slack_bytes;
  config.outbox_bytes_max = options.outbox_bytes;
  config.contributions = contribution_options(options);
  if (options.ignores_window) config.contributions.window_bytes = ~std::uint64_t{0};
  return config;
}

/// So many contributions of a vnode may be on their way, if all take the least of the window.
std::uint64_t most_ahead(const WorkloadOptions& options) {
  const runtime::ContributionOptions window = contribution_options(options);
  const std::uint64_t least = std::min<std::uint64_t>(
      runtime::kPieceOverhead, window.share_of(runtime::kShortestPiece, false));
  return std::max(window.ahead, window.window_bytes / std::max<std::uint64_t>(least, 1) + 1);
}

std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  return Rng(digest ^ (value * 0x9e3779b97f4a7c15ULL)).next();
}

}  // namespace

Process::Process(MachineId at, JobId job, Workload& workload, Rng rng)
    : at_(at), workload_(workload), rng_(rng), endpoint_(endpoint_config(workload.options())) {
  endpoint_.attach({job, workload.options().vnodes, at.value + 1});
}

void Process::on_message(Instant now, runtime::ToApplication message) {
  if (workload_.options().on_arrival) workload_.options().on_arrival(now, at_, message);
  if (now < stopped_until_ || !unread_.empty()) {
    unread_.push_back(std::move(message));
  } else {
    read(now, std::move(message));
  }
}

void Process::read(Instant now, runtime::ToApplication message) {
  endpoint_.on_time(now);
  endpoint_.on_message(std::move(message));
}

void Process::on_message_unfiltered(Instant now, const runtime::ToApplication& message) {
  endpoint_.on_time(now);
  const std::uint64_t before = endpoint_.counters().duplicates;
  endpoint_.on_message(message);
  if (endpoint_.counters().duplicates == before) return;
  const auto* delivered = std::get_if<runtime::AppDeliver>(&message);
  if (delivered == nullptr) return;
  const auto* again = std::get_if<runtime::PointToPoint>(&delivered->delivery);
  if (again != nullptr && again->rest == 0) {
    workload_.ledger().received(again->to, again->from, false, again->payload);
  }
}

Duration Process::draw_pause() {
  const auto& options = workload_.options();
  const auto span = static_cast<std::uint64_t>((options.pause_max - options.pause_min).count()) + 1;
  return options.pause_min + Duration{static_cast<Duration::rep>(rng_.below(span))};
}

void Process::release(const VnodeSet& vnodes) {
  const VnodeSet given = vnodes.common(endpoint_.held()).minus(endpoint_.departing());
  released_ = released_.united(given);
  endpoint_.release(given);
}

void Process::take_turn(Instant now) {
  if (exit_ || now < stopped_until_) return;
  for (runtime::ToApplication& message : std::exchange(unread_, {})) read(now, std::move(message));
  if (endpoint_.ended()) {
    exit_ = runtime::Exit{endpoint_.ended()->code, 0, false, {}};
    return;
  }
  const auto& attached = endpoint_.attached();
  if (!attached) return;
  if (!attached->refusal.empty()) {
    exit_ = runtime::Exit{1, 0, false, attached->refusal};
    return;
  }
  endpoint_.on_time(now);
  const bool is_over = endpoint_.retired() && endpoint_.held().empty();
  if (is_over || is_told_ || (workload_.is_complete(now) && leaves(now))) {
    if (!std::exchange(is_closing_, true)) {
      check_nothing_left(now);
      endpoint_.close();
    }
    if (!endpoint_.is_settled()) return;
    endpoint_.finish();
    exit_ = runtime::Exit{0, 0, true, {}};
    return;
  }
  if (const std::size_t most = workload_.options().output_bytes; most > 0) {
    written_ = workload_.ledger().write(at_, static_cast<std::size_t>(rng_.below(most)));
  }
  receive();
  for (auto& [vnode, state] : states_) act(now, vnode, state);
  workload_.ledger().pending(endpoint_.targets().most_pending(), most_ahead(workload_.options()));
  const bool is_needed = !endpoint_.next_arrivals().empty() || !endpoint_.due().empty();
  if (is_needed && rng_.chance(workload_.options().safe_point_chance)) pass_safe_point();
  adopt_orphans(now);
  endpoint_.acknowledge();
  constexpr std::uint64_t kTurns = 16;
  if (++turns_ % kTurns == 0) endpoint_.check_invariants();
}

/// Nothing more is to be done.
bool Process::leaves(Instant now) {
  constexpr std::uint64_t kVoteMs = 40;
  if (!workload_.options().has_last_vote) return true;
  if (!leaves_at_) {
    leaves_at_ = now + std::chrono::milliseconds(rng_.below(kVoteMs));
    runtime::ContributionPart vote;
    vote.kind.to_all = true;
    vote.value = Payload(Bytes(sizeof(std::int64_t)));
    for (const auto& [vnode, state] : states_) {
      PHX_CHECK(endpoint_.contribute(vnode, VnodeId{0}, vote).ok());
    }
  }
  return now >= *leaves_at_;
}

/// All results have been taken that were to come; a last vote's may come still.
void Process::check_nothing_left(Instant now) {
  if (!workload_.is_complete(now) || workload_.options().has_last_vote) return;
  for (const auto kind : {Message::Kind::kReduced, Message::Kind::kAllreduced}) {
    Endpoint::Selector wanted;
    wanted.kind = kind;
    while (const auto taken = endpoint_.take(wanted)) {
      workload_.ledger().surplus(taken->first, taken->second.from);
    }
  }
}

void Process::receive() {
  constexpr double kLazy = 0.1;
  // Sometimes mail is left in the boxes, so that it moves with its vnode.
  std::uint64_t most = rng_.chance(kLazy) ? rng_.below(4) : ~std::uint64_t{0};
  if (const std::uint64_t takes = workload_.options().takes_max; takes > 0) most = takes;
  for (const auto kind : {Message::Kind::kPointToPoint, Message::Kind::kBroadcast}) {
    Endpoint::Selector wanted;
    wanted.kind = kind;
    for (; most > 0; --most) {
      const auto taken = endpoint_.take(wanted);
      if (!taken) break;
      const auto& [vnode, message] = *taken;
      is_told_ = is_told_ || message.tag == kEndTag;
      if (message.tag == kEndTag) continue;  // Not all vnodes take it.
      workload_.ledger().received(vnode, message.from, kind == Message::Kind::kBroadcast,
                                  message.payload);
      State& state = states_.at(vnode);
      state.digest = mixed(state.digest, message.from.value + message.payload.size());
    }
  }
}

void Process::act(Instant now, VnodeId vnode, State& state) {
  send_something(now, vnode, state);
  send_ordered(vnode);
  if (workload_.take_end(vnode)) {
    PHX_CHECK(endpoint_.broadcast(vnode, kEndTag, Payload::copy_of("the end")).ok());
  }
  reduce(vnode, state);
  const auto& options = workload_.options();
  const bool has_sent_all =
      state.sent >= options.messages && state.broadcasts >= workload_.broadcasts_of(vnode);
  if (state.is_done || !has_sent_all || state.waits || state.round < options.reductions) return;
  state.is_done = true;
  workload_.on_done();
}

std::size_t Process::draw_size() {
  const std::size_t most = workload_.options().message_bytes;
  if (workload_.options().has_equal_sizes) return most;
  const auto dice = rng_.below(32);
  if (dice == 0) return 9 * most;  // several pieces
  if (dice < 4) return most;
  return static_cast<std::size_t>(rng_.below(most / 8 + 1));
}

/// Quotas are spread over the time the job lasts, so that there is load at any time.
void Process::send_something(Instant now, VnodeId vnode, State& state) {
  const auto& options = workload_.options();
  const double share = workload_.share_of_time(now);
  const auto due = [share](std::uint32_t quota) {
    return static_cast<std::uint32_t>(share * quota + 1e-9);
  };
  if (state.sent < due(options.messages) && rng_.chance(options.send_chance)) {
    const VnodeId to{rng_.below(options.vnodes)};
    const std::size_t size = draw_size();
    if (endpoint_.check_room(vnode, to, std::max(size, kLabel)).ok()) {
      const Payload payload = workload_.ledger().send(vnode, to, size);
      PHX_CHECK(endpoint_.send(vnode, to, state.sent, payload).ok());
      ++state.sent;
    }
  }
  if (state.broadcasts < due(workload_.broadcasts_of(vnode)) && rng_.chance(options.send_chance)) {
    const std::size_t size = draw_size();
    if (!endpoint_.check_room(std::max(size, kLabel)).ok()) return;
    const Payload payload = workload_.ledger().broadcast(vnode, size);
    PHX_CHECK(endpoint_.broadcast(vnode, state.broadcasts, payload).ok());
    ++state.broadcasts;
  }
}

void Process::send_ordered(VnodeId vnode) {
  const std::size_t size = std::max(workload_.options().message_bytes, kLabel);
  while (const auto to = workload_.next_order(vnode)) {
    if (!endpoint_.check_room(vnode, *to, size).ok()) return;
    const Payload payload = workload_.ledger().send(vnode, *to, size);
    PHX_CHECK(endpoint_.send(vnode, *to, 0, payload).ok());
    workload_.on_order_sent(vnode);
  }
}

// --- Reductions --------------------------------------------------------------------------------

void Process::reduce(VnodeId vnode, State& state) {
  const auto& options = workload_.options();
  if (state.waits) await_result(vnode, state, workload_.round(state.round));
  if (state.waits || state.round >= options.reductions || !rng_.chance(options.send_chance)) return;
  contribute(vnode, state, workload_.round(state.round));
}

void Process::contribute(VnodeId vnode, State& state, const Round& round) {
  const runtime::ContributionPart part{round.kind, workload_.contribution(round, vnode), 0};
  const auto made = endpoint_.contribute(vnode, round.target, part);
  if (!made.ok() && made.error().code == ErrorCode::kLimit) return;  // in another turn
  PHX_CHECK(made.ok());
  if (!round.kind.to_all && vnode != round.target) {
    ++state.round;
    return;
  }
  workload_.ledger().awaits();
  state.waits = true;
  state.results = 0;
  state.offset = 0;
  state.is_right = true;
  state.first = made.value().first;
  state.pieces = made.value().pieces;
}

void Process::await_result(VnodeId vnode, State& state, const Round& round) {
  const bool is_user = round.kind.op == ReduceOp::kUser;
  if (is_user && vnode == round.target) fold_user_values(vnode, state, round);
  const bool is_folded = is_user && !round.kind.to_all;  // Checked where it was folded.
  while (state.results < state.pieces) {
    Endpoint::Selector wanted;
    wanted.at = vnode;
    wanted.kind = round.kind.to_all ? Message::Kind::kAllreduced : Message::Kind::kReduced;
    wanted.from = round.target;
    wanted.number = state.first + state.results;
    const auto taken = endpoint_.take(wanted);
    if (!taken) return;
    ++state.results;
    if (!is_folded) {
      check_piece(state, round, taken->second.payload);
      continue;
    }
    Bytes folded;
    for (const Payload& value : runtime::split_user_values(taken->second.payload)) {
      folded.insert(folded.end(), value.bytes().begin(), value.bytes().end());
    }
    check_piece(state, round, Payload(std::move(folded)));
  }
  const bool is_whole = state.offset == workload_.expected(round).size();
  workload_.ledger().reduced(vnode, round.number, state.is_right && is_whole);
  state.waits = false;
  ++state.round;
  state.digest = mixed(state.digest, round.number);
}

/// The target of a user-defined allreduce puts the values together and tells everybody.
void Process::fold_user_values(VnodeId vnode, const State& state, const Round& round) {
  if (!round.kind.to_all) return;
  Endpoint::Selector wanted;
  wanted.at = vnode;
  wanted.kind = Message::Kind::kReduced;
  wanted.from = round.target;
  wanted.number = state.first;
  const auto taken = endpoint_.take(wanted);
  if (!taken) return;
  Bytes folded;
  for (const Payload& value : runtime::split_user_values(taken->second.payload)) {
    folded.insert(folded.end(), value.bytes().begin(), value.bytes().end());
  }
  PHX_CHECK(endpoint_.announce(vnode, state.first, Payload(std::move(folded))).ok());
}

void Process::check_piece(State& state, const Round& round, const Payload& piece) {
  const Payload& expected = workload_.expected(round);
  const bool fits = state.offset + piece.size() <= expected.size();
  state.is_right = state.is_right && fits &&
                   expected.slice(static_cast<std::size_t>(state.offset), piece.size()) == piece;
  state.offset += piece.size();
}

// --- Moves -------------------------------------------------------------------------------------

/// Stands for all bytes of a packed state.
std::uint64_t Process::mark_of(const Payload& packed) {
  std::uint64_t result = packed.size();
  for (const std::byte byte : packed.bytes()) {
    constexpr std::uint64_t kPrime = 1099511628211U;
    result = (result ^ std::to_integer<std::uint64_t>(byte)) * kPrime;
  }
  return result;
}

Payload Process::pack(VnodeId vnode, const State& state) {
  static_assert(std::is_trivially_copyable_v<State>);
  const WorkloadOptions& options = workload_.options();
  const std::size_t padding = options.state_of
                                  ? options.state_of(vnode)
                                  : static_cast<std::size_t>(rng_.below(options.state_bytes + 1));
  Bytes bytes(sizeof(State) + padding);
  std::memcpy(bytes.data(), &state, sizeof(State));
  Pattern(mixed(state.digest, vnode.value)).write(std::span(bytes).subspan(sizeof(State)));
  return Payload(std::move(bytes));
}

void Process::pass_safe_point() {
  const runtime::SafePoint point = endpoint_.begin_safe_point(endpoint_.due());
  std::map<VnodeId, Payload> packed;
  for (const VnodeId vnode : point.departing.ids()) {
    const auto found = states_.find(vnode);
    PHX_CHECK(found != states_.end());
    packed[vnode] = pack(vnode, found->second);
    workload_.ledger().packed(vnode, at_, mark_of(packed[vnode]));
    states_.erase(found);
    if (released_.contains(vnode)) workload_.orphaned(vnode);
  }
  released_ = released_.minus(point.departing);
  for (const runtime::Arrival& arrival : point.arriving) {
    State state;
    std::optional<std::uint64_t> mark;
    if (arrival.state && arrival.state->size() >= sizeof(State)) {
      std::memcpy(&state, arrival.state->bytes().data(), sizeof(State));
      mark = mark_of(*arrival.state);
    }
    workload_.ledger().installed(arrival.vnode, at_, mark);
    workload_.adopted(arrival.vnode);
    states_[arrival.vnode] = state;
  }
  endpoint_.finish_safe_point(std::move(packed));
}

/// Any process may find that released vnodes have no holder, and asks for them now and then.
void Process::adopt_orphans(Instant now) {
  constexpr Duration kPatience = 50ms;
  constexpr double kWilling = 0.1;
  (void)endpoint_.take_refusals();
  if (workload_.orphans().empty() || endpoint_.retired()) return;
  if (now - adopted_at_ < kPatience || !rng_.chance(kWilling)) return;
  adopted_at_ = now;
  endpoint_.assume(workload_.orphans().minus(endpoint_.next_arrivals()));
}

}  // namespace phx::sim
