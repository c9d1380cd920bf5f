#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "overlay/base/rng.h"

namespace phx::sim {

/// Bytes that follow from a seed and their position, so that no block is like another one: pieces
/// that were swapped or repeated show. Made and compared about as fast as memory is read.
class Pattern {
 public:
  explicit Pattern(std::uint64_t seed) : first_(Rng(seed).next()) {}

  void write(std::span<std::byte> bytes) const {
    std::uint64_t word = first_;
    std::size_t at = 0;
    for (; at + sizeof(word) <= bytes.size(); at += sizeof(word), word += kStep) {
      std::memcpy(bytes.data() + at, &word, sizeof(word));
    }
    if (at < bytes.size()) std::memcpy(bytes.data() + at, &word, bytes.size() - at);
  }

  [[nodiscard]] bool is_in(std::span<const std::byte> bytes) const {
    std::uint64_t word = first_;
    std::uint64_t wrong = 0;
    std::size_t at = 0;
    for (; at + sizeof(word) <= bytes.size(); at += sizeof(word), word += kStep) {
      std::uint64_t found = 0;
      std::memcpy(&found, bytes.data() + at, sizeof(found));
      wrong |= found ^ word;
    }
    const bool is_end_right =
        at == bytes.size() || std::memcmp(bytes.data() + at, &word, bytes.size() - at) == 0;
    return wrong == 0 && is_end_right;
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;  // Odd: no word comes twice.

  std::uint64_t first_;
};

}  // namespace phx::sim
