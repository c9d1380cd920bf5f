#include "apps/demos/demo.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace demos {
namespace {

std::string spell(double value, const char* unit) {
  std::array<char, 48> text{};
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, unit);
  return text.data();
}

}  // namespace

std::optional<int> read_options(const phx::options::Program& app, const std::string& name, int argc,
                                char** argv, const std::function<std::string()>& wrong) {
  constexpr int kMisuse = 2;
  const std::string command = "phoenix demo " + name;
  bool is_check = false;
  app.add_flag("--check-options", is_check).group("");  // Not in the help.
  const auto complain = [&](const std::string& what) {
    return command + ": " + what + "; see " + command + " --help\n";
  };
  const auto outcome = app.parse(argc, argv, complain);
  if (!outcome.goes_on) return outcome.has_failed ? kMisuse : 0;
  if (const std::string what = wrong(); !what.empty()) {
    std::fprintf(stderr, "%s: %s; see %s --help\n", command.c_str(), what.c_str(), command.c_str());
    return kMisuse;
  }
  return is_check ? std::optional(0) : std::nullopt;
}

phx::options::Check size_in_bytes() {
  const auto read = [](std::string& text) -> std::string {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 30U;
    std::uint64_t bytes = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, bytes);
    std::string unit(end, last);
    std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto is_unit = [&](const std::string& name) {
      return unit == name || unit == name + "b" || unit == name + "ib";
    };
    const unsigned shift = is_unit("g") ? 30U : is_unit("m") ? 20U : is_unit("k") ? 10U : 0U;
    const bool is_size = error == std::errc{} && (shift != 0 || unit.empty());
    if (!is_size || bytes == 0 || bytes > kMost >> shift) {
      return "'" + text + "' is no size like 100, 64K or 4M, from 1 byte to 1G";
    }
    text = std::to_string(bytes << shift);
    return {};
  };
  return phx::options::Check::transform(read, "SIZE");
}

phx::options::Check number_within(double least, double most) {
  const auto check = [=](const std::string& text) -> std::string {
    double value = 0;
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && text.front() != ' ' && *end == '\0';
    if (is_number && value >= least && value <= most) return {};
    std::array<char, 64> bounds{};
    std::snprintf(bounds.data(), bounds.size(), "%.10g to %.10g", least, most);
    return "'" + text + "' is no number from " + bounds.data();
  };
  return phx::options::Check(check, "NUMBER");
}

void wrong(const std::string& what) {
  throw std::runtime_error("WRONG RESULT: " + what);
}

void say(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::putchar('\n');
  std::fflush(stdout);
}

std::vector<std::byte> make_bytes(std::uint64_t seed, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; at += sizeof(seed)) {
    const std::uint64_t word = mix(seed + at);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof(word), size - at));
  }
  return bytes;
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string spell_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  if (unit == 0) return std::to_string(bytes) + " B";
  const bool is_whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  return is_whole ? std::to_string(static_cast<std::uint64_t>(value)) + " " + kUnits.at(unit)
                  : spell(value, kUnits.at(unit));
}

std::string spell_seconds(double seconds) {
  if (seconds < 1e-3) return spell(seconds * 1e6, "us");
  return seconds < 1 ? spell(seconds * 1e3, "ms") : spell(seconds, "s");
}

std::string spell_rate(double bytes_per_second) {
  if (bytes_per_second < 1e6) return spell(bytes_per_second / 1e3, "kB/s");
  return bytes_per_second < 1e9 ? spell(bytes_per_second / 1e6, "MB/s")
                                : spell(bytes_per_second / 1e9, "GB/s");
}

double clock_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace demos
