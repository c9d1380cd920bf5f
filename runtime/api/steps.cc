#include "runtime/api/steps.h"

#include <algorithm>
#include <string>

#include "collectives/reduce_op.h"
#include "runtime/api/reader.h"
#include "runtime/api/values.h"
#include "runtime/api/writer.h"
#include "runtime/messages/parcels.h"

namespace phx {
namespace {

using runtime::Endpoint;

/// The reductions of the votes go to this vnode, like those of allreduce.
constexpr VnodeId kTarget{0};
constexpr std::uint64_t kStepsBetweenVotesMax = 1000;
/// In a gathering whoever wants what this process has given up asks for it within so much, and so
/// many steps: others may be that far behind.
constexpr Duration kPatience = 2s;
constexpr int kPatienceSteps = 10;

Failure too_large(VnodeId vnode, std::size_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  return Failure(ErrorCode::kLimit, "safe point: the state of " + to_string(vnode) + " has " +
                                        std::to_string((bytes + kMiB - 1) / kMiB) +
                                        " MiB, and at most " +
                                        std::to_string(runtime::kVnodeBytesMax / kMiB) +
                                        " MiB can move; cut the work into more vnodes")
      .about({vnode.value});
}

}  // namespace

void Steps::add_state(VnodeState state) {
  if (has_begun_) {
    throw Failure(ErrorCode::kBadInput,
                  "add_state: this process has passed a safe point, so there are vnodes that "
                  "do not have that state; make phx::Objects before the first safe point");
  }
  states_.push_back(std::move(state));
}

bool Steps::is_over(const Endpoint& endpoint) {
  if (endpoint.ended() && endpoint.ended()->code == 0) return true;
  return endpoint.retired() && endpoint.held().empty() && endpoint.next_arrivals().empty();
}

bool Steps::pass() {
  if (engine_.query(&is_over)) return false;
  throw_refusal();
  if (!in_step_) return gather();
  ++passed_;
  if (is_voting_) {
    if (collect(false) == Woken::kOver) return false;
    if (result_.wants_to_move != 0) return gather();
    begin_round();
  }
  if (left_ > 0) {
    --left_;
    return true;
  }
  const bool wants_to_move = engine_.query([this](const Endpoint& endpoint) {
    return is_move_due(endpoint) || !endpoint.departing().empty();
  });
  const VnodeSet held = engine_.query([](const Endpoint& endpoint) { return endpoint.held(); });
  cast(held, {wants_to_move ? 1U : 0U, step_us()});
  return true;
}

/// A vnode may leave until it has taken part in the gathering's reduction, and takes part as soon
/// as it has arrived. So when the reduction is complete, everybody is where it belongs.
bool Steps::gather() {
  const Handlers::Rest rest(handlers_);
  const auto begin = std::chrono::steady_clock::now();
  const bool holds_others_up = in_step_;  // Else the program has not begun.
  if (!gathering_) {
    is_voting_ = in_step_ = false;
    offered_ = {};
  }
  VnodeSet& taking_part = gathering_ ? *gathering_ : gathering_.emplace();
  const std::uint64_t pace = step_us();
  Woken woken = Woken::kMove;
  while (woken == Woken::kMove) {
    await_handlers();
    move(&taking_part);
    const VnodeSet held = engine_.query([](const Endpoint& endpoint) { return endpoint.held(); });
    cast(held.minus(taking_part), {0, pace});
    taking_part = held;
    woken = collect(true);
  }
  gathering_.reset();
  if (woken == Woken::kOver) return false;
  begin_round();
  in_step_ = true;
  if (holds_others_up) report_pause(begin);
  return true;
}

/// Of other threads, if there are some.
void Steps::await_handlers() {
  const auto look = [this](Endpoint&) -> std::optional<bool> {
    return handlers_.begin_move() ? std::optional(true) : std::nullopt;
  };
  engine_.await({kForever, [] { return std::string("handlers of other threads"); }}, look);
}

void Steps::report_pause(std::chrono::steady_clock::time_point begin) {
  engine_.report(
      [&](Report& report) { report.on_pause(begin, std::chrono::steady_clock::now() - begin); });
}

void Steps::cast(const VnodeSet& vnodes, const Ballot& ballot) {
  if (vnodes.empty()) return;
  is_voting_ = true;
  const Payload value = encode(ballot);
  engine_.call([&](Endpoint& endpoint) {
    for (const VnodeId vnode : vnodes.ids()) {
      const auto made = value_or_throw(
          endpoint.contribute(vnode, kTarget, {collectives::kSafePoint, value, 0, true}));
      vote_.emplace_back(vnode, made.first);
      reserved_.add(runtime::Message::Kind::kAllreduced, vnode, kTarget, made.first, made.pieces);
    }
  });
}

/// Those of the vote that have come.
void Steps::take_results(Endpoint& endpoint) {
  while (!vote_.empty()) {
    const auto [vnode, number] = vote_.back();
    const auto taken = endpoint.take({.at = vnode,
                                      .kind = runtime::Message::Kind::kAllreduced,
                                      .from = kTarget,
                                      .number = number});
    if (!taken) return;
    reserved_.remove(taken->second.kind, vnode, kTarget, number);
    result_ = decode<Ballot>(taken->second.payload);
    vote_.pop_back();
  }
}

/// Waits for the results of the vote, which are all the same. If this process takes no part: for
/// arrivals. In a gathering (`movable`) what the program has given up comes back if nobody takes
/// it: whoever asked for it may have been told to leave, and all others would wait for ever.
Steps::Woken Steps::collect(bool movable) {
  const auto look = [&](Endpoint& endpoint) -> std::optional<Woken> {
    take_results(endpoint);
    if (movable && !endpoint.next_arrivals().empty()) return Woken::kMove;
    if (is_voting_ && vote_.empty()) return Woken::kDone;
    if (is_over(endpoint)) return Woken::kOver;
    // Everybody may be waiting here for a vnode that the program would ask for again.
    if (movable && endpoint.is_refused()) return Woken::kRefused;
    if (!is_voting_) return std::nullopt;
    // Broadcasts of the same vnode may be in front of the result.
    const Status more =
        endpoint.want({.kind = runtime::Message::Kind::kAllreduced, .from = kTarget});
    if (!more.ok()) throw Failure(more.error());
    return std::nullopt;
  };
  using std::chrono::steady_clock;
  const Duration timeout = engine_.options().timeout;
  const auto begin = steady_clock::now();
  while (true) {
    const auto now = steady_clock::now();
    const Duration rest = std::max<Duration>(timeout - (now - begin), Duration{});
    const bool may_reclaim = movable && !offered_.empty();
    const Duration left =
        may_reclaim ? std::clamp<Duration>(reclaim_at_ - now, Duration{}, rest) : rest;
    const auto woken = engine_.await({left, [] { return std::string("safe point"); }}, look);
    if (woken == Woken::kRefused) {
      throw_refusal();
    } else if (woken) {
      return *woken;
    } else if (left == rest) {
      break;
    } else {
      reclaim();
    }
  }
  throw Failure(ErrorCode::kTimeout,
                "safe point: not all vnodes have reached it within " + spell(timeout));
}

void Steps::reclaim() {
  engine_.call([this](Endpoint& endpoint) {
    reclaimed_ = reclaimed_.united(offered_);
    endpoint.assume(offered_);
  });
  reclaim_at_ = std::chrono::steady_clock::now() + kPatience;
}

void Steps::begin_round() {
  is_voting_ = false;
  const auto period_us = static_cast<std::uint64_t>(kVotePeriod / 1us);
  left_ = std::min(period_us / std::max<std::uint64_t>(result_.step_us, 1), kStepsBetweenVotesMax);
  passed_ = 0;
  round_begin_ = std::chrono::steady_clock::now();
}

std::uint64_t Steps::step_us() const {
  if (passed_ == 0) return static_cast<std::uint64_t>(kVotePeriod / 1us);
  const auto elapsed = std::chrono::steady_clock::now() - round_begin_;
  return static_cast<std::uint64_t>(elapsed / std::chrono::microseconds(1)) / passed_;
}

bool Steps::pass_alone() {
  const Handlers::Rest rest(handlers_);
  has_begun_ = true;
  throw_refusal();
  engine_.call([](Endpoint&) {});  // Throws if the job has failed.
  bool is_held_up = false;         // By handlers of other threads.
  const auto look = [&](Endpoint& endpoint) -> std::optional<Woken> {
    const auto turn = handlers_.turn(is_move_due(endpoint));
    if (turn == Handlers::Turn::kMove) return Woken::kMove;
    if ((is_held_up = turn == Handlers::Turn::kWait)) return std::nullopt;
    if (!endpoint.held().empty()) return Woken::kDone;
    if (is_over(endpoint)) return Woken::kOver;
    if (endpoint.is_refused()) return Woken::kRefused;
    return std::nullopt;
  };
  const Duration timeout = engine_.options().timeout;
  const auto what = [&] {
    return std::string(is_held_up ? "handlers of other threads" : "a vnode");
  };
  while (true) {
    const auto woken = engine_.await({timeout, what}, look);
    if (!woken && !is_held_up) {
      throw Failure(ErrorCode::kTimeout, "safe point: no vnode for " + spell(timeout));
    }
    if (woken == Woken::kMove) move();
    if (woken == Woken::kRefused) throw_refusal();
    if (woken == Woken::kDone || woken == Woken::kOver) return woken == Woken::kDone;
  }
}

void Steps::move(const VnodeSet* staying) {
  // NOLINTNEXTLINE(cppcoreguidelines-special-member-functions): never leaves this function.
  struct End {
    Steps& steps;
    ~End() {
      steps.handlers_.end_move();
      steps.engine_.wake();  // Other threads may wait for it.
    }
  };
  const End end{*this};
  has_begun_ = true;
  if (!moving_) {
    engine_.call([&](Endpoint& endpoint) {
      const VnodeSet going = staying ? endpoint.departing().minus(*staying) : endpoint.due();
      moving_ = Moving{};
      moving_->point = endpoint.begin_safe_point(going);
    });
  }
  const runtime::SafePoint& point = moving_->point;
  for (; moving_->arrived < point.arriving.size(); ++moving_->arrived) {
    unpack(point.arriving[moving_->arrived], *moving_);
  }
  std::map<VnodeId, Payload>& packed = moving_->packed;
  for (const VnodeId vnode : point.departing.ids()) {
    if (!states_.empty() && !packed.contains(vnode)) pack(vnode, *moving_);
  }
  const auto large = std::ranges::find_if(
      packed, [](const auto& entry) { return entry.second.size() > runtime::kVnodeBytesMax; });
  std::optional<Failure> failure;
  if (large != packed.end()) failure = too_large(large->first, large->second.size());
  engine_.report([&](Report& report) { report_moves(report, point, packed); });
  engine_.call([&](Endpoint& endpoint) {
    if (staying) note_offered(point);
    given_up_ = given_up_.minus(point.departing);
    endpoint.finish_safe_point(std::move(packed));  // Ends the job if one is too large.
    moving_.reset();
  });
  if (failure) throw Failure(*failure).in("safe point", failure->vnode(), engine_.processor());
}

/// Of a gathering, in which everybody waits for what this process gives up.
void Steps::note_offered(const runtime::SafePoint& point) {
  for (const runtime::Arrival& arrival : point.arriving) offered_.erase(arrival.vnode);
  const VnodeSet offered = given_up_.common(point.departing);
  if (offered.empty()) return;
  offered_ = offered_.united(offered);
  reclaimed_ = reclaimed_.minus(offered);
  const auto pace = std::chrono::microseconds(step_us());
  reclaim_at_ = std::chrono::steady_clock::now() + kPatience + kPatienceSteps * pace;
}

void Steps::report_moves(Report& report, const runtime::SafePoint& point,
                         const std::map<VnodeId, Payload>& packed) {
  const auto now = std::chrono::steady_clock::now();
  VnodeSet begun;
  VnodeSet came;
  std::uint64_t came_bytes = 0;
  std::uint64_t left_bytes = 0;
  for (const runtime::Arrival& arrival : point.arriving) {
    (arrival.state ? came : begun).insert(arrival.vnode);
    came_bytes += arrival.state ? arrival.state->size() : 0;
  }
  for (const auto& [vnode, state] : packed) left_bytes += state.size();
  report.on_begun(now, begun);
  report.on_came(now, came, came_bytes);
  report.on_left(now, point.departing, left_bytes);
}

std::optional<Failure> Steps::take_refusal(Endpoint& endpoint) const {
  std::string text = "assume:";
  VnodeSet all;
  for (const auto& refusal : endpoint.take_refusals()) {
    const VnodeSet refused = refusal.vnodes.minus(reclaimed_);
    if (refused.empty()) continue;
    text += (all.empty() ? " v" : "; v") + to_string(refused) + " refused, " + refusal.why;
    all = all.united(refused);
  }
  if (all.empty()) return std::nullopt;
  std::vector<Vnode> vnodes;
  for (const VnodeId v : all.ids()) vnodes.push_back(v.value);
  return Failure(ErrorCode::kDenied, text + "; ask again after their release")
      .in("assume", {}, engine_.processor())
      .about(std::move(vnodes));
}

void Steps::throw_refusal() {
  if (!engine_.query([](const Endpoint& endpoint) { return endpoint.is_refused(); })) return;
  const auto refusal = engine_.call([&](Endpoint& endpoint) { return take_refusal(endpoint); });
  if (refusal) throw Failure(*refusal);
}

/// State by state, so that a callback that has returned is not called again for the vnode.
void Steps::pack(VnodeId vnode, Moving& moving) const {
  std::vector<Payload>& parts = moving.parts;
  while (parts.size() < states_.size()) {
    parts.push_back(states_[parts.size()].depart(vnode.value));
  }
  Payload& packed = moving.packed[vnode];
  if (parts.size() == 1) {
    packed = std::move(parts.front());
  } else {
    Writer out;
    for (const Payload& part : parts) out(std::string(part.text()));
    packed = Payload(out.take());
  }
  parts.clear();
}

void Steps::unpack(const runtime::Arrival& arrival, Moving& moving) const {
  const bool is_in_parts = states_.size() > 1 && arrival.state;
  Reader in(is_in_parts ? arrival.state->bytes() : std::span<const std::byte>());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::optional<Payload> state = arrival.state;
    if (is_in_parts) {
      std::string part;
      in(part);
      state = Payload::copy_of(part);
    }
    if (i < moving.arrived_states) continue;
    states_[i].arrive(arrival.vnode.value, state);
    ++moving.arrived_states;
  }
  moving.arrived_states = 0;
}

}  // namespace phx
