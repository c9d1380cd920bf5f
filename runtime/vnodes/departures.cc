#include "runtime/vnodes/departures.h"

#include <algorithm>
#include <utility>

#include "overlay/base/check.h"
#include "runtime/messages/contents.h"
#include "runtime/messages/parcels.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {
namespace {

/// In MiB, as people write it: "1,024".
std::string mebibytes(std::uint64_t bytes, bool is_rounded_up) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
  constexpr std::size_t kDigits = 3;
  std::string text = std::to_string((bytes + (is_rounded_up ? kMiB - 1 : 0)) / kMiB);
  if (text.size() > kDigits) text.insert(text.size() - kDigits, ",");
  return text;
}

}  // namespace

Departures::Departures(ProcessorId self, JobId job, const TravelOptions& options)
    : self_(self), job_(job), options_(options) {}

std::vector<ProcessorId> Departures::in_turn() const {
  std::vector<ProcessorId> turn;
  const auto look = [&](auto from, auto to) {
    for (; from != to && turn.size() < options_.receivers_at_once; ++from) {
      if (!from->second.empty()) turn.push_back(from->first);
    }
  };
  const auto behind = ways_.upper_bound(self_);
  look(behind, ways_.end());
  look(ways_.begin(), behind);
  return turn;
}

bool Departures::empty() const {
  return std::ranges::all_of(ways_, [](const auto& entry) { return entry.second.empty(); });
}

void Departures::add(ProcessorId to, std::uint64_t offer, const VnodeSet& vnodes,
                     const Router& router) {
  Way& way = ways_[to];
  const VnodeBundle nothing;
  for (const VnodeId vnode : vnodes.ids()) {
    const VnodeBundle* kept = router.bundle(vnode);
    const VnodeBundle& bundle = kept == nullptr ? nothing : *kept;
    const Weight weight = weight_of(bundle);
    std::vector<Payload> contents;
    if (weight.payload > options_.piece_bytes) contents = contents_of(bundle);
    if (!contents.empty() && contents.size() <= kVnodeEntriesMax) {
      Parcel& parcel = way.parcels[{offer, vnode}];
      parcel.contents = std::move(contents);
      parcel.total = weight.payload;
      parcel.header = weight.header;
      continue;
    }
    const bool has_room = !way.groups.empty() && way.groups.back().offer == offer &&
                          way.groups.back().bytes + weight.total() <= options_.piece_bytes;
    if (!has_room) way.groups.push_back({offer, {}, 0});
    way.groups.back().vnodes.insert(vnode);
    way.groups.back().bytes += weight.total();
  }
}

std::uint64_t Departures::count(Way& way, std::uint64_t bytes, bool must_ask) const {
  constexpr std::uint64_t kParts = 4;  // answers come while three quarters of the window are full
  way.sent += bytes;
  if (!must_ask && way.sent - way.asked < options_.window_bytes / kParts) return 0;
  way.asked = way.sent;
  return way.sent;
}

std::optional<Departures::Handover> Departures::due(Way& way) const {
  if (!way.whole.empty()) {
    const Key key = way.whole.front();
    way.whole.pop_front();
    const auto parcel = way.parcels.extract(key);
    return Handover{VnodeSet{key.second}, key.first, count(way, parcel.mapped().header, false)};
  }
  if (way.groups.empty()) return std::nullopt;
  Group group = std::move(way.groups.front());
  way.groups.pop_front();
  return Handover{std::move(group.vnodes), 0, count(way, group.bytes, false)};
}

std::optional<Departures::Handover> Departures::next(ProcessorId to, JobOutbox& out) {
  const auto found = ways_.find(to);
  if (found == ways_.end()) return std::nullopt;
  if (options_.receivers_at_once > 0) {
    const std::vector<ProcessorId> turn = in_turn();
    if (std::ranges::find(turn, to) == turn.end()) return std::nullopt;
  }
  Way& way = found->second;
  while (way.sent - way.taken < std::max<std::uint64_t>(options_.window_bytes, 1)) {
    if (auto handover = due(way)) return handover;
    const auto next =
        std::ranges::find_if(way.parcels, [](const auto& entry) { return !entry.second.is_sent; });
    if (next == way.parcels.end()) return std::nullopt;
    out.send(to, next_piece(way, next->first, next->second));
  }
  return std::nullopt;
}

StatePiece Departures::next_piece(Way& way, const Key& key, Parcel& parcel) const {
  StatePiece piece{.job = job_,
                   .offer = key.first,
                   .vnode = key.second,
                   .number = parcel.number++,
                   .sizes = {},
                   .sent = 0,
                   .bytes = cut(parcel)};
  if (piece.number == 0) {
    for (const Payload& content : parcel.contents) piece.sizes.push_back(content.size());
  }
  parcel.sent += piece.bytes.size();
  parcel.is_sent = parcel.sent == parcel.total;
  const std::uint64_t weight = piece.bytes.size() + piece.sizes.size() * sizeof(std::uint64_t);
  // Whether all has arrived must be known in any case.
  piece.sent = count(way, weight, parcel.is_sent);
  return piece;
}

Payload Departures::cut(Parcel& parcel) const {
  const std::uint64_t most = std::max<std::uint64_t>(options_.piece_bytes, 1);
  const auto size = static_cast<std::size_t>(std::min(most, parcel.total - parcel.sent));
  Bytes joint;
  while (joint.size() < size) {
    Payload& content = parcel.contents[parcel.content];
    const std::size_t part = std::min(content.size() - parcel.offset, size - joint.size());
    const Payload bytes = content.slice(parcel.offset, part);
    parcel.offset += part;
    if (parcel.offset == content.size()) {
      ++parcel.content;
      parcel.offset = 0;
    }
    if (part == size) return bytes;
    joint.insert(joint.end(), bytes.bytes().begin(), bytes.bytes().end());
  }
  return Payload(std::move(joint));
}

VnodeSet Departures::on_taken(ProcessorId from, const StateTaken& taken) {
  const auto found = ways_.find(from);
  if (found == ways_.end()) return {};
  Way& way = found->second;
  // Never more than was sent, or the window would be without end.
  way.taken = std::max(way.taken, std::min(taken.taken, way.sent));
  const Key key{taken.offer, taken.vnode};
  const auto parcel = way.parcels.find(key);
  if (parcel == way.parcels.end()) return {};
  if (taken.outcome == StateTaken::Outcome::kRefused) {
    std::erase(way.whole, key);
    way.parcels.erase(parcel);
    return VnodeSet{taken.vnode};
  }
  const bool is_news = std::ranges::find(way.whole, key) == way.whole.end();
  const bool is_whole = taken.outcome == StateTaken::Outcome::kWhole;
  if (is_whole && is_news && parcel->second.is_sent) way.whole.push_back(key);
  return {};
}

VnodeSet Departures::drop(ProcessorId to) {
  const auto way = ways_.extract(to);
  return way.empty() ? VnodeSet{} : way.mapped().vnodes();
}

VnodeSet Departures::drop(ProcessorId to, std::uint64_t offer) {
  VnodeSet dropped;
  const auto found = ways_.find(to);
  if (found == ways_.end()) return dropped;
  Way& way = found->second;
  std::erase_if(way.groups, [&](const Group& group) {
    if (group.offer == offer) dropped = dropped.united(group.vnodes);
    return group.offer == offer;
  });
  std::erase_if(way.parcels, [&](const auto& entry) {
    const bool is_hit = entry.first.first == offer;
    if (is_hit) dropped.insert(entry.first.second);
    return is_hit;
  });
  std::erase_if(way.whole, [offer](const Key& key) { return key.first == offer; });
  return dropped;
}

VnodeSet Departures::Way::vnodes() const {
  VnodeSet all;
  for (const Group& group : groups) all = all.united(group.vnodes);
  for (const auto& [key, parcel] : parcels) all.insert(key.second);
  return all;
}

VnodeSet Departures::vnodes() const {
  VnodeSet all;
  for (const auto& [to, way] : ways_) all = all.united(way.vnodes());
  return all;
}

VnodeSet Departures::vnodes_to(ProcessorId receiver) const {
  const auto way = ways_.find(receiver);
  return way == ways_.end() ? VnodeSet{} : way->second.vnodes();
}

void Departures::check_invariants(const ProcessorSet& there) const {
  VnodeSet all;
  for (const auto& [to, way] : ways_) {
    const VnodeSet vnodes = way.vnodes();
    PHX_CHECK(vnodes.empty() || there.contains(to));
    PHX_CHECK(all.common(vnodes).empty());
    all = all.united(vnodes);
  }
}

std::string Departures::progress() const {
  for (const auto& [to, way] : ways_) {
    for (const auto& [key, parcel] : way.parcels) {
      return to_string(key.second) + " to move to " + to_string(to) + ": " +
             mebibytes(parcel.sent, false) + " of " + mebibytes(parcel.total, true) + " MiB sent";
    }
    if (!way.groups.empty()) {
      return "v" + to_string(way.groups.front().vnodes) + " to move to " + to_string(to);
    }
  }
  return {};
}

}  // namespace phx::runtime
