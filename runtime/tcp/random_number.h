#pragma once

#include <cstdint>
#include <random>

namespace phx::tcp {

/// Of the system: nobody has the same one.
[[nodiscard]] inline std::uint64_t random_number() {
  std::random_device device;
  return (std::uint64_t{device()} << 32U) | device();
}

}  // namespace phx::tcp
