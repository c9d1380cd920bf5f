#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "overlay/base/payload.h"
#include "runtime/api/spare_memory.h"

namespace phx {

/// A message that is to be written: where it begins, and what holds it. It is not set to anything.
[[nodiscard]] inline std::pair<std::byte*, Payload> fresh_payload(std::size_t size) {
  auto memory = lend(size);
  std::byte* const begin = memory.get();
  return {begin, Payload(std::shared_ptr<const void>(std::move(memory), begin), {begin, size})};
}

/// The same with these bytes.
[[nodiscard]] inline Payload copied(std::span<const std::byte> bytes) {
  auto [begin, payload] = fresh_payload(bytes.size());
  if (!bytes.empty()) std::memcpy(begin, bytes.data(), bytes.size());
  return std::move(payload);
}

/// These one behind the other.
[[nodiscard]] inline Payload joined(const std::vector<Payload>& parts) {
  if (parts.size() == 1) return parts.front();
  std::size_t size = 0;
  for (const Payload& part : parts) size += part.size();
  auto [begin, payload] = fresh_payload(size);
  for (std::byte* at = begin; const Payload& part : parts) {
    if (!part.empty()) std::memcpy(at, part.bytes().data(), part.size());
    at += part.size();
  }
  return std::move(payload);
}

}  // namespace phx
