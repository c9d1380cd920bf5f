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
  /// Copies `piece` behind those that are here. `more`: bytes that follow it, as announced; a wrong
  /// announcement costs at most twice the copy.
  void append(const Payload& piece, std::uint64_t more, const PayloadRoom& make);

  /// As they lie here.
  [[nodiscard]] const std::vector<Payload>& pieces() const { return pieces_; }
  [[nodiscard]] Payload whole() const { return Payload(room_, {room_.get(), size_}); }

 private:
  void copy(const Payload& piece);

  std::shared_ptr<std::byte[]> room_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::vector<Payload> pieces_;
};

}  // namespace phx::runtime
