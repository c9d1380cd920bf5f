#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Amounts for people.
namespace phx::app {

/// With so many digits behind the point.
[[nodiscard]] std::string spell_fixed(double value, int digits);
/// "1 vnode", "2 vnodes".
[[nodiscard]] std::string counted(std::uint64_t count, const std::string& what);
/// "3 B", "1.5 MiB".
[[nodiscard]] std::string spell_bytes(std::uint64_t bytes);
/// "1.2 s".
[[nodiscard]] std::string spell_seconds(double seconds);
/// "850 us", "3.2 ms", "1.2 s".
[[nodiscard]] std::string spell_short(double seconds);

/// Bytes of "100", "64K" or "4M"; empty: it is no such size, or above 1 GiB.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// 1, 2 or 5 times a power of ten, so that there are about `count` of them up to `greatest`.
[[nodiscard]] double round_step(double greatest, double count);
/// With as many digits as a scale of such steps needs.
[[nodiscard]] std::string spell_on_scale(double value, double step);

}  // namespace phx::app
