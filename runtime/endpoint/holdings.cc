#include "runtime/endpoint/holdings.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "overlay/base/check.h"
#include "overlay/base/overloaded.h"

namespace phx::runtime {
namespace {

/// Counted for every message beside its bytes, so that empty ones have a limit too.
constexpr std::size_t kMessageOverhead = 64;

/// What the two kinds of ordered pieces have in common.
struct Piece {
  std::uint64_t number = 0;
  bool more = false;
  const Payload* payload = nullptr;
};

Piece piece_of(const Delivery& delivery) {
  if (const auto* p = std::get_if<PointToPoint>(&delivery))
    return {p->seq, p->rest > 0, &p->payload};
  const auto* b = std::get_if<BroadcastDelivery>(&delivery);
  static const Payload kNothing;
  if (b == nullptr) return {0, false, &kNothing};  // A peer's fault: no stream has such pieces.
  return {b->piece.number, b->piece.rest_bits > 0, &b->piece.payload};
}

/// The number of the reduction whose result an allreduce broadcast with this tag carries: the tag
/// has its low 32 bits, and the vnode has contributed to it, so it lies below `next`.
std::uint64_t reduction_number(std::uint32_t tag, std::uint64_t next) {
  if (next == 0) return tag;
  const std::uint64_t last = next - 1;
  return last - static_cast<std::uint32_t>(static_cast<std::uint32_t>(last) - tag);
}

bool matches(const Holdings::Selector& wanted, VnodeId at, const Message& message) {
  return (!wanted.kind || *wanted.kind == message.kind) &&
         (!wanted.from || *wanted.from == message.from) &&
         (!wanted.tag || *wanted.tag == message.tag) &&
         (!wanted.hidden_tag || *wanted.hidden_tag != message.tag ||
          message.kind > Message::Kind::kBroadcast) &&
         (!wanted.number || *wanted.number == message.number) &&
         (wanted.reserved == nullptr || !wanted.reserved->contains(at, message));
}

/// What a message counts for while it waits, without what is shared.
std::size_t message_bytes(const Message& message) {
  return kMessageOverhead + (is_shared(message) ? 0 : message.payload.size());
}

/// The vnode whose process a delivery other than a broadcast is for.
struct TargetOf {
  VnodeId operator()(const PointToPoint& m) const { return m.to; }
  VnodeId operator()(const FlowQuestion& m) const { return m.to; }
  VnodeId operator()(const FlowCredit& m) const { return m.from; }
  VnodeId operator()(const CastCredit& m) const { return m.root; }
  VnodeId operator()(const collectives::ReductionToken& m) const { return m.id.target; }
  VnodeId operator()(const BroadcastDelivery&) const { return {}; }
};

/// Bytes of the messages from `from` that wait in `mailbox`.
template <class Mailbox>
std::uint64_t untaken_of(const Mailbox& mailbox, VnodeId from) {
  std::uint64_t bytes = 0;
  for (const auto& waiting : mailbox) {
    const Message& message = waiting.message;
    if (message.kind == Message::Kind::kPointToPoint && message.from == from) {
      bytes += message_bytes(message);
    }
  }
  return bytes;
}

std::size_t size_of(const VnodeBundle::Inbound& stream) {
  std::size_t bytes = 0;
  for (const Payload& piece : stream.begun) bytes += piece.size();
  for (const auto& [number, piece] : stream.early) bytes += piece_of(piece).payload->size();
  return bytes;
}

std::size_t size_of(const VnodeBundle& bundle) {
  std::size_t bytes = 0;
  for (const Message& message : bundle.mailbox) bytes += message_bytes(message);
  for (const auto& [from, stream] : bundle.from_vnodes.active()) bytes += size_of(stream);
  return bytes;
}

}  // namespace

void Holdings::on_time(Instant now) {
  inflows_.on_time(now);
  casts_.on_time(now);
}

void Holdings::add(VnodeParcel parcel) {
  if (vnodes_.contains(parcel.vnode)) {
    ++counters_.duplicates;
    return;
  }
  Vnode& vnode = vnodes_[parcel.vnode];
  vnode.bundle = std::move(parcel.bundle);
  vnode.bytes = size_of(vnode.bundle);
  std::vector<VnodeId> roots;
  for (const auto& [root, stream] : vnode.bundle.from_roots.active()) roots.push_back(root);
  add_shared(vnode.bundle);
  for (Message& message : vnode.bundle.mailbox) {
    vnode.mailbox.push_back({arrivals_++, std::move(message)});
  }
  vnode.bundle.mailbox.clear();
  bytes_ += vnode.bytes;
  for (const auto& [from, stream] : vnode.bundle.from_vnodes.active()) {
    inflows_.add({parcel.vnode, from}, stream, untaken_of(vnode.mailbox, from));
    if (closed_) inflows_.close({parcel.vnode, from});  // As close() does: nothing else would.
  }
  if (closed_) {
    for (const VnodeId root : roots) {
      cast_credits_.push_back({root, VnodeSet{parcel.vnode}, kFlowClosed, 0, {}});
    }
  }
  arriving_.insert(parcel.vnode);
}

/// What came ahead of its turn does not count, although it moves: where trees differ in speed there
/// is always some, and it would be waited for in vain.
bool Holdings::has_untaken(VnodeId id, std::uint64_t bytes) const {
  const Vnode& vnode = vnodes_.at(id);
  std::uint64_t sum = 0;
  for (const auto* streams : {&vnode.bundle.from_vnodes, &vnode.bundle.from_roots}) {
    for (const auto& [from, stream] : streams->active()) {
      for (const Payload& piece : stream.begun) {
        if ((sum += piece.size()) > bytes) return true;
      }
    }
  }
  for (const Waiting& waiting : vnode.mailbox) {
    if ((sum += waiting.message.payload.size()) > bytes) return true;
  }
  return false;
}

void Holdings::install() {
  for (const VnodeId id : arriving_.ids()) {
    for (const Waiting& waiting : vnodes_.at(id).mailbox) order_.add(waiting.arrival, id);
  }
  held_ = held_.united(arriving_);
  arriving_ = {};
}

VnodeBundle Holdings::remove(VnodeId id) {
  const auto at = vnodes_.find(id);
  PHX_CHECK(at != vnodes_.end());
  cast_credits_ = take_cast_credits();  // what was granted holds for this one, too
  rest(*at);
  VnodeBundle bundle = std::move(at->second.bundle);
  bytes_ -= at->second.bytes;
  inflows_.remove(id, bundle.from_vnodes.active());
  for (Waiting& waiting : at->second.mailbox) {
    if (held_.contains(id)) order_.remove(waiting.arrival);
    bundle.mailbox.push_back(std::move(waiting.message));
  }
  remove_shared(id, bundle);
  vnodes_.erase(at);
  held_.erase(id);
  arriving_.erase(id);
  std::erase_if(assemblies_,
                [this](const auto& one) { return !is_begun(one.first.first, one.first.second); });
  reopen();
  return bundle;
}

VnodeBundle& Holdings::bundle(VnodeId vnode) {
  const auto at = vnodes_.find(vnode);
  PHX_CHECK(at != vnodes_.end());
  return at->second.bundle;
}

void Holdings::deliver(const Delivery& delivery, Outcome& outcome) {
  if (const auto* broadcast = std::get_if<BroadcastDelivery>(&delivery)) {
    serve(*broadcast, outcome);
    return;
  }
  const auto at = vnodes_.find(std::visit(TargetOf{}, delivery));
  if (at == vnodes_.end()) {
    ++counters_.strays;
  } else {
    deliver_to(*at, delivery, outcome);
  }
}

void Holdings::pass(const PointToPoint& message) {
  const auto at = vnodes_.find(message.to);
  PHX_CHECK(at != vnodes_.end());
  Outcome none;
  if (!closed_) accept(*at, stream(*at, message.from), message, none);
}

void Holdings::deliver_to(Slot& slot, const Delivery& delivery, Outcome& outcome) {
  std::visit(Overloaded{
                 [&](const PointToPoint& m) {
                   const Inflows::Key key{slot.first, m.from};
                   if (closed_) return inflows_.close(key);
                   Stream& stream = this->stream(slot, m.from);
                   const bool is_new = m.seq >= stream.next && !stream.early.contains(m.seq);
                   if (is_new && !inflows_.admits(key, m.payload.size(), bytes())) return;
                   accept(slot, stream, delivery, outcome);
                 },
                 [&](const FlowQuestion& m) {
                   const Inflows::Key key{slot.first, m.from};
                   if (closed_) return inflows_.close(key);
                   inflows_.on_question(key, stream(slot, m.from), m);
                 },
                 // For ends that are not here.
                 [](const FlowCredit&) {}, [](const collectives::ReductionToken&) {},
                 [](const CastCredit&) {},
                 [](const BroadcastDelivery&) {},  // for all vnodes at once: serve()
             },
             delivery);
}

void Holdings::accept(Slot& slot, Stream& stream, const Delivery& delivery, Outcome& outcome) {
  const Piece piece = piece_of(delivery);
  if (piece.number < stream.next || stream.early.contains(piece.number)) {
    ++counters_.duplicates;
    return;
  }
  if (std::holds_alternative<BroadcastDelivery>(delivery)) {
    const VnodeId root = std::get<BroadcastDelivery>(delivery).piece.root;
    casts_.pieces().add({root, false, piece.number}, piece.payload->size());
  } else {
    charge(slot, piece.payload->size());
  }
  if (piece.number > stream.next) {
    ++counters_.early;
    stream.early.emplace(piece.number, delivery);
    return;
  }
  append(slot, stream, delivery, outcome);
  while (!stream.early.empty() && stream.early.begin()->first == stream.next) {
    const Delivery next = std::move(stream.early.begin()->second);
    stream.early.erase(stream.early.begin());
    append(slot, stream, next, outcome);
  }
}

/// Takes the piece that is next in its stream; its bytes are charged already.
void Holdings::append(Slot& slot, Stream& stream, const Delivery& delivery, Outcome& outcome) {
  const Piece piece = piece_of(delivery);
  const auto* p = std::get_if<PointToPoint>(&delivery);
  const auto* cast = std::get_if<BroadcastDelivery>(&delivery);
  ++stream.next;
  if (cast != nullptr) stream.offset += flow_weight(cast->piece);
  Message message;
  if (p != nullptr) message.payload = place(slot, stream, *p);
  if (cast != nullptr) message.payload = place(stream, cast->piece);
  if (piece.more) {
    if (p != nullptr) {
      stream.begun = {std::move(message.payload)};
      inflows_.on_piece({slot.first, p->from}, stream, flow_weight(*p), 0);
    } else if (cast != nullptr) {
      stream.begun.push_back(std::move(message.payload));
      casts_.on_piece(cast->piece.root, stream, 0);
    }
    return;
  }
  const std::uint64_t begun = std::exchange(stream.begun, {}).size();
  if (p != nullptr) {
    inflows_.on_piece({slot.first, p->from}, stream, flow_weight(*p), message_bytes(message));
    message.from = p->from;
    message.tag = p->tag;
  } else {
    describe(slot, cast->piece, message, outcome);
  }
  // put_in() charges the message as a whole.
  if (cast == nullptr) {
    slot.second.bytes -= message.payload.size();
    bytes_ -= message.payload.size();
    put_in(slot, std::move(message));
    return;
  }
  for (std::uint64_t n = piece.number - begun; n <= piece.number; ++n) {
    casts_.pieces().remove({cast->piece.root, false, n});
  }
  const bool is_for_program = cast->piece.purpose != collectives::Purpose::kReduced;
  const std::uint64_t untaken = is_for_program ? put_in(slot, std::move(message)) : 0;
  casts_.on_piece(cast->piece.root, stream, untaken);
}

/// Fills in what kind of message a broadcast has become. Results say which reductions are complete.
void Holdings::describe(const Slot& slot, const collectives::BroadcastPiece& last, Message& message,
                        Outcome& outcome) {
  message.from = last.root;
  if (last.purpose == collectives::Purpose::kApplication) {
    message.kind = Message::Kind::kBroadcast;
    message.number = last.number;
    message.tag = last.tag;
    return;
  }
  message.kind = Message::Kind::kAllreduced;
  const auto& calls = slot.second.bundle.reductions;
  const auto at = calls.find(last.root);
  message.number = reduction_number(last.tag, at == calls.end() ? 0 : at->second);
  outcome.completed.push_back({slot.first, last.root, message.number + 1});
}

/// All that has come of the message, with this piece.
Payload Holdings::place(Slot& slot, Stream& stream, const PointToPoint& piece) {
  if (piece.rest == 0 && stream.begun.empty()) return piece.payload;
  Assembly& assembly = slot.second.assemblies[piece.from];
  // What it began elsewhere is one payload.
  if (assembly.pieces().empty()) {
    for (const Payload& begun : stream.begun) {
      assembly.append(begun, piece.payload.size() + piece.rest, room_);
    }
  }
  assembly.append(piece.payload, piece.rest, room_);
  Payload whole = assembly.whole();
  if (piece.rest == 0) slot.second.assemblies.erase(piece.from);
  return whole;
}

void Holdings::put(VnodeId id, Message message) {
  const auto at = vnodes_.find(id);
  PHX_CHECK(at != vnodes_.end());
  put_in(*at, std::move(message));
}

/// The bytes that wait in addition, if it is a broadcast: vnodes share it.
std::uint64_t Holdings::put_in(Slot& slot, Message message) {
  std::uint64_t untaken = 0;
  if (is_shared(message)) {
    untaken = casts_.broadcasts().add(key_of(message), message.payload.size());
  }
  charge(slot, message_bytes(message));
  const std::uint64_t arrival = arrivals_++;
  slot.second.mailbox.push_back({arrival, std::move(message)});
  if (held_.contains(slot.first)) order_.add(arrival, slot.first);
  return untaken;
}

void Holdings::charge(Slot& slot, std::size_t bytes) {
  slot.second.bytes += bytes;
  bytes_ += bytes;
}

Holdings::Stream* Holdings::stream_of(const Inflows::Key& key) {
  const auto vnode = vnodes_.find(key.first);
  return vnode == vnodes_.end() ? nullptr : &vnode->second.bundle.from_vnodes[key.second];
}

Holdings::Stream& Holdings::stream(Slot& slot, VnodeId from) {
  auto& streams = slot.second.bundle.from_vnodes;
  if (streams.is_crowded()) rest(slot);
  return streams[from];
}

Holdings::Stream& Holdings::root_stream(Slot& slot, VnodeId root) {
  auto& streams = slot.second.bundle.from_roots;
  if (streams.is_crowded()) streams.rest();
  return streams[root];
}

/// Brings to rest what can.
void Holdings::rest(Slot& slot) {
  slot.second.bundle.from_vnodes.rest([&](VnodeId from, Stream& stream) {
    return inflows_.rest({slot.first, from}, stream);
  });
}

/// There is room again for flows that were refused.
void Holdings::reopen() {
  if (!inflows_.is_held_up()) return casts_.reopen(bytes());
  for (const Inflows::Key& key : inflows_.take_reopened(bytes())) {
    if (Stream* stream = stream_of(key)) inflows_.grant(key, *stream);
  }
  casts_.reopen(bytes());
}

bool Holdings::want(const Selector& wanted) {
  const auto may_be = [&](Message::Kind kind) { return !wanted.kind || *wanted.kind == kind; };
  bool has_room = true;
  if (may_be(Message::Kind::kBroadcast) || may_be(Message::Kind::kAllreduced)) {
    has_room = casts_.want(wanted.from);
  }
  if (!may_be(Message::Kind::kPointToPoint)) return has_room;
  const auto keys = inflows_.take_wanted({wanted.at, wanted.from, &held_});
  for (const Inflows::Key& key : keys) {
    if (Stream* stream = stream_of(key)) inflows_.grant(key, *stream);
  }
  return !inflows_.take_is_full() && has_room;
}

void Holdings::close() {
  closed_ = true;
  for (const auto& [id, vnode] : vnodes_) {
    // Those at rest hear it when they send.
    for (const auto& [from, stream] : vnode.bundle.from_vnodes.active()) {
      inflows_.close({id, from});
    }
  }
  for (const VnodeId root : casts_.held_up()) {
    cast_credits_.push_back({root, held_.united(arriving_), kFlowClosed, 0, {}});
  }
}

Received Holdings::take_out(VnodeId id, std::deque<Waiting>::iterator at) {
  Vnode& vnode = vnodes_.at(id);
  Received taken(id, std::move(at->message));
  const std::size_t bytes = message_bytes(taken.second);
  vnode.bytes -= bytes;
  bytes_ -= bytes;
  order_.remove(at->arrival);
  vnode.mailbox.erase(at);
  inflows_.forget_wanted();
  casts_.forget_wanted();
  if (is_shared(taken.second)) {
    casts_.on_taken(taken.second.from, casts_.broadcasts().remove(key_of(taken.second)));
  }
  if (taken.second.kind == Message::Kind::kPointToPoint) {
    const VnodeId from = taken.second.from;
    inflows_.on_taken({id, from}, vnode.bundle.from_vnodes[from], bytes);
  }
  reopen();
  return taken;
}

std::optional<Received> Holdings::take(const Selector& wanted) {
  if (wanted.at) {
    if (!held_.contains(*wanted.at)) return std::nullopt;
    auto& mailbox = vnodes_.at(*wanted.at).mailbox;
    const auto at = std::find_if(mailbox.begin(), mailbox.end(), [&](const Waiting& w) {
      return matches(wanted, *wanted.at, w.message);
    });
    if (at == mailbox.end()) return std::nullopt;
    return take_out(*wanted.at, at);
  }
  std::optional<Received> taken;
  order_.find_if([&](std::uint64_t arrival, VnodeId id) {
    auto& mailbox = vnodes_.at(id).mailbox;
    const auto at = std::ranges::lower_bound(mailbox, arrival, {}, &Waiting::arrival);
    if (matches(wanted, id, at->message)) taken = take_out(id, at);
    return taken.has_value();
  });
  return taken;
}

std::vector<Received> Holdings::take_if(const Accepts& accepts, std::uint64_t since) {
  const auto waiting = [this](std::uint64_t arrival, VnodeId id) {
    return std::ranges::lower_bound(vnodes_.at(id).mailbox, arrival, {}, &Waiting::arrival);
  };
  std::vector<std::pair<std::uint64_t, VnodeId>> accepted;
  const auto look = [&](std::uint64_t arrival, VnodeId id) {
    if (accepts(id, waiting(arrival, id)->message)) accepted.emplace_back(arrival, id);
    return false;
  };
  order_.find_if(look, since);
  std::vector<Received> taken;
  taken.reserve(accepted.size());
  for (const auto& [arrival, id] : accepted) taken.push_back(take_out(id, waiting(arrival, id)));
  return taken;
}

std::size_t Holdings::count(const Selector& wanted) const {
  const auto count_in = [&wanted](VnodeId at, const Vnode& vnode) {
    const auto matching = [&](const Waiting& w) { return matches(wanted, at, w.message); };
    return static_cast<std::size_t>(
        std::count_if(vnode.mailbox.begin(), vnode.mailbox.end(), matching));
  };
  if (wanted.at)
    return held_.contains(*wanted.at) ? count_in(*wanted.at, vnodes_.at(*wanted.at)) : 0;
  std::size_t count = 0;
  for (const auto& [id, vnode] : vnodes_) count += held_.contains(id) ? count_in(id, vnode) : 0;
  return count;
}

void Holdings::check_invariants() const {
  PHX_CHECK(held_.common(arriving_).empty());
  PHX_CHECK(held_.size() + arriving_.size() == vnodes_.size());
  std::size_t waiting = 0;
  std::uint64_t total = 0;
  CastInflows shared(inflows_.options());  // counted anew
  for (const auto& [id, vnode] : vnodes_) {
    PHX_CHECK(held_.contains(id) || arriving_.contains(id));
    PHX_CHECK(vnode.bundle.mailbox.empty());
    std::size_t bytes = size_of(vnode.bundle);
    for (const Waiting& w : vnode.mailbox) {
      bytes += message_bytes(w.message);
      if (!is_shared(w.message)) continue;
      shared.broadcasts().add(key_of(w.message), w.message.payload.size());
    }
    for (const auto& [root, stream] : vnode.bundle.from_roots.active()) {
      shared.add_pieces(root, stream);
    }
    PHX_CHECK(bytes == vnode.bytes);
    total += bytes;
    if (held_.contains(id)) waiting += vnode.mailbox.size();
    vnode.bundle.from_vnodes.check_invariants();
    vnode.bundle.from_roots.check_invariants();
    for (const auto& [from, stream] : vnode.bundle.from_vnodes.active()) {
      PHX_CHECK(stream.early.empty() || stream.early.begin()->first > stream.next);
    }
  }
  PHX_CHECK(waiting == order_.size());
  PHX_CHECK(total == bytes_);
  PHX_CHECK(shared.bytes() == casts_.bytes());
  for (const auto& [message, assembly] : assemblies_) {
    PHX_CHECK(is_begun(message.first, message.second));
  }
}

}  // namespace phx::runtime
