#include "runtime/endpoint/assembly.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace phx::runtime {
namespace {

/// A message that is announced to be longer gets its room in steps: so much, which costs nothing
/// before it is written to, then four times what has come. So an announcement costs nothing.
constexpr std::size_t kRoomStep = std::size_t{256} << 20U;

}  // namespace

void Assembly::append(const Payload& piece, std::uint64_t more, const PayloadRoom& make) {
  const std::size_t size = size_ + piece.size();
  if (size > capacity_) {
    std::uint64_t ahead = std::min<std::uint64_t>(more, std::max(kRoomStep, 4 * size));
    if (room_) ahead = std::max<std::uint64_t>(ahead, size);  // what was announced was wrong
    capacity_ = size + static_cast<std::size_t>(ahead);
    room_ = make ? make(capacity_) : nullptr;
    if (!room_) room_ = std::make_shared_for_overwrite<std::byte[]>(capacity_);
    size_ = 0;
    for (const Payload& before : std::exchange(pieces_, {})) copy(before);
  }
  copy(piece);
}

/// REQUIRES that there is room.
void Assembly::copy(const Payload& piece) {
  std::byte* const begin = room_.get() + size_;
  if (!piece.empty()) std::memcpy(begin, piece.bytes().data(), piece.size());
  size_ += piece.size();
  pieces_.emplace_back(room_, std::span<const std::byte>(begin, piece.size()));
}

}  // namespace phx::runtime
