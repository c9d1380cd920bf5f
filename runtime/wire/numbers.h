#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

/// Inside of the codec: numbers as they are on the wire, little-endian.
namespace phx::wire {

/// Writes `value` to the front of `to`. REQUIRES room for it.
template <class Number>
void write_number(std::span<std::byte> to, Number value) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to.data(), &value, sizeof(value));
  } else {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      to[i] = static_cast<std::byte>(std::uint64_t{value} >> (8 * i));
    }
  }
}

/// The number at the front of `from`. REQUIRES that it is there.
template <class Number>
[[nodiscard]] Number read_number(std::span<const std::byte> from) {
  Number value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, from.data(), sizeof(value));
  } else {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      const auto byte = std::to_integer<std::uint64_t>(from[i]);
      value = static_cast<Number>(value | byte << (8 * i));
    }
  }
  return value;
}

}  // namespace phx::wire
