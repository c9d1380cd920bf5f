#include "runtime/endpoint/endpoint_parts.h"

#include <cstring>
#include <utility>

namespace phx::runtime {

std::string spell_bytes(std::uint64_t bytes) {
  constexpr std::uint64_t kKiB = std::uint64_t{1} << 10U;
  const bool is_large = bytes >= kKiB * kKiB;
  const std::uint64_t unit = is_large ? kKiB * kKiB : kKiB;
  return std::to_string((bytes + unit - 1) / unit) + (is_large ? " MiB" : " KiB");
}

/// Each value after its size (8 bytes, of the machine's order).
Result<Payload> join_user_values(collectives::Accumulator& reduced) {
  const auto parts = reduced.take_values();
  if (!parts.ok()) return parts.error();
  Bytes bytes;
  for (const auto& part : parts.value()) {
    const std::uint64_t size = part.value.size();
    const auto* raw = reinterpret_cast<const std::byte*>(&size);
    bytes.insert(bytes.end(), raw, raw + sizeof(size));
    bytes.insert(bytes.end(), part.value.bytes().begin(), part.value.bytes().end());
  }
  return Payload(std::move(bytes));
}

std::vector<Payload> split_user_values(const Payload& reduced) {
  std::vector<Payload> values;
  std::size_t offset = 0;
  while (offset < reduced.size()) {
    std::uint64_t size = 0;
    if (reduced.size() - offset < sizeof(size)) return {};
    std::memcpy(&size, reduced.bytes().data() + offset, sizeof(size));
    offset += sizeof(size);
    if (size > reduced.size() - offset) return {};
    values.push_back(reduced.slice(offset, static_cast<std::size_t>(size)));
    offset += static_cast<std::size_t>(size);
  }
  return values;
}

}  // namespace phx::runtime
