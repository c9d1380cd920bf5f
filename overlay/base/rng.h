#pragma once

#include <cstdint>
#include <string_view>

#include "overlay/base/check.h"

namespace phx {

/// A seeded generator whose every draw is specified bit for bit (the standard's distributions are
/// not): SplitMix64. Not for secrets.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  [[nodiscard]] std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  /// Uniform in 0..limit-1. REQUIRES limit > 0.
  [[nodiscard]] std::uint64_t below(std::uint64_t limit) {
    PHX_CHECK(limit > 0);
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * limit) >> 64U);
  }
  /// True with the given probability, in 0..1.
  [[nodiscard]] bool chance(double probability) {
    return static_cast<double>(next() >> 11U) * 0x1.0p-53 < probability;
  }
  /// An independent generator for the part called `label`; drawing from one leaves others alone.
  [[nodiscard]] Rng fork(std::string_view label) const {
    std::uint64_t hash = state_ ^ 0xcbf29ce484222325ULL;
    for (const char c : label) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    Rng child(hash);
    return Rng(child.next());
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t state_;
};

}  // namespace phx
