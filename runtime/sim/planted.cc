#include "runtime/sim/planted.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace phx::sim {

namespace {

/// `second` follows `first` in one message.
bool is_next(const runtime::PointToPoint& first, const runtime::PointToPoint& second) {
  return first.from == second.from && first.to == second.to && first.seq + 1 == second.seq &&
         first.rest == second.payload.size() + second.rest;
}

/// Of three pieces that follow each other, the second and the third: none is the first of all.
void swap_pieces(std::vector<runtime::ToDaemon>& messages) {
  std::vector<runtime::PointToPoint*> pieces;
  for (runtime::ToDaemon& message : messages) {
    auto* sent = std::get_if<runtime::AppSend>(&message);
    if (sent != nullptr) pieces.push_back(&sent->message);
  }
  for (std::size_t i = 2; i < pieces.size(); ++i) {
    runtime::PointToPoint& one = *pieces[i - 1];
    runtime::PointToPoint& other = *pieces[i];
    if (!is_next(*pieces[i - 2], one) || !is_next(one, other)) continue;
    if (one.payload.size() != other.payload.size()) continue;
    return std::swap(one.payload, other.payload);
  }
}

}  // namespace

void Saboteur::on_received(LinkId link, runtime::Frame& frame) {
  if (fault_ == PlantedFault::kIgnoredLine && frame.envelope) {
    auto* message = std::get_if<runtime::CollectiveMessage>(&*frame.envelope);
    auto* token =
        message == nullptr ? nullptr : std::get_if<collectives::ReductionToken>(&message->message);
    if (token != nullptr) token->line = line_ = std::max(line_, token->line);
  }
  if (fault_ != PlantedFault::kNoDuplicateFilter || !frame.envelope || frame.passage) return;
  Shift& shift = shifts_[link.peer];
  if (frame.seq <= shift.taken) {
    ++shift.twice;
  } else {
    shift.taken = frame.seq;
  }
  // To the daemon it is always the next one.
  frame.seq = shift.taken + shift.twice;
}

void Saboteur::on_sent(LinkId link, runtime::Frame& frame) {
  if (fault_ == PlantedFault::kNoDuplicateFilter && !frame.passage) {
    const Shift& shift = shifts_[link.peer];
    // The first frame of a link says how far the peer's envelopes have come: it is made to say that
    // none has, so that all unconfirmed ones come again.
    if (spoken_on_.insert(link).second) frame.received = 0;
    frame.received -= std::min(frame.received, shift.twice);
  }
  if (!frame.envelope) return;
  spoil(*frame.envelope);
  if (fault_ == PlantedFault::kLeakyJobs) leak(*frame.envelope);
  auto* output = std::get_if<runtime::Output>(&*frame.envelope);
  if (fault_ == PlantedFault::kUnnumberedOutput && output != nullptr) output->number = 0;
  if (fault_ != PlantedFault::kWrongChild) return;
  auto* message = std::get_if<runtime::CollectiveMessage>(&*frame.envelope);
  auto* copy = message == nullptr ? nullptr : std::get_if<collectives::TreeCopy>(&message->message);
  if (copy == nullptr) return;
  const Piece piece{copy->piece.root, copy->piece.number};
  if (last_piece_ == piece && last_child_ != link.peer) copy->vnodes = last_vnodes_;
  last_piece_ = piece;
  last_child_ = link.peer;
  last_vnodes_ = copy->vnodes;
}

/// What is not to arrive becomes a message without effect: its number must not be missing.
void Saboteur::spoil(runtime::Envelope& envelope) {
  bool is_lost = false;
  if (fault_ == PlantedFault::kLostParcels) {
    is_lost = std::holds_alternative<runtime::Migrate>(envelope);
  } else if (fault_ == PlantedFault::kNoPulls) {
    is_lost = std::holds_alternative<runtime::Pull>(envelope);
  } else if (auto* tree = std::get_if<overlay::Message>(&envelope)) {
    auto* reply = std::get_if<overlay::ProbeReply>(tree);
    if (fault_ == PlantedFault::kNoTrees && reply != nullptr) reply->adverts.clear();
    is_lost =
        (fault_ == PlantedFault::kNoTrees && std::holds_alternative<overlay::TreeOpen>(*tree)) ||
        (fault_ == PlantedFault::kNoTreeClose &&
         std::holds_alternative<overlay::TreeClose>(*tree)) ||
        (fault_ == PlantedFault::kNoNetwork &&
         std::holds_alternative<overlay::NetworkUpdate>(*tree));
    auto* report = std::get_if<overlay::SurveyReport>(tree);
    if (fault_ == PlantedFault::kUntoldWaits && report != nullptr) report->wait.reset();
  } else if (auto* message = std::get_if<runtime::CollectiveMessage>(&envelope)) {
    const collectives::BroadcastPiece* piece = runtime::copied_piece(*message);
    constexpr std::uint64_t kSome = 16;
    is_lost = fault_ == PlantedFault::kLostCopies && piece != nullptr &&
              (piece->root.value + piece->number) % kSome == 0;
    spoil(message->message);
    // To the target by itself: whoever waits for it on the way waits in vain.
    auto* token = std::get_if<collectives::ReductionToken>(&message->message);
    if (fault_ == PlantedFault::kLongWaits && token != nullptr) {
      envelope = runtime::VnodeMessage{message->job, 0, collectives::ReductionToken(*token)};
      return;
    }
  }
  if (auto* taken = std::get_if<runtime::StateTaken>(&envelope)) {
    using Outcome = runtime::StateTaken::Outcome;
    const bool is_coming = taken->outcome == Outcome::kComing && taken->offer != 0;
    if (fault_ == PlantedFault::kEarlyOwner && is_coming) taken->outcome = Outcome::kWhole;
  }
  if (const auto* part = std::get_if<runtime::StatePiece>(&envelope)) {
    is_lost = (fault_ == PlantedFault::kLostPieces && part->number == 1) ||
              (fault_ == PlantedFault::kEarlyOwner && is_last(*part));
  }
  auto* routed = std::get_if<runtime::VnodeMessage>(&envelope);
  auto* credit = routed == nullptr ? nullptr : std::get_if<runtime::CastCredit>(&routed->delivery);
  if (credit != nullptr) {
    is_lost = fault_ == PlantedFault::kUntoldDrops && credit->again.has_value();
    if (fault_ == PlantedFault::kNoCastCredit) credit->limit = 0;
  }
  if (const auto* flush = std::get_if<runtime::Flush>(&envelope)) {
    is_lost = fault_ == PlantedFault::kUnansweredLeaver && flush->answer;
  }
  constexpr std::uint64_t kHeartbeats = 50;
  const bool is_unasked = fault_ == PlantedFault::kUnaskedLeaver &&
                          std::holds_alternative<runtime::Heartbeat>(envelope) &&
                          ++heartbeats_ == kHeartbeats;
  if (is_unasked) envelope = runtime::DrainOrder{};
  if (is_lost) envelope = runtime::Heartbeat{};
}

bool Saboteur::is_last(const runtime::StatePiece& piece) {
  std::uint64_t& unsent = unsent_[{piece.offer, piece.vnode}];
  for (const std::uint64_t size : piece.sizes) unsent += size;
  unsent -= piece.bytes.size();
  return unsent == 0;
}

void Saboteur::leak(runtime::Envelope& envelope) {
  constexpr std::uint64_t kSome = 64;
  const auto change = [&](JobId& job) {
    const JobId before = std::exchange(last_job_, job);
    if (before != JobId{} && before != job && ++passed_ % kSome == 0) job = before;
  };
  if (auto* message = std::get_if<runtime::VnodeMessage>(&envelope)) change(message->job);
  if (auto* message = std::get_if<runtime::CollectiveMessage>(&envelope)) change(message->job);
}

void Saboteur::spoil(collectives::Message& message) const {
  auto* copy = std::get_if<collectives::TreeCopy>(&message);
  if (fault_ == PlantedFault::kEndlessHops && copy != nullptr) ++copy->hops_left;
  auto* token = std::get_if<collectives::ReductionToken>(&message);
  if (token == nullptr) return;
  if (fault_ != PlantedFault::kWrongSum || token->parts.empty()) return;
  Payload& value = token->parts.front().value;
  Bytes changed(value.bytes().begin(), value.bytes().end());
  if (!changed.empty()) changed.front() ^= std::byte{1};
  value = Payload(std::move(changed));
}

bool Saboteur::sends_twice(const runtime::Frame& frame) const {
  if (fault_ != PlantedFault::kCopiesTwice || !frame.envelope) return false;
  const auto* message = std::get_if<runtime::CollectiveMessage>(&*frame.envelope);
  return message != nullptr && std::holds_alternative<collectives::TreeCopy>(message->message);
}

/// What was given under an earlier line.
void Saboteur::forget_given(collectives::ReductionToken& token) {
  std::erase_if(token.parts, [&](const collectives::ReductionPart& part) {
    bool is_new = true;
    for (const VnodeId vnode : part.covered.ids()) {
      is_new = given_.insert({token.id, vnode}).second && is_new;
    }
    return !is_new;
  });
}

void Saboteur::on_asked(runtime::ClientRequest& request) const {
  auto* follow = std::get_if<runtime::FollowRequest>(&request);
  if (follow == nullptr) return;
  if (fault_ == PlantedFault::kForgottenShown) follow->shown.clear();
  if (fault_ == PlantedFault::kNamelessTools) follow->tool = 0;
}

void Saboteur::on_local(std::vector<runtime::ToDaemon>& messages) {
  for (runtime::ToDaemon& message : messages) spoil(message);
  if (fault_ == PlantedFault::kSwappedPieces) swap_pieces(messages);
}

void Saboteur::spoil(runtime::ToDaemon& message) {
  auto* cast = std::get_if<runtime::AppBroadcast>(&message);
  if (fault_ == PlantedFault::kAllDirect && cast != nullptr) cast->is_direct = true;
  constexpr std::size_t kCut = 64;
  auto* given = std::get_if<runtime::AppContribute>(&message);
  if (given != nullptr) line_ = std::max(line_, given->token.line);
  if (fault_ == PlantedFault::kForgottenContributions && given != nullptr) {
    forget_given(given->token);
  }
  auto* leaving = std::get_if<runtime::AppReleased>(&message);
  if (fault_ == PlantedFault::kCutState && leaving != nullptr) {
    for (auto& [vnode, bundle] : leaving->vnodes) {
      if (bundle.state && bundle.state->size() > kCut) bundle.state = bundle.state->slice(0, kCut);
    }
  }
  if (fault_ == PlantedFault::kSwappedState && leaving != nullptr) {
    for (auto& [vnode, bundle] : leaving->vnodes) {
      if (bundle.state && bundle.state->size() >= 4 * kCut) {
        Bytes bytes(bundle.state->bytes().begin(), bundle.state->bytes().end());
        for (std::size_t i = 2 * kCut; i < 3 * kCut; ++i) std::swap(bytes[i], bytes[i + kCut]);
        bundle.state = Payload(std::move(bytes));
      }
    }
  }
  if (fault_ != PlantedFault::kForgottenCounter) return;
  auto* released = std::get_if<runtime::AppReleased>(&message);
  if (released == nullptr) return;
  for (auto& [vnode, bundle] : released->vnodes) {
    bundle.from_vnodes.wake_all();
    auto streams = bundle.from_vnodes.active();
    if (!streams.empty()) streams.erase(streams.begin());
    bundle.from_vnodes = {std::move(streams), {}};
  }
}

}  // namespace phx::sim
