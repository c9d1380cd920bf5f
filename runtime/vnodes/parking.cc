#include "runtime/vnodes/parking.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "overlay/base/check.h"
#include "runtime/messages/weight.h"

namespace phx::runtime {
namespace {

auto key_of(const collectives::BroadcastPiece& piece) {
  return std::tuple(piece.root, piece.number, piece.purpose);
}

/// Without comparing what is the same memory.
bool is_same(const collectives::BroadcastPiece& a, const collectives::BroadcastPiece& b) {
  const auto x = a.payload.bytes();
  const auto y = b.payload.bytes();
  return (x.data() == y.data() && x.size() == y.size()) || a.payload == b.payload;
}

}  // namespace

void Parking::count(const Delivery& delivery) {
  const Weight weight = weight_of(delivery);
  ++count_;
  bytes_ += weight.header;
  const auto* cast = std::get_if<BroadcastDelivery>(&delivery);
  if (cast == nullptr) {
    bytes_ += weight.payload;
    return;
  }
  Shared& piece = pieces_[key_of(cast->piece)];
  if (piece.vnodes++ > 0) return;
  piece.bytes = weight.payload;
  bytes_ += weight.payload;
}

void Parking::discount(const Delivery& delivery) {
  const Weight weight = weight_of(delivery);
  --count_;
  bytes_ -= weight.header;
  const auto* cast = std::get_if<BroadcastDelivery>(&delivery);
  if (cast == nullptr) {
    bytes_ -= weight.payload;
    return;
  }
  const auto piece = pieces_.find(key_of(cast->piece));
  if (--piece->second.vnodes > 0) return;
  bytes_ -= piece->second.bytes;
  pieces_.erase(piece);
}

void Parking::add(VnodeId vnode, Delivery delivery, Epoch followed) {
  count(delivery);
  waiting_[vnode].push_back({std::move(delivery), followed});
}

std::vector<Parking::One> Parking::take(const VnodeSet& vnodes) {
  std::vector<One> taken;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (!vnodes.contains(at->first)) {
      ++at;
      continue;
    }
    for (One& one : at->second) {
      discount(one.delivery);
      taken.push_back(std::move(one));
    }
    at = waiting_.erase(at);
  }
  return joined(std::move(taken));
}

std::vector<Parking::One> Parking::joined(std::vector<One> all) {
  std::vector<One> result;
  std::map<std::pair<Key, Epoch>, std::size_t> places;  // of the first of its kind
  for (One& one : all) {
    auto* cast = std::get_if<BroadcastDelivery>(&one.delivery);
    if (cast != nullptr) {
      const auto [at, is_new] =
          places.try_emplace({key_of(cast->piece), one.followed}, result.size());
      auto* first = is_new ? nullptr : &std::get<BroadcastDelivery>(result[at->second].delivery);
      if (first != nullptr && is_same(first->piece, cast->piece)) {
        first->to = first->to.united(cast->to);
        continue;
      }
    }
    result.push_back(std::move(one));
  }
  return result;
}

VnodeSet Parking::vnodes() const {
  VnodeSet all;
  for (const auto& [vnode, waiting] : waiting_) all.insert(vnode);
  return all;
}

void Parking::check_invariants() const {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t shared = 0;
  for (const auto& [vnode, waiting] : waiting_) {
    PHX_CHECK(!waiting.empty());
    count += waiting.size();
    for (const One& one : waiting) {
      const bool is_cast = std::holds_alternative<BroadcastDelivery>(one.delivery);
      const Weight weight = weight_of(one.delivery);
      bytes += is_cast ? weight.header : weight.total();
      if (is_cast) ++shared;
    }
  }
  for (const auto& [key, piece] : pieces_) {
    bytes += piece.bytes;
    shared -= piece.vnodes;
  }
  PHX_CHECK(count == count_ && bytes == bytes_ && shared == 0);
}

}  // namespace phx::runtime
