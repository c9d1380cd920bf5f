#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "overlay/base/payload.h"
#include "runtime/endpoint/endpoint_config.h"

namespace phx::runtime {

/// The room of a long message that is put together as its pieces come: each is copied while it is
/// in the processor's cache, and its own memory, which may be lent, is free again.
/// Not thread-safe: one owner.
class Assembly {
 public:
  /// Copies `piece` behind `begun`, the pieces before it. These lie in the room from then on, so
  /// they are brought there first if they came elsewhere, or if the room becomes too small. `rest`:
  /// bytes that follow the piece, as announced. Returns the piece as it lies in the room.
  Payload append(std::vector<Payload>& begun, const Payload& piece, std::uint64_t rest,
                 const PayloadRoom& make);
  [[nodiscard]] bool ends_with(const Payload& piece) const {
    const std::byte* const end = room_.get() + size_;
    return size_ > 0 && piece.bytes().data() + piece.size() == end;
  }
  /// What has been put together.
  [[nodiscard]] Payload whole() const { return Payload(room_, {room_.get(), size_}); }

 private:
  Payload copy(const Payload& bytes);

  std::shared_ptr<std::byte[]> room_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// `pieces` and `last`, one behind the other: without a copy if they lie so.
[[nodiscard]] Payload joined(const std::vector<Payload>& pieces, const Payload& last,
                             const PayloadRoom& make);

}  // namespace phx::runtime
