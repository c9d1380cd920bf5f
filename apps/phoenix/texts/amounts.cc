#include "apps/phoenix/texts/amounts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace phx::app {
namespace {

std::string spell(double value, int digits, const char* unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f%s", digits, value, unit);
  return text.data();
}

}  // namespace

std::string spell_fixed(double value, int digits) {
  return spell(value, digits, "");
}

std::string counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string spell_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return spell(value, unit == 0 ? 0 : 1, kUnits.at(unit));
}

std::string spell_seconds(double seconds) {
  return spell(seconds, 1, " s");
}

std::string spell_short(double seconds) {
  if (seconds < 1e-3) return spell(seconds * 1e6, 0, " us");
  return seconds < 1 ? spell(seconds * 1e3, 1, " ms") : spell(seconds, 2, " s");
}

double round_step(double greatest, double count) {
  const double raw = std::max(greatest, 1e-9) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::string spell_on_scale(double value, double step) {
  return spell_fixed(value, std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))));
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 30U;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value > kMost) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const unsigned shift = unit == "M" ? 20U : unit == "K" ? 10U : 0U;
  if (shift == 0 && !unit.empty()) return std::nullopt;
  value <<= shift;
  if (value > kMost) return std::nullopt;
  return value;
}

}  // namespace phx::app
