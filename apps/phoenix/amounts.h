#pragma once

#include <cstdint>
#include <string>

// Amounts for people.
namespace phx::app {

/// "3 B", "1.5 MiB".
[[nodiscard]] std::string spell_bytes(std::uint64_t bytes);
/// "1.2 s".
[[nodiscard]] std::string spell_seconds(double seconds);
/// "850 us", "3.2 ms", "1.2 s".
[[nodiscard]] std::string spell_short(double seconds);

/// 1, 2 or 5 times a power of ten, so that there are about `count` of them up to `greatest`.
[[nodiscard]] double round_step(double greatest, double count);
/// With as many digits as a scale of such steps needs.
[[nodiscard]] std::string spell_on_scale(double value, double step);

}  // namespace phx::app
