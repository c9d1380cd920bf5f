#include "runtime/vnodes/arrivals.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "runtime/messages/parcels.h"

namespace phx::runtime {

std::string Arrivals::on_piece(ProcessorId from, const StatePiece& piece) {
  const Key key{from, piece.offer, piece.vnode};
  Parcel& parcel = parcels_[key];
  std::string why;
  if (piece.number != parcel.next) {
    why = "piece " + std::to_string(parcel.next) + " of its state is missing";
  } else if (piece.number == 0) {
    std::uint64_t total = 0;
    for (const std::uint64_t size : piece.sizes) {
      total = size > kVnodeBytesMax ? kVnodeBytesMax + 1 : total + size;
      if (total > kVnodeBytesMax) why = "its state is too large";
      if (total > kVnodeBytesMax) break;
    }
    if (why.empty()) parcel.sizes = piece.sizes;
  }
  if (why.empty()) {
    ++parcel.next;
    close_contents(parcel);
    why = append(parcel, piece.bytes);
  }
  if (!why.empty()) parcels_.erase(key);
  return why;
}

/// Those that have all their bytes; the next one gets its room.
void Arrivals::close_contents(Parcel& parcel) {
  while (parcel.contents.size() < parcel.sizes.size() &&
         parcel.filled == parcel.sizes[parcel.contents.size()]) {
    const std::span<const std::byte> all(parcel.room.get(), std::exchange(parcel.filled, 0));
    parcel.contents.emplace_back(std::exchange(parcel.room, nullptr), all);
    if (parcel.is_whole()) return;
  }
}

std::string Arrivals::append(Parcel& parcel, const Payload& bytes) {
  std::span<const std::byte> left = bytes.bytes();
  while (!left.empty()) {
    if (parcel.is_whole()) return "the pieces of its state do not fit";
    const auto size = static_cast<std::size_t>(parcel.sizes[parcel.contents.size()]);
    // The room is given, and not yet touched: the system finds memory for it as bytes come.
    if (!parcel.room) parcel.room.reset(new (std::nothrow) std::byte[size]);
    if (!parcel.room) {
      return "there is no memory for its state of " + std::to_string(size >> 20U) + " MiB";
    }
    const auto part = left.first(std::min(left.size(), size - parcel.filled));
    std::memcpy(parcel.room.get() + parcel.filled, part.data(), part.size());
    parcel.filled += part.size();
    left = left.subspan(part.size());
    close_contents(parcel);
  }
  return {};
}

bool Arrivals::is_whole(ProcessorId from, std::uint64_t offer, VnodeId vnode) const {
  const auto found = parcels_.find({from, offer, vnode});
  return found != parcels_.end() && found->second.is_whole();
}

std::optional<std::vector<Payload>> Arrivals::take(ProcessorId from, std::uint64_t offer,
                                                   VnodeId vnode) {
  auto found = parcels_.extract({from, offer, vnode});
  if (found.empty() || !found.mapped().is_whole()) return std::nullopt;
  return std::move(found.mapped().contents);
}

void Arrivals::drop(ProcessorId from) {
  std::erase_if(parcels_, [from](const auto& entry) { return entry.first.from == from; });
}

void Arrivals::drop(ProcessorId from, std::uint64_t offer, VnodeId vnode) {
  parcels_.erase({from, offer, vnode});
}

std::vector<Arrivals::Begun> Arrivals::begun() const {
  std::vector<Begun> result;
  for (const auto& [key, parcel] : parcels_) {
    if (!parcel.is_whole()) result.push_back({key.from, key.offer, key.vnode});
  }
  return result;
}

}  // namespace phx::runtime
