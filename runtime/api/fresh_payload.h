#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "overlay/base/payload.h"
#include "runtime/api/spare_memory.h"

namespace phx {

/// A message that is to be written: where it begins, and what holds it. It is not set to anything.
[[nodiscard]] inline std::pair<std::byte*, Payload> fresh_payload(std::size_t size) {
  auto memory = lend(size);
  std::byte* const begin = memory.get();
  return {begin, Payload(std::shared_ptr<const void>(std::move(memory), begin), {begin, size})};
}

}  // namespace phx
