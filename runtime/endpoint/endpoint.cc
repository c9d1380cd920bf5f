#include "runtime/endpoint/endpoint.h"

#include <algorithm>
#include <bit>
#include <variant>

#include "collectives/reduce_op.h"
#include "overlay/base/check.h"
#include "runtime/messages/parcels.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {
namespace {

using collectives::BroadcastPiece;
using collectives::ReduceOp;
using collectives::ReductionToken;

/// Of a contribution whose value has no elements between which it may be cut: as long as a message
/// of a link may be.
constexpr std::size_t kUncutMax = std::size_t{1} << 30U;

/// Of an allreduce that this process takes part in others may still want the result.
auto wanted_by_others(const Contributions& contributions) {
  return [&contributions](VnodeId target) { return contributions.keeps_for_all(target, target); };
}

/// Calls `emit(piece, rest)` for consecutive pieces of at most `limit` bytes; at least once.
/// `rest`: the bytes behind the piece.
template <class Emit>
void cut(const Payload& whole, std::size_t limit, Emit emit) {
  std::size_t offset = 0;
  do {
    const std::size_t size = std::min(limit, whole.size() - offset);
    offset += size;
    emit(whole.slice(offset - size, size), std::uint64_t{whole.size() - offset});
  } while (offset < whole.size());
}

std::uint64_t payload_bytes(const Delivery& delivery) {
  if (const auto* p = std::get_if<PointToPoint>(&delivery)) return p->payload.size();
  if (const auto* b = std::get_if<BroadcastDelivery>(&delivery)) return b->piece.payload.size();
  const auto* token = std::get_if<ReductionToken>(&delivery);
  if (token == nullptr) return 0;
  std::uint64_t bytes = 0;
  for (const auto& part : token->parts) bytes += part.value.size();
  return bytes;
}

VnodeSet all_of(const Holdings& holdings) {
  return holdings.held().united(holdings.arriving());
}

}  // namespace

Endpoint::Endpoint(const EndpointConfig& config)
    : config_(config),
      holdings_(config.inflows, config.room),
      outflows_(config.inflows.unasked_bytes),
      casts_(config.inflows),
      kept_news_(config.kept_worth_telling),
      contributions_(config.contributions),
      targets_(config.contributions) {}

// --- Inputs ----------------------------------------------------------------------------------

void Endpoint::on_time(Instant now) {
  departing_.on_time(now);
  holdings_.on_time(now);
  casts_.on_time(now, outputs_);
}

void Endpoint::on_message(ToApplication message) {
  if (ended_) return;
  std::visit([this](auto& m) { handle(m); }, message);
}

std::vector<ToDaemon> Endpoint::take_outputs() {
  if (holdings_.has_credits() || targets_.has_credits()) emit_credits();
  if (kept_news_.has_news(outflows_, casts_)) {
    if (auto news = kept_news_.take(outflows_, casts_, all_of(holdings_)))
      outputs_.push_back(std::move(*news));
  }
  if (contributions_.has_tokens()) {
    for (ReductionToken& token : contributions_.take_tokens()) {
      outputs_.push_back(AppContribute{std::move(token)});
    }
  }
  return room_.take_from(outputs_);
}

void Endpoint::handle(AppAttached& m) {
  targets_.set_total(m.vnodes);
  casts_.set_total(m.vnodes);
  contributions_.on_line(m.line);
  config_.take(m.cast_cut);
  attached_ = std::move(m);
}

void Endpoint::handle(AppGrant& m) {
  const bool is_closed = holdings_.is_closed();
  VnodeSet asking;
  for (VnodeParcel& parcel : m.parcels) {
    // Under the same line nobody has died on the way of anything that it has sent. A program that
    // is done waits for answers that no other event would bring.
    if (is_closed || parcel.bundle.line != contributions_.line()) asking.insert(parcel.vnode);
    contributions_.add(parcel.vnode, std::exchange(parcel.bundle.to_targets, {}));
    targets_.add(parcel.vnode, std::exchange(parcel.bundle.as_target, {}));
    outflows_.add(parcel.vnode, std::exchange(parcel.bundle.to_vnodes, {}));
    casts_.add(parcel.vnode, std::exchange(parcel.bundle.casting, {}));
    holdings_.add(std::move(parcel));
  }
  asked_at_ = 0;  // Nobody was asked for what came along.
  ask(asking, {.is_lost = true});
  if (!is_closed) return;
  targets_.close(wanted_by_others(contributions_));
  ask_targets({});
}

void Endpoint::handle(AppDeliver& m) {
  received_ = m.seq;
  unacknowledged_bytes_ += payload_bytes(m.delivery);
  deliver(m.delivery);
  const bool due = received_ - acknowledged_ >= config_.ack_deliveries ||
                   unacknowledged_bytes_ >= config_.ack_bytes;
  if (due) acknowledge();
}

void Endpoint::deliver(const Delivery& delivery) {
  if (const auto* credit = std::get_if<FlowCredit>(&delivery)) return on_credit(*credit);
  const auto* cast_credit = std::get_if<CastCredit>(&delivery);
  if (cast_credit != nullptr) return casts_.on_credit(*cast_credit, outputs_);
  const auto* question = std::get_if<FlowQuestion>(&delivery);
  if (question != nullptr && question->reductions > 0) return targets_.on_question(*question);
  Holdings::Outcome outcome;
  // It completes no reduction.
  if (std::holds_alternative<PointToPoint>(delivery)) return holdings_.deliver(delivery, outcome);
  if (const auto* token = std::get_if<ReductionToken>(&delivery)) {
    targets_.on_token(*token);
  } else {
    holdings_.deliver(delivery, outcome);
  }
  settle(outcome);
}

/// Processors have died: what was on its way, in either direction, may be lost.
void Endpoint::handle(const AppRepair& m) {
  ask(all_of(holdings_), {.is_lost = true});
  contributions_.on_line(m.line);
  ask_targets({});
}

void Endpoint::handle(const AppRelease& m) {
  departing_.add(m.vnodes.common(held()));
  // What is known to have arrived need not move with them. To ask about little would cost more.
  ask(m.vnodes, {.least = config_.worth_asking});
  const VnodeSet passing = m.vnodes.common(next_arrivals());
  if (passing.empty()) return;
  std::vector<std::pair<VnodeId, VnodeBundle>> bundles;
  for (const VnodeId vnode : passing.ids()) {
    bundles.emplace_back(vnode, pack(vnode));
  }
  emit_released(std::move(bundles));
}

void Endpoint::handle(AppEnd& m) {
  ended_ = std::move(m);
}

void Endpoint::settle(Holdings::Outcome& outcome) {
  for (const Holdings::Completed& told : outcome.completed) {
    contributions_.on_complete(told.vnode, told.target, told.below);
  }
  std::string misuse;
  for (Targets::Reduced& reduced : targets_.take_reduced()) {
    if (std::string wrong = settle(reduced); misuse.empty()) misuse = std::move(wrong);
  }
  for (const auto& [target, number] : targets_.take_news()) {
    emit_broadcast(
        {target, 0, static_cast<std::uint32_t>(number), collectives::Purpose::kReduced, 0, {}}, {});
  }
  if (!misuse.empty()) abort(1, std::move(misuse));
}

/// Returns what is wrong with it.
std::string Endpoint::settle(Targets::Reduced& reduced) {
  const auto [target, number] = reduced.id;
  const collectives::ReductionKind kind = reduced.value.kind();
  const bool is_user = collectives::is_bundled(kind.op);
  Result<Payload> value = is_user ? join_user_values(reduced.value) : reduced.value.value();
  if (!value.ok()) {
    return "reduction " + std::to_string(number) + " towards " + to_string(target) + ": " +
           value.error().what;
  }
  if (kind.to_all && !is_user) {
    const Status announced = announce(target, number, value.value());
    PHX_CHECK(announced.ok() || ended_);
  } else {
    holdings_.put(target, {Message::Kind::kReduced, target, number, 0, std::move(value).value()});
  }
  return {};
}

// --- Commands --------------------------------------------------------------------------------

Status Endpoint::check_use(VnodeId mine, VnodeId other) const {
  if (ended_) return Error{ErrorCode::kUnavailable, "the job is over: " + ended_->reason};
  for (const VnodeId one : {mine, other}) {
    if (one.value < vnodes()) continue;
    return Error{ErrorCode::kBadInput, "there is no " + to_string(one) + ": the job has " +
                                           std::to_string(vnodes()) + " vnodes"};
  }
  if (!holdings_.has(mine)) {
    return Error{
        ErrorCode::kBadInput,
        to_string(mine) + " is not held by this process, which holds " + to_string(held())};
  }
  return success();
}

std::optional<Received> Endpoint::take(const Selector& wanted) {
  return holdings_.take(wanted);
}

std::vector<Received> Endpoint::take_if(const Accepts& accepts, std::uint64_t since) {
  return holdings_.take_if(accepts, since);
}

/// Within one process the daemon is not needed, unless something is still on its way from a time
/// when `to` was elsewhere.
bool Endpoint::is_near_to(VnodeId from, VnodeId to) const {
  return holdings_.has(to) && outflows_.is_all_received(from, to);
}

Status Endpoint::check_room(VnodeId from, VnodeId to, std::uint64_t bytes) {
  if (!is_near_to(from, to)) return check_room(bytes);
  const std::uint64_t waiting = holdings_.bytes();
  if (waiting == 0 || waiting + bytes <= config_.inflows.inbox_bytes_max) return success();
  return Error{ErrorCode::kLimit,
               std::to_string(waiting >> 20U) + " MiB wait to be received by this process"};
}

Status Endpoint::check_room(std::uint64_t bytes) {
  const std::uint64_t waiting = outflows_.kept_bytes() + casts_.kept_bytes();
  // Whatever its size, a message passes if nothing else waits.
  if (waiting == 0 || waiting + bytes <= config_.outbox_bytes_max) return success();
  ask_for_room();
  return Error{ErrorCode::kLimit, slowest()};
}

/// Whoever can make room is asked, and not again before more is kept, or some of it is forgotten.
void Endpoint::ask_for_room() {
  const std::uint64_t kept = kept_bytes();
  if (std::exchange(asked_at_, kept) == kept) return;
  ask(all_of(holdings_), {.once = true});
  ask_targets({.once = true});
}

Status Endpoint::send(VnodeId from, VnodeId to, std::uint32_t tag, const Payload& payload) {
  if (Status status = check_use(from, to); !status.ok()) return status;
  if (Status status = check_room(from, to, payload.size()); !status.ok()) return status;
  if (is_near_to(from, to)) {
    PointToPoint message{from, to, 0, tag, 0, payload};
    message.seq = outflows_.pass(message);
    if (message.seq != kFlowClosed) holdings_.pass(message);
    return success();
  }
  asked_at_ = 0;
  Outflows::Pieces pieces = outflows_.room().take();
  cut(payload, config_.piece_bytes, [&](Payload piece, std::uint64_t rest) {
    outflows_.push({from, to, 0, tag, rest, std::move(piece)}, pieces);
  });
  emit(std::move(pieces));
  return success();
}

void Endpoint::emit(Outflows::Pieces&& pieces) {
  for (PointToPoint& piece : pieces) outputs_.push_back(AppSend{std::move(piece)});
  outflows_.room().give_back(std::move(pieces));
  for (const FlowQuestion& question : outflows_.take_questions()) {
    outputs_.push_back(AppFlow{question});
  }
}

void Endpoint::on_credit(const FlowCredit& credit) {
  Outflows::Pieces pieces = outflows_.room().take();
  outflows_.on_credit(credit, pieces);
  emit(std::move(pieces));
  // What one vnode hears holds for all of this process.
  if (credit.reduced > 0) contributions_.on_complete(credit.to, credit.reduced);
}

/// Credit for sources in this process needs no daemon.
void Endpoint::emit_credits() {
  for (CastCredit& credit : holdings_.take_cast_credits()) {
    if (holdings_.has(credit.root)) {
      casts_.on_credit(credit, outputs_);
    } else {
      outputs_.push_back(AppFlow{std::move(credit)});
    }
  }
  std::vector<FlowCredit> credits = holdings_.take_credits();
  for (const FlowCredit& credit : targets_.take_credits()) credits.push_back(credit);
  for (const FlowCredit& credit : credits) {
    if (holdings_.has(credit.from)) {
      on_credit(credit);
    } else {
      outputs_.push_back(AppFlow{credit});
    }
  }
}

void Endpoint::ask(const VnodeSet& sources, const Asking& how) {
  std::vector<FlowQuestion> questions;
  outflows_.ask(sources, how, questions);
  for (const FlowQuestion& question : questions) outputs_.push_back(AppFlow{question});
  casts_.ask(sources, how, outputs_);
}

void Endpoint::ask(VnodeId from, VnodeId to) {
  if (const auto question = outflows_.ask(from, to)) outputs_.push_back(AppFlow{*question});
}

void Endpoint::ask_targets(const Asking& how) {
  for (const FlowQuestion& question : contributions_.ask(how)) {
    outputs_.push_back(AppFlow{question});
  }
}

/// Flows that could bring such messages go on beyond their windows.
Status Endpoint::want(const Selector& wanted) {
  if (holdings_.want(wanted)) return success();
  return Error{ErrorCode::kLimit, std::to_string(holdings_.bytes() >> 20U) +
                                      " MiB of other messages wait in this process; more may with "
                                      "Options::receive_bytes_max (PHOENIX_RECEIVE_BYTES)"};
}

void Endpoint::close() {
  holdings_.close();
  targets_.close(wanted_by_others(contributions_));
  outputs_.push_back(AppClosing{});
  ask(all_of(holdings_), {});
  ask_targets({});
}

void Endpoint::finish() {
  targets_.finish();
  emit_credits();
  outputs_.push_back(AppFinish{});
}

std::uint64_t Endpoint::kept_bytes() const {
  return outflows_.kept_bytes() + casts_.kept_bytes() + contributions_.kept_bytes();
}

std::string Endpoint::unsettled() const {
  const std::uint64_t flows = std::max(outflows_.kept_bytes(), casts_.kept_bytes());
  return contributions_.kept_bytes() > flows ? contributions_.slowest() : slowest();
}

std::string Endpoint::slowest() const {
  const bool is_cast = casts_.kept_bytes() > outflows_.kept_bytes();
  return is_cast ? casts_.slowest() : outflows_.slowest();
}

VnodeBundle Endpoint::pack(VnodeId vnode) {
  VnodeBundle bundle = holdings_.remove(vnode);
  bundle.line = contributions_.line();
  bundle.to_vnodes = outflows_.remove(vnode);
  bundle.casting = casts_.remove(vnode);
  bundle.to_targets = contributions_.remove(vnode);
  bundle.as_target = targets_.remove(vnode);
  return bundle;
}

void Endpoint::emit_broadcast(BroadcastPiece piece, const Payload& payload) {
  asked_at_ = 0;
  // A stream that waits here is as long as what waits.
  piece.size = size_class(payload.size() + casts_.waiting_bytes(piece.root));
  const std::size_t most = config_.broadcast_piece(payload.size(), vnodes());
  cut(payload, most, [&](Payload part, std::uint64_t rest) {
    piece.rest_bits = static_cast<std::uint8_t>(std::bit_width(rest));
    piece.payload = std::move(part);
    casts_.push(piece, outputs_);
  });
  // The result of a reduction that completed late: when this process was done it asked all, but
  // not about this.
  if (holdings_.is_closed()) casts_.ask(VnodeSet{piece.root}, {}, outputs_);
}

Status Endpoint::broadcast(VnodeId root, std::uint32_t tag, const Payload& payload) {
  if (Status status = check_use(root, root); !status.ok()) return status;
  if (Status status = check_room(payload.size()); !status.ok()) return status;
  emit_broadcast({root, 0, tag, collectives::Purpose::kApplication, 0, {}}, payload);
  return success();
}

Status Endpoint::announce(VnodeId target, std::uint64_t number, const Payload& value) {
  if (Status status = check_use(target, target); !status.ok()) return status;
  // The receivers know the high bits: see Holdings.
  emit_broadcast(
      {target, 0, static_cast<std::uint32_t>(number), collectives::Purpose::kAllreduce, 0, {}},
      value);
  targets_.on_told({target, number});
  return success();
}

Result<Contribution> Endpoint::contribute(VnodeId vnode, VnodeId target,
                                          const ContributionPart& part) {
  if (Status status = check_use(vnode, target); !status.ok()) return status.error();
  if (Status status = collectives::check_value(part.kind, part.value); !status.ok()) {
    return status.error();
  }
  const bool is_user = collectives::is_bundled(part.kind.op);
  std::size_t element = collectives::element_size(part.kind.type);
  if (element == 0) element = part.element_bytes != 0 ? part.element_bytes : part.value.size();
  // All values of a user-defined reduction travel side by side, so each is cut smaller.
  // Long values go along the trees of long broadcasts, so they are cut as these.
  std::size_t limit =
      is_user ? config_.piece_bytes : config_.cast_piece(part.value.size(), vnodes());
  if (is_user) limit /= static_cast<std::size_t>(std::min<std::uint64_t>(vnodes(), limit));
  limit = std::max(limit - limit % std::max<std::size_t>(element, 1), element);
  if (std::min(limit, part.value.size()) > kUncutMax) {
    return Error{ErrorCode::kBadInput,
                 "a value of " + std::to_string(part.value.size()) +
                     " bytes, which is cut nowhere, is too long for a reduction: at most " +
                     std::to_string(kUncutMax) + " bytes"};
  }
  std::uint64_t& next = holdings_.bundle(vnode).reductions[target];
  // Whoever is behind others of this process lets them go on, so it is never refused.
  const std::uint64_t kept = kept_bytes();
  const bool may_be_refused =
      kept > 0 && !part.always && !contributions_.is_following({target, next});
  if (may_be_refused && kept + part.value.size() > config_.outbox_bytes_max) {
    ask_for_room();
    return Error{ErrorCode::kLimit, unsettled()};
  }
  asked_at_ = 0;
  Contribution contribution{next, 0};
  const SizeClass size = size_class(part.value.size());
  collectives::ReductionKind kind = part.kind;
  kind.whole_bytes = part.value.size() > limit ? part.value.size() : 0;
  cut(part.value, std::max<std::size_t>(limit, 1), [&](Payload piece, std::uint64_t) {
    contributions_.push(vnode, {target, next++}, {kind, std::move(piece), size});
    ++contribution.pieces;
  });
  return contribution;
}

void Endpoint::acknowledge() {
  if (received_ == acknowledged_) return;
  acknowledged_ = received_;
  unacknowledged_bytes_ = 0;
  outputs_.push_back(AppAck{received_});
}

void Endpoint::release(const VnodeSet& vnodes) {
  departing_.release(vnodes.common(held()));
}

void Endpoint::abort(std::int32_t code, std::string reason) {
  outputs_.push_back(AppFinish{true, code, std::move(reason)});
}

// --- Safe points -----------------------------------------------------------------------------

SafePoint Endpoint::begin_safe_point(const VnodeSet& going) {
  PHX_CHECK(!packing_);
  SafePoint point;
  point.departing = going.common(departing()).minus(immovable(outflows_, casts_, departing()));
  for (const VnodeId vnode : next_arrivals().ids()) {
    point.arriving.push_back({vnode, std::exchange(holdings_.bundle(vnode).state, {})});
  }
  holdings_.install();
  packing_ = point.departing;
  return point;
}

void Endpoint::finish_safe_point(std::map<VnodeId, Payload> states) {
  PHX_CHECK(packing_);
  const VnodeSet leaving = *std::exchange(packing_, {});
  departing_.remove(leaving);
  if (leaving.empty()) return;
  std::vector<std::pair<VnodeId, VnodeBundle>> bundles;
  for (const VnodeId vnode : leaving.ids()) {
    bundles.emplace_back(vnode, pack(vnode));
    const auto state = states.find(vnode);
    if (state != states.end()) bundles.back().second.state = std::move(state->second);
  }
  emit_released(std::move(bundles));
}

/// In several messages if there is much of it, because frames have a limit.
void Endpoint::emit_released(std::vector<std::pair<VnodeId, VnodeBundle>> bundles) {
  AppReleased released{received_, {}};
  std::uint64_t bytes = 0;
  for (auto& [vnode, bundle] : bundles) {
    // More would not even get to the daemon.
    if (std::string why = why_immovable(vnode, bundle); !why.empty()) {
      abort(1, std::move(why));
      return;
    }
    const std::uint64_t size = weight_of(bundle).total();
    if (bytes > 0 && bytes + size > kParcelsBytes) {
      outputs_.push_back(std::exchange(released, {received_, {}}));
      bytes = 0;
    }
    bytes += size;
    released.vnodes.emplace_back(vnode, std::move(bundle));
  }
  outputs_.push_back(std::move(released));
}

VnodeSet Endpoint::due() const {
  const VnodeSet due = departing_.due(holdings_);
  return due.empty() ? due : due.minus(immovable(outflows_, casts_, due));
}

bool Endpoint::is_waiting() const {
  return casts_.is_waiting() || due() != departing();
}

void Endpoint::check_invariants() const {
  holdings_.check_invariants();
  outflows_.check_invariants();
  casts_.check_invariants();
  contributions_.check_invariants();
  PHX_CHECK(held().contains_all(departing()));
  PHX_CHECK(acknowledged_ <= received_);
}

}  // namespace phx::runtime
