#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime/endpoint/holdings.h"

// What of Holdings concerns broadcasts: one stream per root for all vnodes held here.
namespace phx::runtime {
namespace {

/// About so many bytes of the same broadcast follow. Only how many bits their number has is known:
/// where it is a power of two with this piece, as most are, that is exact. A longer one gets a
/// piece more, since to outgrow the room would be to copy much.
std::uint64_t bytes_behind(const collectives::BroadcastPiece& piece) {
  constexpr std::uint8_t kLongBits = 22;
  const std::uint8_t bits = std::min<std::uint8_t>(piece.rest_bits, 63);
  if (bits == 0) return 0;
  const std::uint64_t most = std::uint64_t{1} << bits;
  return bits < kLongBits && most > piece.payload.size() ? most - piece.payload.size() : most;
}

}  // namespace

void Holdings::serve(const BroadcastDelivery& delivery, Outcome& outcome) {
  const collectives::BroadcastPiece& piece = delivery.piece;
  VnodeSet here;
  bool is_new = false;
  bool is_next = false;
  for (const VnodeSet::Range& range : delivery.to.ranges()) {
    for (auto at = vnodes_.lower_bound(range.first); at != vnodes_.end() && at->first <= range.last;
         ++at) {
      here.insert(at->first);
      const Stream& stream = root_stream(*at, piece.root);
      is_next = is_next || piece.number == stream.next;
      is_new = is_new || (piece.number >= stream.next && !stream.early.contains(piece.number));
    }
  }
  counters_.strays += delivery.to.size() - here.size();
  if (here.empty()) return;
  if (closed_) {
    cast_credits_.push_back({piece.root, std::move(here), kFlowClosed, 0, {}});
    return;
  }
  if (collectives::is_question(piece.purpose)) return answer(here, piece);
  const std::uint64_t begun = is_next ? 0 : begun_bytes(piece.root);  // Only asked of the others.
  const CastInflows::Load waiting{.all = bytes(), .begun = begun};
  if (is_new && !casts_.admits(piece, is_next, waiting)) return;
  const std::uint64_t farthest = casts_.next(piece.root);
  for (const VnodeId id : here.ids()) {
    const auto at = vnodes_.find(id);
    Stream& stream = root_stream(*at, piece.root);
    const bool is_behind = stream.next < farthest;
    const bool is_first = stream.next == 0;
    accept(*at, stream, delivery, outcome);
    // Nothing else would tell the root what this one was granted when it came, without a past, or
    // that nothing need be kept for it any more.
    if (is_behind && (is_first || stream.next >= farthest)) casts_.announce(piece.root);
  }
  std::erase_if(assemblies_, [&](const auto& one) {
    return one.first.first == piece.root && !is_begun(piece.root, one.first.second);
  });
}

/// Of long broadcasts of `root`, as far as they are put together.
std::uint64_t Holdings::begun_bytes(VnodeId root) const {
  std::uint64_t bytes = 0;
  for (auto at = assemblies_.lower_bound({root, 0}); at != assemblies_.end(); ++at) {
    if (at->first.first != root) break;
    bytes += at->second.whole().size();
  }
  return bytes;
}

/// A vnode here has begun to receive the broadcast that has this first piece.
bool Holdings::is_begun(VnodeId root, std::uint64_t first) const {
  return std::any_of(vnodes_.begin(), vnodes_.end(), [&](const auto& one) {
    const auto& streams = one.second.bundle.from_roots.active();
    const auto at = streams.find(root);
    return at != streams.end() && !at->second.begun.empty() &&
           at->second.next - at->second.begun.size() == first;
  });
}

/// The piece as it lies in the room of its broadcast, where all vnodes here have theirs; or the
/// whole, if it is the last one. Who comes with pieces from elsewhere changes them for those there.
Payload Holdings::place(Stream& stream, const collectives::BroadcastPiece& piece) {
  std::vector<Payload>& begun = stream.begun;
  const bool is_last = piece.rest_bits == 0;
  if (is_last && begun.empty()) return piece.payload;
  const std::size_t count = begun.size();
  Assembly& all = assemblies_[{piece.root, piece.number - count}];
  const std::uint64_t rest = bytes_behind(piece);
  std::uint64_t ahead = piece.payload.size() + rest;
  for (std::size_t i = all.pieces().size(); i < count; ++i) ahead += begun[i].size();
  for (std::size_t i = all.pieces().size(); i < count; ++i) {
    ahead -= begun[i].size();
    all.append(begun[i], ahead, room_);
  }
  if (all.pieces().size() == count) all.append(piece.payload, rest, room_);
  // If a peer gave another vnode a piece of another length, that one holds for all here.
  const std::vector<Payload>& there = all.pieces();
  if (count > 0 && begun.back().bytes().data() != there[count - 1].bytes().data()) {
    std::copy_n(there.begin(), count, begun.begin());
  }
  return is_last ? all.whole() : there[count];
}

void Holdings::answer(const VnodeSet& here, const collectives::BroadcastPiece& question) {
  const VnodeId root = question.root;
  const bool is_repair = question.purpose == collectives::Purpose::kRepair;
  const std::uint64_t end = question.number + question.tag;
  for (const VnodeId id : here.ids()) {
    Stream& stream = root_stream(*vnodes_.find(id), root);
    if (stream.next < end) stream.asked = std::max(stream.asked, end);
  }
  for (auto& [next, vnodes] : by_next(root)) {
    // Who was refused is asked for it when there is room.
    const bool is_missing = is_repair && next < question.number && !casts_.is_refused(root);
    CastCredit credit{root, vnodes.common(here), next, casts_.limit(root), {}};
    if (is_missing) credit.again = next;
    if (!credit.vnodes.empty()) cast_credits_.push_back(std::move(credit));
  }
}

/// All vnodes here, by the number of the piece of `root` that they expect.
std::map<std::uint64_t, VnodeSet> Holdings::by_next(VnodeId root) const {
  std::map<std::uint64_t, VnodeSet> groups;
  for (const auto& [id, vnode] : vnodes_) {
    groups[vnode.bundle.from_roots.next(root)].insert(id);
  }
  return groups;
}

bool Holdings::has_credits() const {
  return inflows_.has_credits() || !cast_credits_.empty() || casts_.has_announcements() ||
         (order_.empty() && casts_.is_held_up());
}

/// Those with equal numbers in one.
std::vector<CastCredit> Holdings::take_cast_credits() {
  // While a message waits, its being taken gives the next grant: more would only be refused again.
  // If none does, nothing else would: who missed what was refused may have left, and pieces may
  // wait for others that were refused.
  if (order_.empty()) casts_.reopen(bytes());
  std::vector<CastCredit> credits = std::exchange(cast_credits_, {});
  for (const auto& [root, said] : casts_.take_announcements()) {
    if (closed_) continue;
    for (auto& [next, vnodes] : by_next(root)) {
      CastCredit credit{root, std::move(vnodes), next, said.limit, {}};
      if (said.again) credit.again = next;
      credits.push_back(std::move(credit));
    }
  }
  if (credits.size() < 2) return credits;
  using Numbers = std::tuple<VnodeId, std::uint64_t, std::uint64_t, std::optional<std::uint64_t>>;
  std::map<Numbers, VnodeSet> joined;
  for (CastCredit& credit : credits) {
    VnodeSet& vnodes = joined[{credit.root, credit.received, credit.limit, credit.again}];
    vnodes = vnodes.united(credit.vnodes);
  }
  credits.clear();
  for (auto& [numbers, vnodes] : joined) {
    const auto& [root, received, limit, again] = numbers;
    credits.push_back({root, std::move(vnodes), received, limit, again});
  }
  return credits;
}

void Holdings::add_shared(VnodeBundle& bundle) {
  std::map<VnodeId, std::uint64_t> untaken;
  for (const Message& message : bundle.mailbox) {
    if (!is_shared(message)) continue;
    untaken[message.from] += casts_.broadcasts().add(key_of(message), message.payload.size());
  }
  bundle.from_roots.wake_all();
  for (auto& [root, stream] : bundle.from_roots.active()) {
    casts_.add_pieces(root, stream);
    casts_.add(root, stream, untaken[root]);
  }
  bundle.from_roots.rest();
}

/// What the root has to know when this vnode has gone: whoever holds it next has room, or refuses
/// again.
void Holdings::remove_shared(VnodeId id, VnodeBundle& bundle) {
  for (const Message& message : bundle.mailbox) {
    if (!is_shared(message)) continue;
    casts_.on_taken(message.from, casts_.broadcasts().remove(key_of(message)));
  }
  bundle.from_roots.wake_all();
  for (auto& [root, stream] : bundle.from_roots.active()) {
    casts_.remove_pieces(root, stream);
    if (!casts_.remove(root, stream)) continue;
    cast_credits_.push_back({root, VnodeSet{id}, stream.next, casts_.limit(root), stream.next});
  }
  bundle.from_roots.rest();
}

}  // namespace phx::runtime
