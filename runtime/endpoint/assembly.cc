#include "runtime/endpoint/assembly.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace phx::runtime {
namespace {

/// A message that is announced to be longer gets its room in steps: so much, which costs nothing
/// before it is written to, then four times what has come. So an announcement costs nothing.
constexpr std::size_t kRoomStep = std::size_t{256} << 20U;

std::size_t bytes_of(const std::vector<Payload>& pieces) {
  std::size_t bytes = 0;
  for (const Payload& piece : pieces) bytes += piece.size();
  return bytes;
}

std::shared_ptr<std::byte[]> room_for(std::size_t bytes, const PayloadRoom& make) {
  std::shared_ptr<std::byte[]> room = make ? make(bytes) : nullptr;
  return room ? room : std::make_shared_for_overwrite<std::byte[]>(bytes);
}

}  // namespace

Payload Assembly::append(std::vector<Payload>& begun, const Payload& piece, std::uint64_t rest,
                         const PayloadRoom& make) {
  const std::size_t before = size_ == 0 ? bytes_of(begun) : size_;
  const std::size_t size = before + piece.size();
  if (size > capacity_) {
    const std::size_t step = std::max(kRoomStep, 4 * size);
    std::size_t more = std::min<std::uint64_t>(rest, step);
    if (room_) more = std::max(more, size);  // what was announced was wrong
    room_ = room_for(size + more, make);
    size_ = 0;
    capacity_ = size + more;
    for (Payload& part : begun) part = copy(part);
  }
  return copy(piece);
}

Payload Assembly::copy(const Payload& bytes) {
  std::byte* const begin = room_.get() + size_;
  if (!bytes.empty()) std::memcpy(begin, bytes.bytes().data(), bytes.size());
  size_ += bytes.size();
  return Payload(room_, {begin, bytes.size()});
}

Payload joined(const std::vector<Payload>& pieces, const Payload& last, const PayloadRoom& make) {
  if (pieces.empty()) return last;
  Payload whole = pieces.front();
  const auto takes = [&whole](const Payload& next) { return whole.extend(next); };
  if (std::all_of(pieces.begin() + 1, pieces.end(), takes) && takes(last)) return whole;
  std::vector<Payload> apart = pieces;
  Assembly room;
  static_cast<void>(room.append(apart, last, 0, make));
  return room.whole();
}

}  // namespace phx::runtime
